"""Messages by row number, with those that stand around them. Reads only; `messages_table` writes them."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory.archive.messages_table import COLUMNS, message_of
from memory.database.database import Reader
from memory.values import Message, Seq, SessionId

_SESSION = "SELECT number, start_seq FROM sessions WHERE id = ?"
_COUNT = "SELECT count(*) AS messages FROM messages WHERE session = ?"
_NAMES = """
SELECT DISTINCT name FROM (
    SELECT name FROM messages WHERE session = ?1 ORDER BY seq DESC LIMIT ?2
) WHERE name IS NOT NULL
"""
_NAMED_FROM = 2_000
"""Messages, counted from the newest, whose speakers a question may name."""
_AROUND = f"""
WITH RECURSIVE near (seq, step, way) AS (
    SELECT value, 0, 0 FROM json_each(?2)
    UNION
    SELECT (SELECT max(seq) FROM messages WHERE session = ?1 AND seq < near.seq), step + 1, -1
    FROM near WHERE way <= 0 AND step < ?3 AND near.seq IS NOT NULL
    UNION
    SELECT (SELECT min(seq) FROM messages WHERE session = ?1 AND seq > near.seq), step + 1, 1
    FROM near WHERE way >= 0 AND step < ?4 AND near.seq IS NOT NULL
)
SELECT {COLUMNS}, (SELECT max(seq) FROM messages WHERE session = ?1 AND seq < m.seq) AS previous
FROM messages AS m JOIN sessions AS s ON s.number = m.session
WHERE m.session = ?1 AND m.seq IN (SELECT seq FROM near)
ORDER BY m.seq
"""  # noqa: S608 - constants
_WITHIN = """
SELECT group_concat(seq) AS seqs FROM messages
WHERE session = ?1 AND sent_at_ns >= ?2 AND sent_at_ns < ?3
"""
_CONTAINING = """
SELECT seq FROM messages
WHERE session = ?1 AND seq >= ?2 AND instr(lower(text), lower(?3)) > 0
ORDER BY seq DESC LIMIT ?4
"""

_EVER_NS = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A session as the tables know it."""

    number: int
    start_seq: Seq


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which messages may be found at all. Applied before the best are chosen."""

    since_ns: int | None = None
    until_ns: int | None = None
    """Not at this time itself or later."""

    @property
    def is_open(self) -> bool:
        """Whether everything passes."""
        return self.since_ns is None and self.until_ns is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A message, with the row of the one before it in its session."""

    message: Message
    previous: Seq | None


async def session_row(reader: Reader, session: SessionId) -> SessionRow | None:
    """Where the session is stored, or None while nothing is."""
    row = await reader.row(_SESSION, (session,))
    return SessionRow(number=row["number"], start_seq=Seq(row["start_seq"])) if row else None


async def count(reader: Reader, session_number: int) -> int:
    """How many messages the session holds."""
    [row] = await reader.rows(_COUNT, (session_number,))
    return int(row["messages"])


async def names(reader: Reader, session_number: int) -> list[str]:
    """The names of those who spoke lately in the session."""
    return [row["name"] for row in await reader.rows(_NAMES, (session_number, _NAMED_FROM))]


async def around(
    reader: Reader, session_number: int, seqs: Iterable[int], *, before: int, after: int
) -> list[Passage]:
    """The messages with their neighbours in the session, in order, none twice."""
    listed = json.dumps([int(seq) for seq in seqs])
    rows = await reader.rows(_AROUND, (session_number, listed, before, after))
    return [Passage(message=message_of(row), previous=row["previous"]) for row in rows]


async def within(reader: Reader, session_number: int, allowed: Filter) -> NDArray[np.int64]:
    """The row numbers of all messages that pass a filter, rising."""
    until_ns = _EVER_NS if allowed.until_ns is None else allowed.until_ns
    [row] = await reader.rows(_WITHIN, (session_number, allowed.since_ns or 0, until_ns))
    joined = row["seqs"]
    return np.sort(np.array(joined.split(",") if joined else [], dtype=np.int64))


async def containing(
    reader: Reader, session: SessionRow, text: str, *, limit: int
) -> Sequence[Seq]:
    """Hot messages that hold the text letter by letter, the newest first."""
    rows = await reader.rows(_CONTAINING, (session.number, session.start_seq, text, limit))
    return [Seq(row["seq"]) for row in rows]
