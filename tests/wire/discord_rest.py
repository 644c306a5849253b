"""The HTTP side of the loopback Discord: REST version 10, with its errors, limits and faults.

Source: the reference and rate limit pages of Discord's developer documentation. Answers are
exactly `application/json`: the client library reads nothing else as JSON.
"""

import asyncio
import json
import re
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.wire.discord_world import (
    DM,
    PUBLIC_THREAD,
    REPLY,
    Channel,
    Payload,
    World,
    snowflake,
    timestamp,
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

LIMIT_CHARS = 2000
NONCE_WINDOW_S = 300.0


@dataclass(slots=True, kw_only=True)
class Fault:
    """Something that goes wrong for the next requests that match."""

    method: str
    path: re.Pattern[str]
    times: int
    status: int = 0
    body: Payload = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False
    """Cut the socket instead of answering."""
    late: bool = False
    """Only after the request was carried out."""
    until: asyncio.Event | None = None
    """Carry it out, but not before this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A request as it came in."""

    method: str
    path: str
    body: Payload
    query: dict[str, str]
    at_s: float
    """Monotonic."""


@dataclass(slots=True)
class Bucket:
    left: int
    resets_at_s: float


def answer(body: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    plain = {"Content-Type": "application/json", "Via": "1.1 loopback"}
    return web.Response(
        body=json.dumps(body).encode(), status=status, headers=plain | (headers or {})
    )


class Refusal(Exception):
    """A request that Discord turns down, in its words."""

    def __init__(self, status: int, body: Payload) -> None:
        super().__init__(body["message"])
        self.status = status
        self.body = body


def refusal(status: int, code: int, message: str, **more: Any) -> Refusal:
    return Refusal(status, {"message": message, "code": code} | more)


class Rest:
    """The routes, the rate limits, and the faults that a test switches on."""

    def __init__(self, world: World, *, token: str) -> None:
        self._world = world
        self._token = token
        self.gateway_url = ""
        self.requests: list[Seen] = []
        self.commands: list[Payload] = []
        self.bucket = (1000, 1.0)
        """How many messages may be sent to a channel in how many seconds (real: 5 in 5)."""
        self.application_flags: Callable[[], int] = lambda: 0
        self.on_sent: Callable[[Payload], None] = lambda message: None
        self.on_edited: Callable[[Payload], None] = lambda message: None
        self._faults: list[Fault] = []
        self._buckets: dict[str, Bucket] = {}
        self._nonces: dict[tuple[str, str], tuple[float, Payload]] = {}

    # --- what a test does

    def fail(self, method: str, path: str, *, status: int, times: int = 1, **more: Any) -> None:
        """Answer the next requests whose path matches with an error; `more` is its JSON body."""
        self._add(method, path, times=times, status=status, body=more)

    def limit(
        self,
        method: str,
        path: str,
        *,
        retry_after_s: float,
        times: int = 1,
        globally: bool = False,
    ) -> None:
        """Answer the next matching requests with 429, as a shared or global limit."""
        body = {
            "message": "You are being rate limited.",
            "retry_after": retry_after_s,
            "global": globally,
        }
        headers = {
            "Retry-After": str(max(1, round(retry_after_s))),
            "X-RateLimit-Scope": "global" if globally else "shared",
        }
        self._add(method, path, times=times, status=429, body=body, headers=headers)

    def drop(self, method: str, path: str, *, times: int = 1, late: bool = False) -> None:
        """Cut the socket under the next matching requests; `late`: after carrying them out."""
        self._add(method, path, times=times, drop=True, late=late)

    def hold(self, method: str, path: str) -> asyncio.Event:
        """Keep the next matching request waiting until the event that this returns is set."""
        until = asyncio.Event()
        self._add(method, path, times=1, until=until)
        return until

    def _add(self, method: str, path: str, **fields: Any) -> None:
        self._faults.append(Fault(method=method, path=re.compile(path), **fields))

    def count(self, method: str, path: str) -> int:
        pattern = re.compile(path)
        return sum(1 for r in self.requests if r.method == method and pattern.search(r.path))

    # --- the protocol

    def routes(self) -> list[web.RouteDef]:
        channel = "/channels/{channel}"
        return [
            web.get("/users/@me", self._me),
            web.post("/users/@me/channels", self._open_direct),
            web.get("/oauth2/applications/@me", self._application),
            web.get("/gateway/bot", self._gateway),
            web.get("/applications/{app}/commands", self._get_commands),
            web.put("/applications/{app}/commands", self._put_commands),
            web.get(channel, self._get_channel),
            web.get(channel + "/messages", self._history),
            web.post(channel + "/messages", self._send),
            web.get(channel + "/messages/{message}", self._get_message),
            web.patch(channel + "/messages/{message}", self._edit),
            web.delete(channel + "/messages/{message}", self._delete),
            web.post(channel + "/typing", self._typing),
            web.get("/guilds/{guild}", self._get_guild),
            web.get("/guilds/{guild}/members/{user}", self._get_member),
            web.get("/guilds/{guild}/threads/active", self._active_threads),
        ]

    @web.middleware
    async def gate(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Log, check the token, apply faults and limits, then carry out."""
        path = request.path.removeprefix("/api/v10")
        await self._note(request, path)
        if not self._allowed(request, path):
            return answer({"message": "401: Unauthorized", "code": 0}, status=401)
        fault = self._fault(request.method, path)
        try:
            if fault is None:
                return await self._limited(request, path, handler)
            return await self._spoil(fault, request, handler)
        except Refusal as refused:
            return answer(refused.body, status=refused.status)

    async def _spoil(
        self, fault: Fault, request: web.Request, handler: Handler
    ) -> web.StreamResponse:
        if fault.until is not None:
            await fault.until.wait()
            return await handler(request)
        if fault.late:
            await handler(request)
        if fault.drop:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        return answer(fault.body, status=fault.status, headers=fault.headers)

    async def _note(self, request: web.Request, path: str) -> None:
        text = await request.text() if request.can_read_body else ""
        body = json.loads(text) if text.startswith("{") else {}
        self.requests.append(
            Seen(
                method=request.method,
                path=path,
                body=body,
                query=dict(request.query),
                at_s=time.monotonic(),
            )
        )

    def _allowed(self, request: web.Request, path: str) -> bool:
        """Interaction routes carry their own token in the path."""
        if path.startswith(("/interactions/", "/webhooks/", "/gateway")):
            return True
        return request.headers.get("Authorization") == f"Bot {self._token}"

    def _fault(self, method: str, path: str) -> Fault | None:
        for fault in self._faults:
            if fault.times > 0 and fault.method == method and fault.path.search(path):
                fault.times -= 1
                return fault
        return None

    async def _limited(
        self, request: web.Request, path: str, handler: Handler
    ) -> web.StreamResponse:
        if request.method != "POST" or not path.endswith("/messages"):
            return await handler(request)
        allowed, per_s = self.bucket
        now_s = time.monotonic()
        bucket = self._buckets.get(path)
        if bucket is None or now_s >= bucket.resets_at_s:
            bucket = self._buckets[path] = Bucket(allowed, now_s + per_s)
        headers = {
            "X-RateLimit-Bucket": "messages",
            "X-RateLimit-Limit": str(allowed),
            "X-RateLimit-Remaining": str(max(bucket.left - 1, 0)),
            "X-RateLimit-Reset": f"{time.time() + bucket.resets_at_s - now_s:.3f}",
            "X-RateLimit-Reset-After": f"{bucket.resets_at_s - now_s:.3f}",
        }
        if bucket.left <= 0:
            wait_s = bucket.resets_at_s - now_s
            body = {
                "message": "You are being rate limited.",
                "retry_after": wait_s,
                "global": False,
            }
            more = {"Retry-After": "1", "X-RateLimit-Scope": "user"}
            return answer(body, status=429, headers=headers | more)
        bucket.left -= 1
        response = await handler(request)
        response.headers.update(headers)
        return response

    # --- who we are

    async def _me(self, _request: web.Request) -> web.Response:
        return answer(self._world.bot.payload())

    async def _application(self, _request: web.Request) -> web.Response:
        bot = self._world.bot
        return answer(
            {
                "id": bot.id,
                "name": bot.name,
                "icon": None,
                "description": "",
                "bot_public": True,
                "bot_require_code_grant": False,
                "verify_key": "",
                "flags": self.application_flags(),
                "owner": bot.payload(),
                "team": None,
                "interactions_endpoint_url": None,
            }
        )

    async def _gateway(self, _request: web.Request) -> web.Response:
        limit = {"total": 1000, "remaining": 999, "reset_after": 0, "max_concurrency": 1}
        return answer({"url": self.gateway_url, "shards": 1, "session_start_limit": limit})

    async def _get_commands(self, _request: web.Request) -> web.Response:
        return answer(self.commands)

    async def _put_commands(self, request: web.Request) -> web.Response:
        version = {"application_id": self._world.bot.id, "version": "1"}
        self.commands = [c | version | {"id": snowflake()} for c in await request.json()]
        return answer(self.commands)

    # --- places

    def _channel(self, request: web.Request) -> Channel:
        channel = self._world.channels.get(request.match_info["channel"])
        if channel is None:
            raise refusal(404, 10003, "Unknown Channel")
        return channel

    def _message(self, request: web.Request) -> Payload:
        message = self._world.find(self._channel(request), request.match_info["message"])
        if message is None:
            raise refusal(404, 10008, "Unknown Message")
        return message

    async def _open_direct(self, request: web.Request) -> web.Response:
        user = self._world.users.get(str((await request.json())["recipient_id"]))
        if user is None:
            raise refusal(400, 50033, "Invalid Recipient(s)")
        return answer(self._world.direct(user).payload())

    async def _get_channel(self, request: web.Request) -> web.Response:
        return answer(self._channel(request).payload())

    async def _get_guild(self, request: web.Request) -> web.Response:
        guild = self._world.guilds.get(request.match_info["guild"])
        if guild is None:
            raise refusal(404, 10004, "Unknown Guild")
        return answer(guild.payload())

    async def _get_member(self, request: web.Request) -> web.Response:
        guild = self._world.guilds.get(request.match_info["guild"])
        user = self._world.users.get(request.match_info["user"])
        if guild is None or user is None or user.id not in guild.members:
            raise refusal(404, 10007, "Unknown Member")
        return answer(guild.member(user) | {"user": user.payload()})

    async def _active_threads(self, request: web.Request) -> web.Response:
        guild = self._world.guilds[request.match_info["guild"]]
        threads = [c for c in guild.channels if c.type == PUBLIC_THREAD and not c.archived]
        return answer({"threads": [c.payload() for c in threads], "members": []})

    # --- messages

    async def _history(self, request: web.Request) -> web.Response:
        messages = list(self._channel(request).messages)
        limit = min(int(request.query.get("limit", "50")), 100)
        if "after" in request.query:
            after = int(request.query["after"])
            page = [m for m in messages if int(m["id"]) > after][:limit]
        else:
            before = int(request.query.get("before", str(1 << 63)))
            page = [m for m in messages if int(m["id"]) < before][-limit:]
        return answer(list(reversed(page)))

    async def _get_message(self, request: web.Request) -> web.Response:
        return answer(self._message(request))

    async def _send(self, request: web.Request) -> web.Response:
        channel, body = self._channel(request), await request.json()
        self._check_place(channel)
        self.check_content(body)
        nonce, now_s = body.get("nonce"), time.monotonic()
        earlier = self._nonces.get((channel.id, str(nonce)))
        if body.get("enforce_nonce") and earlier and now_s - earlier[0] < NONCE_WINDOW_S:
            return answer(earlier[1])
        message = self.store(channel, body)
        if nonce is not None:
            self._nonces[channel.id, str(nonce)] = (now_s, message)
        self.on_sent(message)
        return answer(message)

    def _check_place(self, channel: Channel) -> None:
        if channel.forbidden:
            raise refusal(403, 50013, "Missing Permissions")
        if channel.type == DM and channel.recipient is not None and channel.recipient.closed:
            raise refusal(403, 50007, "Cannot send messages to this user")
        if channel.archived and channel.locked:
            raise refusal(400, 50083, "Thread is archived")

    def check_content(self, body: Payload) -> None:
        """The rules that a message's text must keep."""
        content = body.get("content") or ""
        if len(content) > LIMIT_CHARS:
            what = {"code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length."}
            errors = {"content": {"_errors": [what]}}
            raise refusal(400, 50035, "Invalid Form Body", errors=errors)
        if not content.strip():
            raise refusal(400, 50006, "Cannot send an empty message")

    def store(self, channel: Channel, body: Payload) -> Payload:
        """Put a message of the bot into the channel, with who it would notify under `pings`."""
        reference, more = self._reference(channel, body), {}
        if reference is not None:
            place = {"channel_id": channel.id, "message_id": reference["id"]}
            more = {"type": REPLY, "message_reference": place}
        return self._world.message(
            channel,
            self._world.bot,
            body["content"],
            **more,
            nonce=body.get("nonce"),
            flags=body.get("flags", 0),
            pings=pings(body, reference),
        )

    def _reference(self, channel: Channel, body: Payload) -> Payload | None:
        reference = body.get("message_reference")
        if reference is None:
            return None
        found = self._world.find(channel, str(reference["message_id"]))
        if found is None and reference.get("fail_if_not_exists", True):
            errors = {"message_reference": {"_errors": [{"code": "REPLIES_UNKNOWN_MESSAGE"}]}}
            raise refusal(400, 50035, "Invalid Form Body", errors=errors)
        return found

    async def _edit(self, request: web.Request) -> web.Response:
        message, body = self._message(request), await request.json()
        if message["author"]["id"] != self._world.bot.id:
            raise refusal(403, 50005, "Cannot edit a message authored by another user")
        self.check_content(body)
        message |= {"content": body["content"], "edited_timestamp": timestamp(snowflake())}
        self.on_edited(message)
        return answer(message)

    async def _delete(self, request: web.Request) -> web.Response:
        self._channel(request).messages.remove(self._message(request))
        return web.Response(status=204)

    async def _typing(self, request: web.Request) -> web.Response:
        self._check_place(self._channel(request))
        return web.Response(status=204)

    def typed(self) -> dict[str, int]:
        """How often the bot said that it is typing, by channel id."""
        counts: dict[str, int] = defaultdict(int)
        for seen in self.requests:
            if seen.path.endswith("/typing"):
                counts[seen.path.split("/")[2]] += 1
        return counts


def pings(body: Payload, reference: Payload | None) -> list[str]:
    """Who a message notifies: without `allowed_mentions`, everybody that its text names."""
    content, allowed = body["content"], body.get("allowed_mentions")
    parse = ["everyone", "users", "roles"] if allowed is None else allowed.get("parse", [])
    found = []
    if "everyone" in parse and re.search("@(everyone|here)", content):
        found.append("everyone")
    named = re.findall(r"<@!?(\d+)>", content)
    listed = (allowed or {}).get("users", [])
    found += [id_ for id_ in named if "users" in parse or id_ in map(str, listed)]
    if "roles" in parse:
        found += re.findall(r"<@&(\d+)>", content)
    if reference is not None and (allowed is None or allowed.get("replied_user", False)):
        found.append(reference["author"]["id"])
    return found
