"""The inbox: messages taken over and not yet answered, and the ids of those that were.

The only writer of the table `inbox`. A closed row holds no text, no name and no title; a row that
was taken without text (pools mode) never held any. What a row's text says never leaves this
module except as part of an `Inbound`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.ports import Author, ChatKind, ChatRef, Inbound, Platform
from memory.database.database import Reader, Row, Unit
from memory.values import PersonId


class InboxState(StrEnum):
    """Where a message is on its way. Only the first two are open."""

    WAITING = "waiting"
    """On disk, for a lane to take."""
    WORKING = "working"
    """A turn began, in this process; after a crash it waits again."""
    ANSWERED = "answered"
    FAILED = "failed"
    """The person was told that it could not be answered."""
    REFUSED = "refused"
    """Its author may not speak (any longer)."""
    EXPIRED = "expired"
    """Too old when Kith came to it; counted in a notice."""
    LOST = "lost"
    """Its text was only in memory when the process ended; the person was asked for it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An open row."""

    row: int
    inbound: Inbound
    """Its text is empty when there is none on disk."""
    has_text: bool
    begun: bool
    """Whether a turn is under way."""
    attempts: int
    """How many turns were under way for it, and ended or ended the process without an answer. One
    that only waited for its place at the model is not counted."""


_TAKE = """
INSERT INTO inbox (
    platform, bot, chat, message, kind, topic, parent, guild, title, person, name, roles,
    language, text, addressed, reply_to, sent_at_ns, state, changed_at_ns
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
RETURNING number
"""


async def take(
    unit: Unit,
    inbound: Inbound,
    *,
    with_text: bool,
    now_ns: int,
    state: InboxState = InboxState.WAITING,
) -> int | None:
    """Take a message over; its row, or None when it was taken before."""
    chat, author = inbound.chat, inbound.author
    row = await unit.row(
        _TAKE,
        (
            chat.platform,
            chat.bot,
            chat.chat,
            inbound.message,
            chat.kind,
            chat.topic,
            chat.parent,
            chat.guild,
            chat.title if with_text else None,
            author.person,
            author.name if with_text else None,
            ",".join(author.roles),
            author.language,
            inbound.text if with_text else None,
            inbound.addressed,
            inbound.reply_to,
            inbound.sent_at_ns,
            state,
            now_ns,
        ),
    )
    return int(row["number"]) if row else None


_BEGIN = """
UPDATE inbox SET state = 'working', attempts = attempts + 1, changed_at_ns = ?
WHERE number = ? AND state IN ('waiting', 'working')
"""


async def begin(unit: Unit, row: int, *, now_ns: int) -> bool:
    """Note that a turn begins, and count it; False when the row is closed: there is nothing to do."""
    return await unit.execute(_BEGIN, (now_ns, row)) > 0


_COUNT = "UPDATE inbox SET attempts = max(attempts + ?, 0) WHERE number = ? AND state = 'working'"


async def count(unit: Unit, row: int, *, by: int) -> None:
    """Count an attempt at a row that is being worked on (1), or take it back (-1)."""
    await unit.execute(_COUNT, (by, row))


_REST = "UPDATE inbox SET state = 'waiting' WHERE state = 'working'"


async def rest(unit: Unit) -> None:
    """At start-up: nobody works on anything yet."""
    await unit.execute(_REST)


_CLOSE = """
UPDATE inbox SET state = ?, changed_at_ns = ?, text = NULL, name = NULL, title = NULL
WHERE number = ? AND state IN ('waiting', 'working')
"""


async def close(unit: Unit, row: int, state: InboxState, *, now_ns: int) -> bool:
    """Close a row and erase its text; False when it was closed before."""
    return await unit.execute(_CLOSE, (state, now_ns, row)) > 0


_OPEN = "SELECT * FROM inbox WHERE state IN ('waiting', 'working') ORDER BY number"


async def waiting(reader: Reader) -> list[Waiting]:
    """All open rows, in the order in which they were taken over."""
    return [_waiting(row) for row in await reader.rows(_OPEN)]


def _waiting(row: Row) -> Waiting:
    chat = ChatRef(
        platform=Platform(row["platform"]),
        bot=row["bot"],
        chat=row["chat"],
        kind=ChatKind(row["kind"]),
        topic=row["topic"],
        parent=row["parent"],
        guild=row["guild"],
        title=row["title"] or "",
    )
    author = Author(
        person=PersonId(row["person"]),
        name=row["name"] or "",
        roles=tuple(row["roles"].split(",")) if row["roles"] else (),
        language=row["language"],
    )
    inbound = Inbound(
        chat=chat,
        author=author,
        message=row["message"],
        text=row["text"] or "",
        sent_at_ns=row["sent_at_ns"],
        addressed=bool(row["addressed"]),
        reply_to=row["reply_to"],
    )
    return Waiting(
        row=row["number"],
        inbound=inbound,
        has_text=row["text"] is not None,
        begun=row["state"] == InboxState.WORKING,
        attempts=row["attempts"],
    )


_PLACE = "platform = ?1 AND bot = ?2 AND chat = ?3"
_OPEN_THERE = f"""
SELECT * FROM inbox WHERE {_PLACE} AND state IN ('waiting', 'working')
AND message IN (SELECT value FROM json_each(?4)) ORDER BY number
"""  # noqa: S608 - a constant
_REWORD = f"""
UPDATE inbox SET text = ?5, changed_at_ns = ?6 WHERE {_PLACE} AND message = ?4
AND state IN ('waiting', 'working') AND text IS NOT NULL
"""  # noqa: S608 - a constant


async def open_there(reader: Reader, chat: ChatRef, messages: Sequence[str]) -> list[Waiting]:
    """The open rows of these messages of a place, oldest first."""
    place = (chat.platform, chat.bot, chat.chat)
    rows = await reader.rows(_OPEN_THERE, (*place, json.dumps(list(messages))))
    return [_waiting(row) for row in rows]


async def reword(unit: Unit, chat: ChatRef, message: str, text: str, *, now_ns: int) -> None:
    """Let an open row say something else; one that was taken without text stays so."""
    place = (chat.platform, chat.bot, chat.chat)
    await unit.execute(_REWORD, (*place, message, text, now_ns))


_COUNTS = "SELECT state, COUNT(*) AS rows FROM inbox GROUP BY state"


async def counts(reader: Reader) -> dict[InboxState, int]:
    """How many rows are in each state; states without rows are left out."""
    return {InboxState(row["state"]): row["rows"] for row in await reader.rows(_COUNTS)}


_SWEEP = "DELETE FROM inbox WHERE state NOT IN ('waiting', 'working') AND changed_at_ns < ?"


async def sweep(unit: Unit, *, before_ns: int) -> int:
    """Delete rows that were closed before a time; how many."""
    return await unit.execute(_SWEEP, (before_ns,))
