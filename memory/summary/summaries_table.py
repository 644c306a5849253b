"""The tables `summaries` and `summary_due`: each session's digest with the row it reaches to.

Body and cursor are saved as one row; an older version stands until a newer one is complete.
"""

from dataclasses import dataclass

from memory.database.database import Reader, Row, Unit
from memory.errors import SessionMoved
from memory.summary.value import Summary, read_summary, to_json
from memory.values import NO_SEQ, Seq, SessionId

VERSIONS_KEPT = 5
"""Good versions kept of each session, so that a spoilt or outdated one can be given up."""

_NUMBER = "(SELECT number FROM sessions WHERE id = ?1)"
_VERSIONS = f"""
SELECT version, body, cursor_seq, cursor_chars, cursor_sent_at_ns, saved_at_ns FROM summaries
WHERE session = {_NUMBER} ORDER BY version DESC
"""  # noqa: S608 - a constant
_STANDING = """
SELECT epoch,
    coalesce((SELECT max(version) FROM summaries WHERE session = number), 0) AS version,
    coalesce((SELECT changes FROM summary_due WHERE session = number), 0) AS changes
FROM sessions WHERE id = ?
"""
_SAVE = f"""
INSERT INTO summaries
    (session, body, cursor_seq, cursor_chars, cursor_sent_at_ns, saved_at_ns)
VALUES ({_NUMBER}, ?2, ?3, ?4, (
    SELECT sent_at_ns FROM messages WHERE session = {_NUMBER} AND seq <= ?3
    ORDER BY seq DESC LIMIT 1), ?5)
"""  # noqa: S608
_PRUNE = f"""
DELETE FROM summaries WHERE session = {_NUMBER} AND version <= (
    SELECT version FROM summaries WHERE session = {_NUMBER}
    ORDER BY version DESC LIMIT 1 OFFSET {VERSIONS_KEPT})
"""  # noqa: S608
_SETTLE = f"""
DELETE FROM summary_due WHERE session = {_NUMBER} AND NOT EXISTS (
    SELECT 1 FROM messages WHERE session = {_NUMBER} AND seq > ?2)
"""  # noqa: S608
_MARK = f"""
INSERT OR IGNORE INTO summary_due (session)
SELECT number FROM sessions WHERE id = ?1 AND id NOT GLOB 'temp-*'
AND EXISTS (SELECT 1 FROM messages WHERE session = {_NUMBER})
"""  # noqa: S608
_REWIND = f"""
DELETE FROM summaries WHERE session = {_NUMBER} AND (cursor_seq >= ?2 OR cursor_chars > 0)
"""  # noqa: S608
_DETACH = f"UPDATE summaries SET cursor_chars = 0 WHERE session = {_NUMBER}"  # noqa: S608
_CLEAR = f"DELETE FROM summaries WHERE session = {_NUMBER}"  # noqa: S608
# CROSS JOIN keeps SQLite from turning the loop round: due sessions only are read
# (sqlite.org/optoverview.html, "Manual Control Of Query Plans Using CROSS JOIN").
DUE = """
SELECT s.id FROM summary_due AS d CROSS JOIN sessions AS s ON s.number = d.session
WHERE s.id NOT GLOB 'temp-*' ORDER BY s.number
"""
_BODIES = "SELECT version, body FROM summaries"
_IMPOSSIBLE = """
SELECT version FROM summaries WHERE cursor_seq > (
    SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'messages')
"""
_NOT_QUEUED = """
SELECT s.number FROM sessions AS s
WHERE s.id NOT GLOB 'temp-*' AND s.number NOT IN (SELECT session FROM summary_due)
AND EXISTS (
    SELECT 1 FROM messages WHERE session = s.number AND seq > coalesce((
        SELECT cursor_seq FROM summaries WHERE session = s.number ORDER BY version DESC LIMIT 1), 0))
"""
_DROP = "DELETE FROM summaries WHERE version = ?"
_QUEUE = f"INSERT OR IGNORE INTO summary_due (session) {_NOT_QUEUED}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """How far a summary reaches."""

    seq: Seq
    """The last message that is covered."""
    chars: int = 0
    """How many characters of the next message are covered too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSummary:
    """A summary as it is stored."""

    version: int
    """0 before the first one is saved."""
    summary: Summary
    cursor: Cursor | None
    """None for a summary that came without one; then nothing is known of what it covers."""
    cursor_sent_at_ns: int | None = None
    """When the last covered message was sent; None when that is not known."""
    saved_at_ns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryState:
    """What must not change between reading messages and saving their summary."""

    epoch: int
    """Grows with a reset."""
    version: int
    """Grows with another run's saving; 0 without a summary."""
    changes: int
    """Grows when a message is edited or deleted."""


