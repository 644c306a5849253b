"""The tables `to_distil`, `pool_upkeep`, `pool_sessions`: what the pools have still to do, in numbers.

No row here holds a word that anybody said.
"""

from dataclasses import dataclass

from memory.database.database import Reader, Unit
from memory.pools.entry import Owner
from memory.values import Seq, SessionId

_NUMBER = "(SELECT number FROM sessions WHERE id = ?1)"
_MARK = f"INSERT INTO to_distil (session, seq, in_group) VALUES ({_NUMBER}, ?2, ?3)"  # noqa: S608
_MARKS = f"""
SELECT number, seq, in_group, attempts FROM to_distil WHERE session = {_NUMBER} AND seq IS NOT NULL
ORDER BY number LIMIT ?2
"""  # noqa: S608
_MARKED = "SELECT in_group FROM to_distil WHERE seq = ?"
_UNMARK = "DELETE FROM to_distil WHERE seq = ?"
_DONE = "DELETE FROM to_distil WHERE number = ?"
_FAILED = "UPDATE to_distil SET attempts = attempts + 1 WHERE number = ?"
_WAITING = """
SELECT s.id FROM sessions AS s
WHERE s.number IN (SELECT session FROM to_distil WHERE seq IS NOT NULL) ORDER BY s.number
"""
_LOSE = """
INSERT INTO pool_sessions (session, lost_turns)
SELECT session, count(*) FROM to_distil WHERE seq IS NULL GROUP BY session
ON CONFLICT (session) DO UPDATE SET lost_turns = lost_turns + excluded.lost_turns
"""
_DROP_LOST = "DELETE FROM to_distil WHERE seq IS NULL"
_LOST = f"""
INSERT INTO pool_sessions (session, lost_turns) VALUES ({_NUMBER}, 1)
ON CONFLICT (session) DO UPDATE SET lost_turns = lost_turns + 1
"""  # noqa: S608
_PAUSE = f"""
INSERT INTO pool_sessions (session, paused) VALUES ({_NUMBER}, ?2)
ON CONFLICT (session) DO UPDATE SET paused = excluded.paused
"""  # noqa: S608
_STATE = f"""
SELECT coalesce((SELECT paused FROM pool_sessions WHERE session = {_NUMBER}), 0) AS paused,
    coalesce((SELECT lost_turns FROM pool_sessions WHERE session = {_NUMBER}), 0) AS lost_turns,
    (SELECT count(*) FROM to_distil WHERE session = {_NUMBER}) AS waiting
"""  # noqa: S608
_ALL_LOST = "SELECT coalesce(sum(lost_turns), 0) AS turns FROM pool_sessions"
_FORGET = f"DELETE FROM to_distil WHERE session = {_NUMBER}"  # noqa: S608
_COUNT_TURN = f"""
INSERT INTO pool_upkeep (session, person, turns) VALUES ({_NUMBER}, ?2, 1)
ON CONFLICT (session, person) DO UPDATE SET turns = turns + 1
"""  # noqa: S608
_STRIKE = f"""
INSERT INTO pool_upkeep (session, person, strikes) VALUES ({_NUMBER}, ?2, 1)
ON CONFLICT (session, person) DO UPDATE SET strikes = strikes + 1, turns = 0
"""  # noqa: S608
_SETTLE = f"DELETE FROM pool_upkeep WHERE session = {_NUMBER} AND person = ?2"  # noqa: S608
_UPKEEP = f"""
SELECT turns, strikes FROM pool_upkeep WHERE session = {_NUMBER} AND person = ?2
"""  # noqa: S608


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A turn of the archive that is still to be distilled."""

    number: int
    seq: Seq
    """Of the user's message."""
    group: bool
    """Whether others took part."""
    attempts: int
    """How often it failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolState:
    """How a session's pools stand."""

    paused: bool
    lost_turns: int
    """Turns that a full queue or a restart took before they were distilled (pools mode)."""
    waiting: int
    """Turns that are still to be distilled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """What refining counts for one owner."""

    turns: int
    """User messages since the last refining."""
    strikes: int
    """Unusable answers in a row."""


async def mark(unit: Unit, session: SessionId, *, seq: Seq | None, group: bool = False) -> int:
    """Note a turn that is to be distilled; the mark's number. Without `seq` it is in memory only."""
    return await unit.insert(_MARK, (session, seq, group))


