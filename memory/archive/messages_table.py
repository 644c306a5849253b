"""The table `messages`: every message kept, hot history and archive at once."""

import json
from collections.abc import Sequence

from memory.database.database import Reader, Row, Unit
from memory.values import (
    NO_SEQ,
    Message,
    NewMessage,
    PersonId,
    Role,
    Seq,
    SessionId,
    Speaker,
)

COLUMNS = "m.seq, s.id AS session, m.role, m.text, m.sent_at_ns, m.person, m.name, m.platform_id"
"""Of `messages AS m JOIN sessions AS s`."""

_FROM = f"SELECT {COLUMNS} FROM messages AS m JOIN sessions AS s ON s.number = m.session"  # noqa: S608
_LATEST = f"{_FROM} WHERE s.id = ? AND m.seq >= ? ORDER BY m.seq DESC LIMIT ?"
_AFTER = f"{_FROM} WHERE s.id = ? AND m.seq > ? ORDER BY m.seq LIMIT ?"
_COUNT = """
SELECT count(*) AS messages FROM messages
WHERE session = (SELECT number FROM sessions WHERE id = ?)
"""
_COUNT_ALL = "SELECT count(*) AS messages FROM messages"
_LAST = """
SELECT max(seq) AS seq FROM messages WHERE session = (SELECT number FROM sessions WHERE id = ?)
"""
_COUNT_AFTER = """
SELECT count(*) AS messages FROM (
    SELECT 1 FROM messages
    WHERE session = (SELECT number FROM sessions WHERE id = ?) AND seq > ? LIMIT ?)
"""
_APPEND = """
INSERT INTO messages (session, role, text, sent_at_ns, person, name, platform_id)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_APPEND_NEW = """
INSERT INTO messages (session, role, text, sent_at_ns, person, name, platform_id)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (
    SELECT 1 FROM messages
    WHERE session = ?1 AND sent_at_ns = ?4 AND role = ?2 AND text = ?3)
"""
_HOLDS = """
SELECT 1 FROM messages WHERE session = (SELECT number FROM sessions WHERE id = ?1)
AND sent_at_ns = ?4 AND role = ?2 AND text = ?3
"""
_NEWEST_TIME = """
SELECT max(sent_at_ns) AS at_ns FROM messages
WHERE session = (SELECT number FROM sessions WHERE id = ?)
"""
_BEFORE = """
SELECT max(seq) AS seq FROM messages
WHERE session = (SELECT number FROM sessions WHERE id = ?1) AND seq < coalesce(
    (SELECT min(seq) FROM messages
     WHERE session = (SELECT number FROM sessions WHERE id = ?1) AND sent_at_ns >= ?2), ?3)
