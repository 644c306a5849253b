"""The outbox: one row for each part of what is to be sent, and the ids of what was.

The only writer of the table `outbox`. A closed row holds no text. Within a chat the rows are
sent in the order of their numbers: one that has to wait holds up its own chat and no other.
"""

import base64
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b

from bot.ports import ChatKind, ChatRef, Platform
from memory.database.database import Reader, Row, Unit


class OutboxState(StrEnum):
    """Where a part is on its way. Only the first two are open."""

    WAITING = "waiting"
    SENDING = "sending"
    """The platform is being asked; found after a crash, nobody knows whether it arrived."""
    DELIVERED = "delivered"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    """It may have arrived, and sending it once more would do more harm than good."""
    EXPIRED = "expired"
    LOST = "lost"
    """Its text was only in memory when the process ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPart:
    """A part that is to be sent."""

    chat: ChatRef
    text: str | None
    """None: it is not to be written to disk."""
    part: int
    """0 for the first."""
    inbox: int | None = None
    """The inbox row that it answers."""
    reply_to: str | None = None
    seed: str
    """What makes its nonce its own: ids and the time, never text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """An open row."""

    row: int
    inbox: int | None
    chat: ChatRef
    text: str | None
    reply_to: str | None
    nonce: str
    state: OutboxState
    sends: int
    """How often it may have been sent: attempts that certainly failed do not count."""
    due_at_ns: int
    created_at_ns: int


def nonce_of(seed: str, part: int) -> str:
    """24 characters that are the same for the same seed and part.

    Discord takes up to 25 (API docs, "Create Message", `nonce`).
    """
    digest = blake2b(f"{seed}/{part}".encode(), digest_size=15).digest()
    return base64.b32encode(digest).decode("ascii").lower()


_PUT = """
INSERT INTO outbox (
    inbox, part, platform, bot, chat, kind, topic, parent, guild, text, reply_to, nonce,
    notice, counted, state, due_at_ns, created_at_ns, changed_at_ns
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', ?, ?, ?)
"""


async def put(unit: Unit, part: NewPart, *, now_ns: int) -> str:
    """Queue a part; its nonce."""
    nonce = nonce_of(part.seed, part.part)
    await _put(unit, part, nonce=nonce, now_ns=now_ns)
    return nonce


async def _put(
    unit: Unit,
    part: NewPart,
    *,
    nonce: str,
    now_ns: int,
    due_at_ns: int | None = None,
    notice: str | None = None,
    counted: int = 0,
) -> None:
    chat = part.chat
    await unit.insert(
        _PUT,
        (
            part.inbox,
            part.part,
            chat.platform,
            chat.bot,
            chat.chat,
            chat.kind,
            chat.topic,
            chat.parent,
            chat.guild,
            part.text,
            part.reply_to,
            nonce,
            notice,
            counted,
            now_ns if due_at_ns is None else due_at_ns,
            now_ns,
            now_ns,
        ),
    )


_FIND_NOTICE = """
SELECT number, counted FROM outbox
WHERE platform = ? AND bot = ? AND chat = ? AND topic IS ? AND notice = ? AND state = 'waiting'
"""


async def waiting_notice(unit: Unit, chat: ChatRef, notice: str) -> tuple[int, int] | None:
    """Row and count of a notice of this kind that this place has not been sent yet."""
    row = await unit.row(_FIND_NOTICE, (chat.platform, chat.bot, chat.chat, chat.topic, notice))
    return (int(row["number"]), int(row["counted"])) if row else None


_GROW_NOTICE = "UPDATE outbox SET text = ?, counted = ?, changed_at_ns = ? WHERE number = ?"


async def grow_notice(unit: Unit, row: int, *, text: str, counted: int, now_ns: int) -> None:
    """Let a notice that still waits speak of more messages."""
    await unit.execute(_GROW_NOTICE, (text, counted, now_ns, row))


async def put_notice(
    unit: Unit, part: NewPart, *, notice: str, counted: int, now_ns: int, due_at_ns: int
) -> None:
    """Queue a notice: our own words about `counted` messages."""
    await _put(
        unit,
        part,
        nonce=nonce_of(f"{part.seed}/{notice}", part.part),
        now_ns=now_ns,
        due_at_ns=due_at_ns,
        notice=notice,
        counted=counted,
    )


