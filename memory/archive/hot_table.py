"""The table `hot_bytes`: how big each session's hot history is. Triggers keep it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from memory.database.database import Reader, Unit
from memory.values import NO_SEQ, Role, Seq, SessionId

_PAGE_ROWS = 2_000

_BYTES = """
SELECT bytes FROM hot_bytes WHERE session = (SELECT number FROM sessions WHERE id = ?)
"""
_BIGGER = """
SELECT s.id FROM hot_bytes AS h JOIN sessions AS s ON s.number = h.session
WHERE h.bytes > ? AND s.id NOT GLOB 'temp-*' ORDER BY h.bytes DESC
"""
_SIZES = """
SELECT m.seq, m.role, m.record_bytes FROM messages AS m JOIN sessions AS s ON s.number = m.session
WHERE s.id = ? AND m.seq >= s.start_seq AND m.seq > ? ORDER BY m.seq LIMIT ?
"""
_TRUE = """
SELECT s.number, coalesce((
    SELECT sum(record_bytes) FROM messages WHERE session = s.number AND seq >= s.start_seq), 0)
AS bytes FROM sessions AS s
"""
_DRIFT = f"""
SELECT t.number FROM ({_TRUE}) AS t LEFT JOIN hot_bytes AS h ON h.session = t.number
WHERE coalesce(h.bytes, 0) <> t.bytes
"""  # noqa: S608
_EMPTY = "DELETE FROM hot_bytes"
_RECOUNT = f"INSERT INTO hot_bytes (session, bytes) {_TRUE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What a message takes."""

    seq: Seq
    role: Role
    size_bytes: int


async def size_bytes(reader: Reader, session: SessionId) -> int:
    """UTF-8 bytes of the session's exported records from its cutoff on."""
    row = await reader.row(_BYTES, (session,))
    return int(row["bytes"]) if row else 0


async def bigger_than(reader: Reader, limit_bytes: int) -> list[SessionId]:
    """Sessions whose hot history is bigger, the biggest first; never temporary ones."""
    return [SessionId(row["id"]) for row in await reader.rows(_BIGGER, (limit_bytes,))]


async def sizes(reader: Reader, session: SessionId) -> AsyncIterator[Size]:
    """What each hot message takes, oldest first."""
    last = NO_SEQ
    while rows := await reader.rows(_SIZES, (session, last, _PAGE_ROWS)):
        for row in rows:
            last = Seq(row["seq"])
            yield Size(seq=last, role=Role(row["role"]), size_bytes=row["record_bytes"])


async def drift(reader: Reader) -> int:
    """How many sessions have another size than is kept of them; normally none."""
    return len(await reader.rows(_DRIFT))


async def recount(unit: Unit) -> None:
    """Count every session anew."""
    await unit.execute(_EMPTY)
    await unit.execute(_RECOUNT)