NOTHING_STORED = StoredSummary(version=0, summary=Summary(), cursor=Cursor(seq=NO_SEQ))


async def current(reader: Reader, session: SessionId) -> StoredSummary:
    """The newest version that can be read; `NOTHING_STORED` without one.

    A spoilt body is passed over with its cursor, so that what it covered is summarised anew.
    """
    rows = await reader.rows(_VERSIONS, (session,))
    for row in rows:
        summary = read_summary(row["body"])
        if summary is not None:
            return _stored(row, summary)
    return NOTHING_STORED


def _stored(row: Row, summary: Summary) -> StoredSummary:
    seq = row["cursor_seq"]
    return StoredSummary(
        version=row["version"],
        summary=summary,
        cursor=None if seq is None else Cursor(seq=Seq(seq), chars=row["cursor_chars"]),
        cursor_sent_at_ns=row["cursor_sent_at_ns"],
        saved_at_ns=row["saved_at_ns"],
    )


async def state(reader: Reader, session: SessionId) -> SummaryState | None:
    """The state of the session's summary; None when the session is not there any more."""
    row = await reader.row(_STANDING, (session,))
    if row is None:
        return None
    return SummaryState(epoch=row["epoch"], version=row["version"], changes=row["changes"])


async def save(
    unit: Unit,
    session: SessionId,
    *,
    summary: Summary,
    cursor: Cursor | None,
    expected: SummaryState,
    now_ns: int,
) -> SummaryState:
    """Put a summary and its cursor in place, together; how things stand from now on.

    Raises:
        SessionMoved: they no longer stand as `expected`: a reset, an edit or another run came
            first, and nothing is saved.
    """
    if await state(unit, session) != expected:
        raise SessionMoved("the session was reset, edited or summarised meanwhile")
    seq, chars = (cursor.seq, cursor.chars) if cursor else (None, 0)
    await unit.insert(_SAVE, (session, to_json(summary), seq, chars, now_ns))
    await unit.execute(_PRUNE, (session,))
    if cursor:
        await settle(unit, session, cursor=cursor)
    after = await state(unit, session)
    return after or expected


async def settle(unit: Unit, session: SessionId, *, cursor: Cursor) -> None:
    """Take the session off the list of due ones if no message lies behind the cursor."""
    await unit.execute(_SETTLE, (session, cursor.seq))


async def due(reader: Reader) -> list[SessionId]:
    """Sessions that may have unsummarised messages; others are not read. Never `temp-` ones."""
    return [SessionId(row["id"]) for row in await reader.rows(DUE)]


async def rewind(unit: Unit, session: SessionId, *, seq: Seq) -> bool:
    """Give up every version that covers row `seq`, an edited or deleted message; whether any did.

    What is left is the newest version from before that message, or none; the next run goes on
    from there.
    """
    given_up = await unit.execute(_REWIND, (session, seq)) > 0
    if given_up:
        await unit.execute(_MARK, (session,))
    return given_up


async def clear(unit: Unit, session: SessionId) -> bool:
    """Delete the summary with all its versions; whether there was one. The next run starts anew."""
    cleared = await unit.execute(_CLEAR, (session,)) > 0
    await unit.execute(_MARK, (session,))
    return cleared


async def detach(unit: Unit, session: SessionId) -> bool:
    """Let the summary outlive its messages, which were deleted; whether there is one.

    The next message is a new one, so nothing of it is covered.
    """
    return await unit.execute(_DETACH, (session,)) > 0


async def broken(reader: Reader) -> list[int]:
    """Versions that cannot be read, or whose cursor stands behind every message that ever was."""
    bodies = await reader.rows(_BODIES)
    unreadable = {row["version"] for row in bodies if read_summary(row["body"]) is None}
    return sorted(unreadable | {row["version"] for row in await reader.rows(_IMPOSSIBLE)})


async def count_not_queued(reader: Reader) -> int:
    """How many sessions have unsummarised messages that no run would come to; normally none."""
    return len(await reader.rows(_NOT_QUEUED))


async def repair(unit: Unit) -> None:
    """Drop broken versions, and put every session that has something new on the list."""
    await unit.execute_many(_DROP, [(version,) for version in await broken(unit)])
    await unit.execute(_QUEUE)
