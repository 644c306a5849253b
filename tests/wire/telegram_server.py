"""A Bot API server on loopback that speaks to the real client library and is scripted by a test.

    async with open_telegram_server() as server:
        server.say(private(ANN), ANN, "hello")    # the bot's next getUpdates brings it
        [reply] = await server.sent(ANN.id, 1)    # waits until the bot has sent one
        server.fail("sendMessage", too_many(1))   # faults are in telegram_values

Give the client `base_url=server.base_url` and `server.token`. It is plain HTTP, so the bot may as
well run in another process. Update ids, offsets, 409, lengths and error texts are Telegram's
(core.telegram.org/bots/api and the open source server, tdlib/telegram-bot-api).
"""

import asyncio
import itertools
import json
import time
from collections import defaultdict
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from tests.wire.telegram_text import CannotParse, entities_in, parse_html, utf16
from tests.wire.telegram_values import (
    Call,
    Chat,
    Fault,
    Person,
    Sent,
    conflict,
    supergroup,
    without_none,
)

BOT_ID = 4242
BOT_NAME = "kith_test_bot"
TOKEN = f"{BOT_ID}:AAwire-test-token_0123456789abcdefgh"
LONGEST_TEXT = 4096
NO_LONGER_UNDERSTOOD = 10
"""An offset further beyond the newest update than this starts the queue over (tdlib TQueue)."""


class ApiError(Exception):
    def __init__(self, status, description, parameters=None):
        super().__init__(description)
        self.status, self.parameters = status, parameters


@dataclass(kw_only=True)
class _Place:
    """What the server knows of one chat."""

    chat: Chat
    messages: dict = field(default_factory=dict)
    topics: set = field(default_factory=set)
    moved_to: int | None = None
    closed: str | None = None
    next_message: int = 1


