"""The table `imports`: how far each imported file got."""

from memory.database.database import Reader, Unit
from memory.values import Mode, SessionId

_NUMBER = "(SELECT number FROM sessions WHERE id = ?1)"
_DONE = f"SELECT records FROM imports WHERE session = {_NUMBER} AND digest = ?2"  # noqa: S608
_MODE = "SELECT mode FROM sessions WHERE id = ?"
_ADVANCE = f"""
INSERT INTO imports (session, digest, records) VALUES ({_NUMBER}, ?2, ?3)
ON CONFLICT (session, digest) DO UPDATE SET records = excluded.records
"""  # noqa: S608


async def done(reader: Reader, session: SessionId, digest: str) -> int:
    """How many messages of the file are stored; 0 for one that was never begun."""
    row = await reader.row(_DONE, (session, digest))
    return int(row["records"]) if row else 0


async def advance(unit: Unit, session: SessionId, digest: str, *, records: int) -> None:
    """Note that the first `records` messages of the file are stored. The session must exist."""
    await unit.execute(_ADVANCE, (session, digest, records))


async def keeps_no_transcript(
    reader: Reader, session: SessionId, *, prefixes: tuple[str, ...]
) -> bool:
    """Whether the session keeps distilled facts alone: as was chosen for it, or perhaps by default.

    `prefixes` begin the ids of sessions that may do so where nothing was chosen.
    """
    row = await reader.row(_MODE, (session,))
    chosen = row["mode"] if row else None
    return bool(session.startswith(prefixes) if chosen is None else chosen == Mode.POOLS)
