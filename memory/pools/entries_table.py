"""The tables `pool_entries` and `pool_sources`: distilled facts, with where each came from.

Entries are read by session; whose entry may be shown to whom is `memory.pools.ranking`'s to say.
"""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memory.database.database import Reader, Row, Unit
from memory.pools.entry import Entry, NewEntry, Owner, Pool, Scope, Source, SourceKind, Tag
from memory.values import PersonId, SessionId, Speaker

_NUMBER = "(SELECT number FROM sessions WHERE id = ?1)"
_COLUMNS = """
e.id, s.id AS session, e.pool, e.tag, e.scope, e.content, e.person, e.name, e.said_at_ns,
e.superseded_by, e.vector, e.vector_model,
(SELECT group_concat(kind || ' ' || source, char(10)) FROM pool_sources WHERE entry = e.id) AS sources
"""
_FROM = f"SELECT {_COLUMNS} FROM pool_entries AS e JOIN sessions AS s ON s.number = e.session"  # noqa: S608
_ALL = f"{_FROM} WHERE s.id = ?1 ORDER BY e.id"
_ONE = f"{_FROM} WHERE s.id = ?1 AND e.id = ?2"
_UNEMBEDDED = f"""{_FROM} WHERE s.id = ?1 AND (e.vector_model IS NULL OR e.vector_model <> ?2)
ORDER BY e.id LIMIT ?3"""
_OWNED = "coalesce(CASE scope WHEN 'person' THEN person END, '') = ?2"
_BATCH = f"""{_FROM} WHERE s.id = ?1 AND e.pool = 'short' AND e.superseded_by IS NULL AND {_OWNED}
ORDER BY e.id LIMIT ?3"""
_COUNTS = f"""
SELECT coalesce(CASE scope WHEN 'person' THEN person END, '') AS owner, count(*) AS entries
FROM pool_entries WHERE session = {_NUMBER} AND pool = 'short' AND superseded_by IS NULL
GROUP BY owner ORDER BY min(id)
"""  # noqa: S608
_COUNT = f"SELECT count(*) AS entries FROM pool_entries WHERE session = {_NUMBER} AND pool = ?2"  # noqa: S608
_ADD = f"""
INSERT INTO pool_entries (session, pool, tag, scope, content, person, name, said_at_ns)
VALUES ({_NUMBER}, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
"""  # noqa: S608
_LINK = "INSERT OR IGNORE INTO pool_sources (entry, kind, source) VALUES (?, ?, ?)"
_RENEW = "UPDATE pool_entries SET said_at_ns = max(said_at_ns, ?2) WHERE id = ?1"
_EDIT = f"""
UPDATE pool_entries SET content = ?3, vector = NULL, vector_model = NULL
WHERE session = {_NUMBER} AND id = ?2
"""  # noqa: S608
_SUPERSEDE = "UPDATE pool_entries SET superseded_by = ?2 WHERE id = ?1 AND superseded_by IS NULL"
_INHERIT = "UPDATE pool_entries SET superseded_by = ?2 WHERE superseded_by = ?1"
_MOVE = "UPDATE pool_entries SET pool = 'long' WHERE id = ?"
_EMBEDDED = "UPDATE pool_entries SET vector = ?3, vector_model = ?4 WHERE id = ?1 AND content = ?2"
_DELETE = "DELETE FROM pool_entries WHERE id = ?"
_DELETE_ONE = f"DELETE FROM pool_entries WHERE session = {_NUMBER} AND id = ?2"  # noqa: S608
# A long entry may lean on a short one as its history, and the other way round: what stays must
# not be pulled along.
_CUT_HISTORY = f"""
UPDATE pool_entries SET superseded_by = NULL
WHERE session = {_NUMBER} AND pool <> ?2 AND superseded_by IN (
    SELECT id FROM pool_entries WHERE session = {_NUMBER} AND pool = ?2)
"""  # noqa: S608
_CLEAR = f"DELETE FROM pool_entries WHERE session = {_NUMBER} AND pool = ?2"  # noqa: S608
_UNLINK = "DELETE FROM pool_sources WHERE kind = ?1 AND source = ?2"
_RESTING = "SELECT DISTINCT entry FROM pool_sources WHERE kind = ?1 AND source = ?2"
_RESTING_ON_TURN = f"""
SELECT entry FROM pool_sources WHERE kind = 'turn' AND source = ?2
AND entry IN (SELECT id FROM pool_entries WHERE session = {_NUMBER})
"""  # noqa: S608
_TURN_HOLDERS = """
SELECT DISTINCT s.id FROM pool_sources AS p JOIN pool_entries AS e ON e.id = p.entry
JOIN sessions AS s ON s.number = e.session
WHERE p.kind = 'turn' AND p.source IN (SELECT value FROM json_each(?2)) AND s.id GLOB ?1
"""
_UNLINK_TURN = "DELETE FROM pool_sources WHERE entry = ?1 AND kind = 'turn' AND source = ?2"
_BASELESS = """
SELECT superseded_by FROM pool_entries WHERE id = ? AND tag IN ('event', 'refined')
AND NOT EXISTS (SELECT 1 FROM pool_sources WHERE entry = id AND kind <> 'entry')
"""
_ASTRAY = """
SELECT e.id FROM pool_entries AS e JOIN pool_entries AS n ON n.id = e.superseded_by
WHERE n.session <> e.session OR n.id = e.id
"""
_FOREIGN = """
SELECT p.entry, p.source FROM pool_sources AS p JOIN pool_entries AS e ON e.id = p.entry
JOIN messages AS m ON m.seq = CAST(p.source AS INTEGER)
WHERE p.kind = 'message' AND m.session <> e.session
"""
_CUT_ASTRAY = f"UPDATE pool_entries SET superseded_by = NULL WHERE id IN ({_ASTRAY})"  # noqa: S608
_CUT_FOREIGN = f"""
DELETE FROM pool_sources WHERE kind = 'message' AND (entry, source) IN ({_FOREIGN})
"""  # noqa: S608