_HEADS = """
SELECT * FROM outbox WHERE number IN (
    SELECT MIN(number) FROM outbox WHERE state IN ('waiting', 'sending')
    GROUP BY platform, bot, chat
)
"""
_HEAD = """
SELECT * FROM outbox
WHERE platform = ? AND bot = ? AND chat = ? AND state IN ('waiting', 'sending')
ORDER BY number LIMIT 1
"""
_OPEN = "SELECT * FROM outbox WHERE state IN ('waiting', 'sending') ORDER BY number"


async def heads(reader: Reader) -> list[Part]:
    """The next part of each chat that has one, due or not."""
    return [_part(row) for row in await reader.rows(_HEADS)]


async def head(reader: Reader, chat: ChatRef) -> Part | None:
    """The next part of one chat, due or not."""
    row = await reader.row(_HEAD, (chat.platform, chat.bot, chat.chat))
    return _part(row) if row else None


async def waiting(reader: Reader) -> list[Part]:
    """All open rows, in order."""
    return [_part(row) for row in await reader.rows(_OPEN)]


def _part(row: Row) -> Part:
    chat = ChatRef(
        platform=Platform(row["platform"]),
        bot=row["bot"],
        chat=row["chat"],
        kind=ChatKind(row["kind"]),
        topic=row["topic"],
        parent=row["parent"],
        guild=row["guild"],
    )
    return Part(
        row=row["number"],
        inbox=row["inbox"],
        chat=chat,
        text=row["text"],
        reply_to=row["reply_to"],
        nonce=row["nonce"],
        state=OutboxState(row["state"]),
        sends=row["sends"],
        due_at_ns=row["due_at_ns"],
        created_at_ns=row["created_at_ns"],
    )


_SENDING = """
UPDATE outbox SET state = 'sending', sends = sends + 1, changed_at_ns = ?
WHERE number = ? AND state IN ('waiting', 'sending')
"""


async def sending(unit: Unit, row: int, *, now_ns: int) -> bool:
    """Note that the platform is about to be asked; False when the row is closed."""
    return await unit.execute(_SENDING, (now_ns, row)) > 0


_AGAIN = """
UPDATE outbox SET state = 'waiting', sends = ?, due_at_ns = ?, changed_at_ns = ?
WHERE number = ? AND state IN ('waiting', 'sending')
"""


async def again(unit: Unit, row: int, *, sends: int, due_at_ns: int, now_ns: int) -> None:
    """Queue a part again; `sends` is how often it may have arrived so far."""
    await unit.execute(_AGAIN, (sends, due_at_ns, now_ns, row))


_CLOSE = """
UPDATE outbox SET state = ?, platform_id = ?, text = NULL, changed_at_ns = ?
WHERE number = ? AND state IN ('waiting', 'sending')
"""


async def close(
    unit: Unit, row: int, state: OutboxState, *, now_ns: int, platform_id: str | None = None
) -> None:
    """Close a part and erase its text."""
    await unit.execute(_CLOSE, (state, platform_id, now_ns, row))


_REST = """
SELECT * FROM outbox WHERE inbox = ? AND state IN ('waiting', 'sending') ORDER BY number
"""


async def rest(reader: Reader, inbox: int) -> list[Part]:
    """What is left of the reply to one message."""
    return [_part(row) for row in await reader.rows(_REST, (inbox,))]


_MOVE = """
UPDATE outbox SET chat = ?, changed_at_ns = ?
WHERE platform = ? AND bot = ? AND chat = ? AND state IN ('waiting', 'sending')
"""


async def move(unit: Unit, old: ChatRef, new: str, *, now_ns: int) -> None:
    """Send what waits for a place to its new id."""
    await unit.execute(_MOVE, (new, now_ns, old.platform, old.bot, old.chat))


_COUNTS = "SELECT state, COUNT(*) AS rows FROM outbox GROUP BY state"


async def counts(reader: Reader) -> dict[OutboxState, int]:
    """How many rows are in each state; states without rows are left out."""
    return {OutboxState(row["state"]): row["rows"] for row in await reader.rows(_COUNTS)}


_SWEEP = "DELETE FROM outbox WHERE state NOT IN ('waiting', 'sending') AND changed_at_ns < ?"


async def sweep(unit: Unit, *, before_ns: int) -> int:
    """Delete rows that were closed before a time; how many."""
    return await unit.execute(_SWEEP, (before_ns,))
