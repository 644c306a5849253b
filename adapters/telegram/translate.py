"""Updates of the Bot API in our own terms.

Pure: no call to Telegram, no clock. An update that is of no use here becomes None; one that
cannot be understood raises one of `UNREADABLE`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from telegram import Chat, Message, MessageEntity, Update
from telegram.error import TelegramError

from adapters.telegram.options import TELEGRAM
from bot.ports import Author, ChatKind, ChatRef, Inbound
from memory.language.text import clip, has_cjk, one_line, scrub
from memory.values import PersonId

UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RecursionError,
    TelegramError,
    TypeError,
    ValueError,
)
"""What the parser may raise for an update of a shape that it does not know."""

ANONYMOUS_ADMIN = 1087968824
"""GroupAnonymousBot: an administrator without a name (Bot API, Message.sender_chat)."""
CHANNEL_POSTS = 777000
"""The account by which a channel's posts reach its discussion group."""
LONGEST_NAME_CHARS = 64

_LEFT_OVER = re.compile(r"^[\s,:;，：；、。!！]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """Our own account."""

    id: int
    username: str
    commands: frozenset[str] = frozenset()
    """Names that a bare `/name` in a group may have to be meant for us."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A group became a supergroup: another chat id, the same conversation."""

    old: ChatRef
    new: ChatRef


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedUpdate:
    """A message that says something else now."""

    inbound: Inbound


def translate(raw: object, me: Me) -> Inbound | Moved | EditedUpdate | None:
    """What an update is to us; `raw` is one element of getUpdates' result.

    An edited message is not answered again: most edits mend a slip, the answer stands above them,
    and Telegram reports an edit for two days. What is remembered of it follows.

    Raises:
        UNREADABLE: any of these, where the update is not of the shape that it should have.
    """
    if not isinstance(raw, dict):
        raise TypeError("an update is a JSON object")
    update = Update.de_json(cast("dict[str, Any]", raw), None)
    if update.edited_message is not None:
        inbound = _inbound(update.edited_message, me)
        return None if inbound is None else EditedUpdate(inbound=inbound)
    if update.message is None:
        return None
    return _moved(update.message, me) or _inbound(update.message, me)


def update_id(raw: object) -> int | None:
    """The id by which an update is confirmed, if it has one."""
    found = raw.get("update_id") if isinstance(raw, dict) else None
    return found if isinstance(found, int) else None


def fault(raw: object, error: Exception) -> str:
    """The kind of an unreadable update and of what went wrong with it; none of its content."""
    kinds = [key for key in raw if key != "update_id"] if isinstance(raw, dict) else []
    kind = str(kinds[0]) if kinds else type(raw).__name__
    safe = kind if kind.isascii() and kind.isidentifier() else "unknown"
    return f"{clip(safe, 32)}: {type(error).__name__}"


def chat_ref(chat: Chat, me: Me, *, topic: int | None = None) -> ChatRef:
    """The place to which a reply goes."""
    return ChatRef(
        platform=TELEGRAM,
        bot=str(me.id),
        chat=str(chat.id),
        kind=ChatKind.DIRECT if chat.type == Chat.PRIVATE else ChatKind.GROUP,
        topic=None if topic is None else str(topic),
        title=_shown(chat.title or chat.full_name or ""),
    )


def moved_ref(chat: str, bot: str, *, title: str = "") -> ChatRef:
    """A group of which no more than its id is known."""
    return ChatRef(platform=TELEGRAM, bot=bot, chat=chat, kind=ChatKind.GROUP, title=title)


def _moved(message: Message, me: Me) -> Moved | None:
    here = chat_ref(message.chat, me)
    if message.migrate_to_chat_id:
        new = moved_ref(str(message.migrate_to_chat_id), here.bot, title=here.title)
        return Moved(old=here, new=new)
    if message.migrate_from_chat_id:
        old = moved_ref(str(message.migrate_from_chat_id), here.bot, title=here.title)
        return Moved(old=old, new=here)
    return None


def _inbound(message: Message, me: Me) -> Inbound | None:
    author = _author(message)
    written = _Written.of(message)
    if author is None or written.command_for_another(me):
        return None
    text = written.without_us(me)
    if not text:
        return None
    reply = _replied(message)
    topic = message.message_thread_id if message.is_topic_message else None
    return Inbound(
        chat=chat_ref(message.chat, me, topic=topic),
        author=author,
        message=str(message.message_id),
        text=text,
        sent_at_ns=int(message.date.timestamp()) * 1_000_000_000,
        addressed=(message.chat.type == Chat.PRIVATE or _is_ours(reply, me) or written.calls(me)),
        reply_to=None if reply is None else str(reply.message_id),
    )


def _author(message: Message) -> Author | None:
    """The person who wrote; None for bots, channels, anonymous administrators."""
    user = message.from_user
    if user is None or user.is_bot or message.sender_chat is not None:
        return None
    if user.id in (ANONYMOUS_ADMIN, CHANNEL_POSTS):
        return None
    return Author(
        person=PersonId(f"{TELEGRAM}:{user.id}"),
        name=_shown(user.full_name) or _shown(user.username or "") or str(user.id),
        language=user.language_code,
    )


def _replied(message: Message) -> Message | None:
    """The message that this one answers. In a topic every message "replies" to its first one."""
    reply = message.reply_to_message
    return None if reply is None or reply.forum_topic_created is not None else reply


def _is_ours(reply: Message | None, me: Me) -> bool:
    return reply is not None and reply.from_user is not None and reply.from_user.id == me.id


def _shown(name: str) -> str:
    return clip(one_line(scrub(name)), LONGEST_NAME_CHARS)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """What a message says: its text or caption as UTF-16, in which Telegram's offsets count."""

    units: bytes
    entities: Sequence[MessageEntity]

    @classmethod
    def of(cls, message: Message) -> "_Written":
        text, entities = message.text, message.entities
        if text is None:
            text, entities = message.caption, message.caption_entities
        return cls(units=(text or "").encode("utf-16-le", "surrogatepass"), entities=entities)

    def part(self, start: int, end: int | None = None) -> str:
        """The text between two offsets, in UTF-16 units."""
        cut = self.units[start * 2 : None if end is None else end * 2]
        return cut.decode("utf-16-le", "surrogatepass")

    def command(self) -> tuple[str, str] | None:
        """Name and addressee (empty if none is named) of the command that it starts with."""
        for entity in self.entities:
            if entity.type == MessageEntity.BOT_COMMAND and entity.offset == 0:
                name, _, addressee = self.part(1, entity.length).partition("@")
                return name.casefold(), addressee.casefold()
        return None

    def command_for_another(self, me: Me) -> bool:
        command = self.command()
        return command is not None and command[1] not in ("", me.username.casefold())

    def calls(self, me: Me) -> bool:
        """Whether it names us, or is a command that is ours."""
        command = self.command()
        called = command is not None and (bool(command[1]) or command[0] in me.commands)
        return called or bool(self._mentions(me))

    def without_us(self, me: Me) -> str:
        """The text without our name, scrubbed; empty if nothing else was said."""
        text, at = "", 0
        for start, end in self._mentions(me):
            text += _seam(self.part(at, start))
            at = end
        rest = self.part(at)
        if at:
            rest = rest.lstrip(" ") if text.strip() else _LEFT_OVER.sub("", rest)
            text = text.rstrip(" ") if _LEFT_OVER.match(rest) else text
        return self._without_addressee(scrub(text + rest).strip(), me)

    def _without_addressee(self, text: str, me: Me) -> str:
        command = self.command()
        if command is None or not command[1]:
            return text
        return f"/{command[0]}{text[len(command[0]) + len(me.username) + 2 :]}"

    def _mentions(self, me: Me) -> list[tuple[int, int]]:
        """Where our name stands, in UTF-16 units, in order."""
        marked = [
            (entity.offset, entity.offset + entity.length)
            for entity in self.entities
            if self._is_mention(entity, me)
        ]
        return marked or self._typed(me)

    def _is_mention(self, entity: MessageEntity, me: Me) -> bool:
        if entity.type == MessageEntity.TEXT_MENTION:
            return entity.user is not None and entity.user.id == me.id
        named = self.part(entity.offset, entity.offset + entity.length).casefold()
        return entity.type == MessageEntity.MENTION and named == f"@{me.username}".casefold()

    def _typed(self, me: Me) -> list[tuple[int, int]]:
        """Our name between Chinese or Japanese characters, where Telegram marks no mention."""
        text = self.part(0)
        name = rf"(?<![A-Za-z0-9_.@+-])@{re.escape(me.username)}(?![A-Za-z0-9_])"
        return [
            (_units(text[: found.start()]), _units(text[: found.end()]))
            for found in re.finditer(name, text, re.IGNORECASE)
            if has_cjk(text[max(found.start() - 1, 0) : found.start()])
            or has_cjk(text[found.end() : found.end() + 1])
        ]


def _seam(before: str) -> str:
    """What stood before a name that was taken out, ready to be followed by what stood after it."""
    kept = before.rstrip(" ")
    return kept if not kept or kept.endswith("\n") else f"{kept} "


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