class Count(NamedTuple):
    """How many live short entries an owner has in a session."""

    owner: Owner
    entries: int


def _entry(row: Row) -> Entry:
    person = row["person"]
    links = (line.split(" ", 1) for line in (row["sources"] or "").splitlines())
    return Entry(
        id=row["id"],
        session=SessionId(row["session"]),
        content=row["content"],
        pool=Pool(row["pool"]),
        tag=Tag(row["tag"]),
        scope=Scope(row["scope"]),
        speaker=None if person is None else Speaker(person=PersonId(person), name=row["name"]),
        said_at_ns=row["said_at_ns"],
        superseded_by=row["superseded_by"],
        vector=row["vector"],
        vector_model=row["vector_model"],
        sources=tuple(Source(kind=SourceKind(kind), id=source) for kind, source in links),
    )


async def every(reader: Reader, session: SessionId) -> list[Entry]:
    """All entries of a session, superseded ones too, oldest first."""
    return [_entry(row) for row in await reader.rows(_ALL, (session,))]


async def find(reader: Reader, session: SessionId, entry: int) -> Entry | None:
    """One entry of a session."""
    row = await reader.row(_ONE, (session, entry))
    return _entry(row) if row else None


async def short_counts(reader: Reader, session: SessionId) -> list[Count]:
    """How many live short entries each owner has, who waits longest first."""
    return [
        Count(owner=PersonId(row["owner"]) if row["owner"] else None, entries=row["entries"])
        for row in await reader.rows(_COUNTS, (session,))
    ]


async def count(reader: Reader, session: SessionId, pool: Pool) -> int:
    """How many entries a pool holds, superseded ones included."""
    [row] = await reader.rows(_COUNT, (session, pool))
    return int(row["entries"])


async def batch(reader: Reader, session: SessionId, owner: Owner, *, limit: int) -> list[Entry]:
    """The owner's oldest live short entries, oldest first."""
    rows = await reader.rows(_BATCH, (session, owner or "", limit))
    return [_entry(row) for row in rows]


async def unembedded(reader: Reader, session: SessionId, *, model: str, limit: int) -> list[Entry]:
    """Entries without a vector of this model, oldest first."""
    return [_entry(row) for row in await reader.rows(_UNEMBEDDED, (session, model, limit))]


async def add(unit: Unit, session: SessionId, entry: NewEntry) -> int:
    """Store an entry with its sources; its id. The session must exist."""
    speaker = entry.speaker
    number = await unit.insert(
        _ADD,
        (
            session,
            entry.pool,
            entry.tag,
            entry.scope,
            entry.content,
            speaker.person if speaker else None,
            speaker.name if speaker else None,
            entry.said_at_ns,
        ),
    )
    await link(unit, number, entry.sources)
    return number


