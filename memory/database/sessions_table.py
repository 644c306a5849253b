"""The table `sessions`: which conversations there are."""

from memory.database.database import Reader, Row, Unit
from memory.values import NO_SEQ, Mode, Seq, Session, SessionId

_COLUMNS = "id, title, epoch, start_seq, window_seq, created_at_ns, active_at_ns, mode"
_FIND = f"SELECT {_COLUMNS} FROM sessions WHERE id = ?"  # noqa: S608 - a constant
_LIST = f"SELECT {_COLUMNS} FROM sessions ORDER BY active_at_ns DESC, number DESC"  # noqa: S608
_IDLE = """
SELECT id FROM sessions WHERE id GLOB 'temp-*' AND active_at_ns < ? ORDER BY number
"""
_TOUCH = """
INSERT INTO sessions (id, title, created_at_ns, active_at_ns) VALUES (?1, ?2, ?3, ?3)
ON CONFLICT (id) DO UPDATE SET
    active_at_ns = max(active_at_ns, excluded.active_at_ns),
    title = CASE excluded.title WHEN '' THEN title ELSE excluded.title END
RETURNING number, epoch
"""
_BUMP = """
INSERT INTO sessions (id, title, epoch, created_at_ns, active_at_ns) VALUES (?1, '', 1, ?2, ?2)
ON CONFLICT (id) DO UPDATE SET epoch = epoch + 1
"""
_NEW_WINDOW = """
UPDATE sessions SET window_seq = 1 + coalesce(
    (SELECT max(seq) FROM messages WHERE session = sessions.number), 0) WHERE id = ?
"""
_MOVE_START = """
UPDATE sessions SET start_seq = ?4 WHERE id = ?1 AND epoch = ?2 AND start_seq = ?3
"""
_CHOOSE = """
INSERT INTO sessions (id, title, created_at_ns, active_at_ns, mode) VALUES (?1, '', ?2, ?2, ?3)
ON CONFLICT (id) DO UPDATE SET mode = excluded.mode
"""
_CHOSEN = "SELECT id, mode FROM sessions WHERE mode IS NOT NULL"
_REMOVE = "DELETE FROM sessions WHERE id = ?"


def _session(row: Row) -> Session:
    return Session(
        id=SessionId(row["id"]),
        title=row["title"],
        epoch=row["epoch"],
        start_seq=Seq(row["start_seq"]),
        window_seq=Seq(row["window_seq"]),
        created_at_ns=row["created_at_ns"],
        active_at_ns=row["active_at_ns"],
        mode=Mode(row["mode"]) if row["mode"] else None,
    )


async def find(reader: Reader, session: SessionId) -> Session | None:
    """The session, or None while nothing was ever stored for it."""
    row = await reader.row(_FIND, (session,))
    return _session(row) if row else None


def unknown(session: SessionId) -> Session:
    """A session for which nothing was ever stored."""
    return Session(
        id=session,
        title="",
        epoch=0,
        start_seq=NO_SEQ,
        window_seq=NO_SEQ,
        created_at_ns=0,
        active_at_ns=0,
    )


async def every(reader: Reader) -> list[Session]:
    """All sessions, the last used first."""
    return [_session(row) for row in await reader.rows(_LIST)]


async def idle_temporary(reader: Reader, *, before_ns: int) -> list[SessionId]:
    """`temp-` sessions without a message since then."""
    return [SessionId(row["id"]) for row in await reader.rows(_IDLE, (before_ns,))]


async def touch(unit: Unit, session: SessionId, *, title: str, now_ns: int) -> tuple[int, int]:
    """Note a sign of life, and make the session on its first; its number and epoch.

    An empty title keeps the one that is known.
    """
    [row] = await unit.rows(_TOUCH, (session, title, now_ns))
    return int(row["number"]), int(row["epoch"])


async def bump_epoch(unit: Unit, session: SessionId, *, now_ns: int) -> None:
    """Make every turn and pass that is under way for this session come to nothing."""
    await unit.execute(_BUMP, (session, now_ns))


async def begin_window(unit: Unit, session: SessionId) -> None:
    """Let the window start behind the last message; nothing is deleted."""
    await unit.execute(_NEW_WINDOW, (session,))


async def move_start(unit: Unit, known: Session, seq: Seq) -> bool:
    """Let hot history begin at `seq`; False when the session was reset or compacted meanwhile."""
    expected = (known.id, known.epoch, known.start_seq, seq)
    return await unit.execute(_MOVE_START, expected) > 0


async def choose_mode(unit: Unit, session: SessionId, mode: Mode | None, *, now_ns: int) -> None:
    """Let the session use this memory; None: what the configuration says for the place."""
    await unit.execute(_CHOOSE, (session, now_ns, mode))


async def chosen_modes(reader: Reader) -> dict[SessionId, Mode]:
    """Every memory that an admin chose."""
    return {SessionId(row["id"]): Mode(row["mode"]) for row in await reader.rows(_CHOSEN)}


async def remove(unit: Unit, session: SessionId) -> bool:
    """Delete the session with everything that belongs to it; whether there was one."""
    return await unit.execute(_REMOVE, (session,)) > 0