async def marks(reader: Reader, session: SessionId, *, limit: int) -> list[Mark]:
    """Turns of the archive that are to be distilled, oldest first."""
    return [
        Mark(
            number=row["number"],
            seq=Seq(row["seq"]),
            group=bool(row["in_group"]),
            attempts=row["attempts"],
        )
        for row in await reader.rows(_MARKS, (session, limit))
    ]


async def done(unit: Unit, number: int) -> bool:
    """Take a mark away; False when it was taken away before, with the message or by an edit."""
    return await unit.execute(_DONE, (number,)) > 0


async def begin_anew(unit: Unit, session: SessionId, *, seq: Seq, again: bool) -> None:
    """Mark an edited turn anew if it is marked, or if it is to be distilled `again`.

    What is being distilled under the old mark comes to nothing.
    """
    marked = await unit.rows(_MARKED, (seq,))
    await unit.execute(_UNMARK, (seq,))
    if marked or again:
        group = any(row["in_group"] for row in marked)
        await mark(unit, session, seq=seq, group=group)


async def failed(unit: Unit, number: int) -> None:
    """Count a failure."""
    await unit.execute(_FAILED, (number,))


async def waiting(reader: Reader) -> list[SessionId]:
    """Sessions with turns of the archive that are to be distilled."""
    return [SessionId(row["id"]) for row in await reader.rows(_WAITING)]


async def count_lost(unit: Unit) -> int:
    """At start-up: turns that were in memory only are lost; count them. How many."""
    await unit.execute(_LOSE)
    return await unit.execute(_DROP_LOST)


async def lose(unit: Unit, session: SessionId, number: int) -> None:
    """Count one turn of this session as lost and take its mark away."""
    await unit.execute(_LOST, (session,))
    await unit.execute(_DONE, (number,))


async def pause(unit: Unit, session: SessionId, *, paused: bool) -> None:
    """Stop or resume writing to the session's pools."""
    await unit.execute(_PAUSE, (session, paused))


async def state(reader: Reader, session: SessionId) -> PoolState:
    """How the session's pools stand."""
    [row] = await reader.rows(_STATE, (session,))
    return PoolState(
        paused=bool(row["paused"]), lost_turns=row["lost_turns"], waiting=row["waiting"]
    )


async def lost_turns(reader: Reader) -> int:
    """How many turns of all sessions were lost."""
    [row] = await reader.rows(_ALL_LOST)
    return int(row["turns"])


async def forget(unit: Unit, session: SessionId) -> None:
    """Take all marks of a session away."""
    await unit.execute(_FORGET, (session,))


async def count_turn(unit: Unit, session: SessionId, owner: Owner) -> None:
    """Count a user message since the owner's last refining."""
    await unit.execute(_COUNT_TURN, (session, owner or ""))


async def strike(unit: Unit, session: SessionId, owner: Owner) -> None:
    """Count an answer of the refining model that could not be used."""
    await unit.execute(_STRIKE, (session, owner or ""))


async def refined(unit: Unit, session: SessionId, owner: Owner) -> None:
    """Begin to count anew."""
    await unit.execute(_SETTLE, (session, owner or ""))


async def upkeep(reader: Reader, session: SessionId, owner: Owner) -> Upkeep:
    """What was counted for an owner."""
    row = await reader.row(_UPKEEP, (session, owner or ""))
    return Upkeep(turns=row["turns"], strikes=row["strikes"]) if row else Upkeep(turns=0, strikes=0)