class TelegramServer:
    def __init__(self, token):
        self.token = token
        self.base_url = ""
        self.bot = Person(id=BOT_ID, first_name="Kith", username=BOT_NAME, is_bot=True)
        self.reads_all_group_messages = True
        self.webhook = ""
        self.allowed_updates = None
        self.calls = []
        self.commands = {}
        self.members = {}
        self.offset = 0
        """The highest offset that a client has confirmed with."""
        self._places = {}
        self._sent = defaultdict(list)
        self._faults = defaultdict(list)
        self._updates = []
        self._history = {}
        self._update_ids = itertools.count(1000)
        self._newest = 999
        self._poll = 0
        self._changed = asyncio.Event()
        self._closing = False

    # -- what a test does ------------------------------------------------------------------

    def say(self, chat, person, text, *, reply_to=None, topic=None, message_id=None, **fields):
        """A person writes; returns the message id. `topic` makes it a forum topic's message."""
        message_id = message_id or self._new_message_id(chat)
        message = {
            "message_id": message_id,
            "date": int(time.time()),
            "chat": chat.json(),
            "from": person.json(),
            **without_none(text=text),
            **({"entities": entities_in(text)} if text and entities_in(text) else {}),
            **({"reply_to_message": self._quoted(chat, reply_to)} if reply_to else {}),
            **({"message_thread_id": topic, "is_topic_message": True} if topic else {}),
            **fields,
        }
        if topic:
            self.place(chat).topics.add(topic)
        self.place(chat).messages[message_id] = message
        self.push(message=message)
        return message_id

    def edit(self, chat, message_id, text):
        """A person changes what they wrote."""
        old = self.place(chat).messages[message_id]
        message = {**old, "text": text, "entities": entities_in(text), "edit_date": old["date"] + 5}
        self.push(edited_message=message)

    def migrate(self, chat, new_id):
        """A group becomes a supergroup, with the two service messages of the real thing."""
        new = supergroup(new_id, chat.title)
        self.place(chat).moved_to = new_id
        owner = Person(id=99, first_name="Owner")
        self.say(chat, owner, None, migrate_to_chat_id=new_id)
        self.say(new, owner, None, migrate_from_chat_id=chat.id)
        return new

    def push(self, **fields):
        """Queue any update, for example `message={...}` or `poll={"broken": 1}`; returns its id."""
        update_id = next(self._update_ids)
        if self.allowed_updates and not set(fields) <= set(self.allowed_updates):
            return update_id
        self.push_raw({"update_id": update_id, **fields})
        return update_id

    def push_raw(self, update):
        """Queue anything at all as an update: no id, no object, a shape from the future."""
        if isinstance(update, dict) and isinstance(update.get("update_id"), int):
            self._newest = max(self._newest, update["update_id"])
            self._history[update["update_id"]] = update
        self._updates.append(update)
        self._wake()

    def repeat(self, update_id):
        """Queue an update's content a second time, under a new update id."""
        fields = {k: v for k, v in self._history[update_id].items() if k != "update_id"}
        return self.push(**fields)

    def start_ids_at(self, update_id):
        """The ids after a quiet week: random, perhaps lower than all before."""
        self._update_ids = itertools.count(update_id)
        self._newest = update_id - 1

    def know(self, chat):
        """Let the bot write to this chat though nobody wrote there yet."""
        return self.place(chat)

    def place(self, chat):
        return self._places.setdefault(chat.id, _Place(chat=chat))

    def close_chat(self, chat, description="Forbidden: bot was kicked from the supergroup chat"):
        self.place(chat).closed = description

    def fail(self, method, *faults):
        """The next calls of this method meet these faults, one each, in order."""
        self._faults[method].extend(faults)

    def called(self, method):
        return [call for call in self.calls if call.method == method]

    def sent_now(self, chat_id):
        """What the bot has sent to a chat, in order."""
        return list(self._sent[chat_id])

    async def sent(self, chat, count, *, timeout_s=10.0):
        """Wait until the bot has sent `count` messages to a chat (or its id), and return all."""
        chat_id = chat if isinstance(chat, int) else chat.id
        await self.until(
            lambda: len(self._sent[chat_id]) >= count,
            timeout_s=timeout_s,
            what=lambda: f"{count} messages in {chat_id}, but: {self._sent[chat_id]}",
        )
        return self.sent_now(chat_id)

    async def until(self, holds, *, timeout_s=10.0, what=lambda: "the condition"):
        """Wait until something is true of this server; it is asked again after each change."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._once(holds)
        except TimeoutError:
            raise AssertionError(f"waited {timeout_s} s for {what()}") from None

    async def confirmed(self, update_id, *, timeout_s=10.0):
        """Wait until the bot has told Telegram that it has this update."""
        await self.until(
            lambda: self.offset > update_id,
            timeout_s=timeout_s,
            what=lambda: f"an offset above {update_id}, have {self.offset}",
        )

    # -- HTTP ------------------------------------------------------------------------------

    async def handle(self, request):
        token, method = request.match_info["token"], request.match_info["method"]
        if token != self.token:
            known_shape = token.partition(":")[0].isdigit() and ":" in token
            return _error(401, "Unauthorized") if known_shape else _error(404, "Not Found")
        try:
            call = Call(method=method, params=await _params(request), at_s=time.monotonic())
        except ConnectionResetError:  # the client gave up before it had said all
            return web.Response()
        self.calls.append(call)
        self._wake()
        fault = self._fault_for(call)
        await asyncio.sleep(fault.latency_s)
        if fault.drop == "before":
            return self._drop(request)
        response = self._faulty(fault) or await self._answer(call)
        if fault.drop == "after":
            return self._drop(request)
        call.status = response.status
        self._wake()
        return response

    def _fault_for(self, call):
        waiting = self._faults[call.method]
        for fault in waiting:
            if fault.chat is None or str(fault.chat) == str(call.params.get("chat_id")):
                waiting.remove(fault)
                return fault
        return Fault()

    def _faulty(self, fault):
        if fault.body is not None:
            return web.Response(status=fault.status, body=fault.body)
        if fault.status is not None:
            return _error(fault.status, fault.description, fault.parameters)
        return None

    def _drop(self, request):
        self._wake()
        if request.transport is not None:
            request.transport.close()
        return web.Response()

    async def _answer(self, call):
        answer = getattr(self, f"_on_{call.method.lower()}", None)
        if answer is None:
            return _error(404, "Not Found: method not found")
        try:
            result = answer(call.params)
            if asyncio.iscoroutine(result):
                result = await result
        except ApiError as error:
            return _error(error.status, str(error), error.parameters)
        return web.json_response({"ok": True, "result": result})

    def _wake(self):
        self._changed.set()
        self._changed = asyncio.Event()

    async def _once(self, holds):
        while not holds():
            await self._changed.wait()

    def close(self):
        self._closing = True
        self._wake()

    # -- methods ---------------------------------------------------------------------------

    def _on_getme(self, _):
        return {
            **self.bot.json(),
            "can_join_groups": True,
            "can_read_all_group_messages": self.reads_all_group_messages,
            "supports_inline_queries": False,
            "can_connect_to_business": False,
            "has_main_web_app": False,
        }

    def _on_deletewebhook(self, params):
        self.webhook = ""
        if params.get("drop_pending_updates"):
            self._updates.clear()
        return True

    async def _on_getupdates(self, params):
        if self.webhook:
            raise ApiError(
                409,
                "Conflict: can't use getUpdates method while webhook is active; "
                "use deleteWebhook to delete the webhook first",
            )
        if "allowed_updates" in params:
            self.allowed_updates = params["allowed_updates"] or None
        self._poll += 1
        mine = self._poll
        self._confirm(int(params.get("offset", 0)))
        limit = min(max(int(params.get("limit", 100)), 1), 100)
        timeout_s = min(max(float(params.get("timeout", 0)), 0), 50)
        try:
            async with asyncio.timeout(timeout_s):
                await self._once(lambda: self._updates or self._poll != mine or self._closing)
        except TimeoutError:
            return []
        if self._poll != mine:
            raise ApiError(409, conflict().description)
        return self._updates[:limit]

    def _confirm(self, offset):
        """An offset forgets all below it; a negative one keeps that many from the end."""
        self._wake()
        if offset < 0:
            self._updates = self._updates[offset:]
        elif offset and offset <= self._newest + 1 + NO_LONGER_UNDERSTOOD:
            self.offset = offset
            self._updates = [u for u in self._updates if _update_id(u) >= offset]

    def _on_sendmessage(self, params):
        place = self._open_place(params)
        text, entities = _formatted(params)
        thread = params.get("message_thread_id")
        if thread is not None and int(thread) not in place.topics:
            raise ApiError(400, "Bad Request: message thread not found")
        reply_to = self._reply_target(place, params.get("reply_parameters"))
        sent = Sent(
            chat=place.chat.id,
            message_id=self._new_message_id(place.chat),
            text=text,
            raw=params["text"],
            parse_mode=params.get("parse_mode"),
            entities=entities,
            reply_to=reply_to,
            thread=int(thread) if thread is not None else None,
            at_s=time.monotonic(),
        )
        self._sent[place.chat.id].append(sent)
        place.messages[sent.message_id] = self._message_json(place, sent)
        return place.messages[sent.message_id]

    def _on_editmessagetext(self, params):
        place = self._open_place(params)
        text, entities = _formatted(params)
        wanted = int(params["message_id"])
        found = [s for s in self._sent[place.chat.id] if s.message_id == wanted]
        if not found:
            raise ApiError(400, "Bad Request: message to edit not found")
        if found[0].text == text and found[0].entities == entities:
            raise ApiError(
                400,
                "Bad Request: message is not modified: specified new message content and reply "
                "markup are exactly the same as a current content and reply markup of the message",
            )
        found[0].edits.append(found[0].text)
        found[0].text, found[0].entities, found[0].raw = text, entities, params["text"]
        return self._message_json(place, found[0])

    def _on_sendchataction(self, params):
        self._open_place(params)
        return True

    def _on_setmycommands(self, params):
        scope = json.dumps(params.get("scope", {"type": "default"}))
        self.commands[scope, params.get("language_code", "")] = params["commands"]
        return True

    def _on_getmycommands(self, params):
        scope = json.dumps(params.get("scope", {"type": "default"}))
        return self.commands.get((scope, params.get("language_code", "")), [])

    def _on_getchat(self, params):
        return {
            **self._open_place(params).chat.json(),
            "accent_color_id": 0,
            "max_reaction_count": 11,
            "accepted_gift_types": {
                "unlimited_gifts": True,
                "limited_gifts": True,
                "unique_gifts": True,
                "premium_subscription": True,
                "gifts_from_channels": True,
            },
        }

    def _on_getchatmember(self, params):
        place = self._open_place(params)
        user = int(params["user_id"])
        member = self.members.get((place.chat.id, user), {"status": "member"})
        return {"user": Person(id=user, first_name="Member").json(), **member}

    # -- chats -----------------------------------------------------------------------------

    def _open_place(self, params):
        place = self._places.get(int(params["chat_id"]))
        if place is None:
            raise ApiError(400, "Bad Request: chat not found")
        if place.moved_to is not None:
            raise ApiError(
                400,
                "Bad Request: group chat was upgraded to a supergroup chat",
                {"migrate_to_chat_id": place.moved_to},
            )
        if place.closed is not None:
            raise ApiError(403, place.closed)
        return place

    def _reply_target(self, place, reply):
        if reply is None:
            return None
        if int(reply["message_id"]) in place.messages:
            return int(reply["message_id"])
        if reply.get("allow_sending_without_reply"):
            return None
        raise ApiError(400, "Bad Request: message to be replied not found")

    def _message_json(self, place, sent):
        return {
            "message_id": sent.message_id,
            "date": int(time.time()),
            "chat": place.chat.json(),
            "from": self.bot.json(),
            "text": sent.text,
            "entities": sent.entities,
        }

    def _quoted(self, chat, message_id):
        quoted = self.place(chat).messages.get(message_id)
        return {k: v for k, v in quoted.items() if k != "reply_to_message"} if quoted else None

    def _new_message_id(self, chat):
        place = self.place(chat)
        while place.next_message in place.messages:
            place.next_message += 1
        place.next_message += 1
        return place.next_message - 1


@asynccontextmanager
async def open_telegram_server(*, token=TOKEN, port=0):
    """A running server; it listens on loopback only and is gone when the block ends."""
    server = TelegramServer(token)
    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/bot{token}/{method}", server.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        server.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/bot"
        yield server
    finally:
        server.close()
        await runner.cleanup()


def _update_id(update):
    known = isinstance(update, dict) and isinstance(update.get("update_id"), int)
    return update["update_id"] if known else 2**31


def _formatted(params):
    mode = params.get("parse_mode")
    source = str(params.get("text", ""))
    if mode not in (None, "HTML"):
        raise ApiError(400, "Bad Request: unsupported parse_mode")
    try:
        text, entities = parse_html(source) if mode else (source, entities_in(source))
    except CannotParse as reason:
        raise ApiError(400, f"Bad Request: can't parse entities: {reason}") from None
    if not text.strip():
        raise ApiError(400, "Bad Request: message text is empty")
    if utf16(text) > LONGEST_TEXT:
        raise ApiError(400, "Bad Request: message is too long")
    return text.strip(), entities


async def _params(request):
    """Query, form, multipart or JSON: the client may use any; JSON inside a field is read."""
    fields = dict(request.query)
    if request.content_type == "application/json":
        return {**fields, **await request.json()}
    fields.update(await request.post())
    return {key: _decoded(key, value) for key, value in fields.items()}


def _decoded(key, value):
    if key in ("text", "chat_id", "parse_mode", "language_code"):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _error(status, description, parameters=None):
    body = {"ok": False, "error_code": status, "description": description}
    return web.json_response({**body, **without_none(parameters=parameters)}, status=status)