"""
_BY_PLATFORM_ID = f"""
{_FROM} WHERE s.id = ? AND m.platform_id IN (SELECT value FROM json_each(?)) ORDER BY m.seq
"""  # noqa: S608
_HOLDERS = """
SELECT DISTINCT s.id FROM sessions AS s JOIN messages AS m ON m.session = s.number
WHERE s.id GLOB ? AND m.platform_id IN (SELECT value FROM json_each(?))
"""
_REWORD = "UPDATE messages SET text = ? WHERE seq = ?"
_DELETE = "DELETE FROM messages WHERE seq = ?"
_CLEAR = "DELETE FROM messages WHERE session = (SELECT number FROM sessions WHERE id = ?)"
_BEHIND_ALL = 2**63 - 1


def message_of(row: Row) -> Message:
    """A message from a row that holds these columns."""
    person = row["person"]
    return Message(
        seq=Seq(row["seq"]),
        session=SessionId(row["session"]),
        role=Role(row["role"]),
        text=row["text"],
        sent_at_ns=row["sent_at_ns"],
        speaker=None if person is None else Speaker(person=PersonId(person), name=row["name"]),
        platform_id=row["platform_id"],
    )


async def append(unit: Unit, session_number: int, messages: Sequence[NewMessage]) -> list[Seq]:
    """Store messages in the order given; their row numbers."""
    return [
        Seq(await unit.insert(_APPEND, _values(session_number, message))) for message in messages
    ]


async def append_new(unit: Unit, session_number: int, messages: Sequence[NewMessage]) -> None:
    """Store messages in the order given, but none twice that has the same role, time and text."""
    await unit.execute_many(_APPEND_NEW, [_values(session_number, message) for message in messages])


def _values(session_number: int, message: NewMessage) -> tuple[int | str | None, ...]:
    speaker = message.speaker
    return (
        session_number,
        message.role,
        message.text,
        message.sent_at_ns,
        speaker.person if speaker else None,
        speaker.name if speaker else None,
        message.platform_id,
    )


async def latest(reader: Reader, session: SessionId, *, from_seq: Seq, limit: int) -> list[Message]:
    """The last `limit` messages from `from_seq` on, oldest first."""
    rows = await reader.rows(_LATEST, (session, from_seq, limit))
    return [message_of(row) for row in reversed(rows)]


async def after(reader: Reader, session: SessionId, *, seq: Seq, limit: int) -> list[Message]:
    """The first `limit` messages behind row `seq`, oldest first."""
    return [message_of(row) for row in await reader.rows(_AFTER, (session, seq, limit))]


async def exchange(reader: Reader, session: SessionId, *, seq: Seq) -> list[Message]:
    """The message in row `seq` and the one behind it; empty when it is not there."""
    found = await after(reader, session, seq=Seq(seq - 1), limit=2)
    return found if found and found[0].seq == seq else []


async def last_seq(reader: Reader, session: SessionId) -> Seq:
    """Row number of the session's newest message; `NO_SEQ` without one."""
    row = await reader.row(_LAST, (session,))
    return Seq(row["seq"]) if row and row["seq"] is not None else NO_SEQ


async def holds(reader: Reader, session: SessionId, message: NewMessage) -> bool:
    """Whether the session has a message of the same role, time and text."""
    values = (session, message.role, message.text, message.sent_at_ns)
    return await reader.row(_HOLDS, values) is not None


async def newest_time(reader: Reader, session: SessionId) -> int | None:
    """When the session's latest message was sent, in nanoseconds; None without one."""
    row = await reader.row(_NEWEST_TIME, (session,))
    return row["at_ns"] if row else None


async def last_before(reader: Reader, session: SessionId, *, at_ns: int) -> Seq:
    """The last row before the first message sent at `at_ns` or later; `NO_SEQ` without one."""
    row = await reader.row(_BEFORE, (session, at_ns, _BEHIND_ALL))
    return Seq(row["seq"]) if row and row["seq"] is not None else NO_SEQ


async def count(reader: Reader, session: SessionId) -> int:
    """How many messages the session holds."""
    row = await reader.row(_COUNT, (session,))
    return int(row["messages"]) if row else 0


async def count_all(reader: Reader) -> int:
    """How many messages all sessions hold."""
    [row] = await reader.rows(_COUNT_ALL)
    return int(row["messages"])


async def count_after(reader: Reader, session: SessionId, *, seq: Seq, most: int) -> int:
    """How many messages lie behind row `seq`; counting ends at `most`."""
    row = await reader.row(_COUNT_AFTER, (session, seq, most))
    return int(row["messages"]) if row else 0


async def by_platform_ids(
    reader: Reader, session: SessionId, platform_ids: Sequence[str]
) -> list[Message]:
    """The messages of a session that its platform knows by these ids, oldest first."""
    rows = await reader.rows(_BY_PLATFORM_ID, (session, json.dumps(list(platform_ids))))
    return [message_of(row) for row in rows]


async def holders(reader: Reader, pattern: str, platform_ids: Sequence[str]) -> set[SessionId]:
    """The sessions whose id fits a pattern (GLOB) and that hold any of these messages."""
    rows = await reader.rows(_HOLDERS, (pattern, json.dumps(list(platform_ids))))
    return {SessionId(row["id"]) for row in rows}


async def reword(unit: Unit, seq: Seq, text: str) -> None:
    """Let a message say something else."""
    await unit.execute(_REWORD, (text, seq))


async def delete(unit: Unit, seq: Seq) -> None:
    """Delete one message."""
    await unit.execute(_DELETE, (seq,))


async def clear(unit: Unit, session: SessionId) -> int:
    """Delete all messages of the session; how many there were."""
    return await unit.execute(_CLEAR, (session,))