async def link(unit: Unit, entry: int, sources: Iterable[Source]) -> None:
    """Add to where an entry came from."""
    await unit.execute_many(_LINK, [(entry, source.kind, source.id) for source in sources])


async def renew(unit: Unit, entry: int, *, said_at_ns: int, sources: Sequence[Source]) -> None:
    """Note that an entry was said once more."""
    await unit.execute(_RENEW, (entry, said_at_ns))
    await link(unit, entry, sources)


async def supersede(unit: Unit, old: int, *, by: int) -> None:
    """Let an entry take another's place; the old one stays as its history."""
    await unit.execute(_SUPERSEDE, (old, by))


async def inherit(unit: Unit, old: int, *, heir: int) -> None:
    """Hand the history of an entry over to the one that was made of it."""
    await unit.execute(_INHERIT, (old, heir))


async def move_to_long(unit: Unit, entry: int) -> None:
    """Move a short entry to the long pool as it is."""
    await unit.execute(_MOVE, (entry,))


async def edit(unit: Unit, session: SessionId, entry: int, content: str) -> bool:
    """Change what an entry says; whether there is one. Its vector goes."""
    return await unit.execute(_EDIT, (session, entry, content)) > 0


async def keep_vector(unit: Unit, entry: Entry, vector: bytes, *, model: str) -> None:
    """Store a vector of what the entry said; nothing if it says something else by now."""
    await unit.execute(_EMBEDDED, (entry.id, entry.content, vector, model))


async def remove(unit: Unit, entries: Iterable[int]) -> None:
    """Delete entries with their history."""
    await unit.execute_many(_DELETE, [(entry,) for entry in entries])


async def remove_one(unit: Unit, session: SessionId, entry: int) -> bool:
    """Delete an entry of this session with its history; whether there was one."""
    return await unit.execute(_DELETE_ONE, (session, entry)) > 0


async def clear(unit: Unit, session: SessionId, pool: Pool) -> int:
    """Delete all entries of a pool; how many there were.

    What stays in the other pool and was superseded by one of them holds again.
    """
    await unit.execute(_CUT_HISTORY, (session, pool))
    return await unit.execute(_CLEAR, (session, pool))


async def forget_source(unit: Unit, source: Source) -> int:
    """Drop a source, and every entry that rested on it alone; how many entries went."""
    resting = await unit.rows(_RESTING, (source.kind, source.id))
    await unit.execute(_UNLINK, (source.kind, source.id))
    return sum([await _drop_baseless(unit, row["entry"]) for row in resting])


async def turn_holders(reader: Reader, pattern: str, platform_ids: Sequence[str]) -> set[SessionId]:
    """The sessions whose id fits a pattern (GLOB) and that have facts of any of these turns."""
    rows = await reader.rows(_TURN_HOLDERS, (pattern, json.dumps(list(platform_ids))))
    return {SessionId(row["id"]) for row in rows}


async def forget_turn(unit: Unit, session: SessionId, platform_id: str) -> int:
    """The same for a turn that is not in the archive; its id means something in its session only."""
    resting = await unit.rows(_RESTING_ON_TURN, (session, platform_id))
    dropped = 0
    for row in resting:
        await unit.execute(_UNLINK_TURN, (row["entry"], platform_id))
        dropped += await _drop_baseless(unit, row["entry"])
    return dropped


async def _drop_baseless(unit: Unit, entry: int) -> int:
    """Delete an entry that rests on nothing said any more; how many went.

    What it superseded rests on other messages: it holds again, or is the successor's history.
    """
    found = await unit.row(_BASELESS, (entry,))
    if found is None:
        return 0
    await unit.execute(_INHERIT, (entry, found["superseded_by"]))
    return await unit.execute(_DELETE, (entry,))


async def count_foreign_links(reader: Reader) -> int:
    """How many links lead into another session; normally none."""
    return len(await reader.rows(_ASTRAY)) + len(await reader.rows(_FOREIGN))


async def cut_foreign_links(unit: Unit) -> None:
    """Cut the links that lead into another session."""
    await unit.execute(_CUT_ASTRAY)
    await unit.execute(_CUT_FOREIGN)
