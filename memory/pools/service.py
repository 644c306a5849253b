"""The pools as people use them: look, search, add, change, delete, pause.

A person sees what a reply to them may show: their own facts of this session and the group's. An
operator sees the session whole.
"""

from dataclasses import dataclass, replace

from memory.database import sessions_table
from memory.database.database import Database, Reader
from memory.errors import EntryInvalid
from memory.pools import entries_table, queue_table
from memory.pools.cleaning import cleaned
from memory.pools.entry import Entry, NewEntry, Pool, Scope, Tag
from memory.pools.queue_table import PoolState
from memory.pools.ranking import EntryQuery, rank, visible
from memory.ports import Clock
from memory.values import SessionId, Speaker

MOST_FOUND = 10
"""Entries that a search shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """Who looks at a session's pools."""

    session: SessionId
    speaker: Speaker | None = None
    """None: the operator, who sees all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryView:
    """An entry with what it superseded."""

    entry: Entry
    before: tuple[Entry, ...] = ()
    """What it took the place of, the newest first."""


class PoolService:
    """What people can do with the pools."""

    def __init__(self, *, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def entries(self, viewer: Viewer, *, history: bool = False) -> list[Entry]:
        """As `entries_of`."""
        async with self._database.reading() as reader:
            return await entries_of(reader, viewer, history=history)

    async def show(self, viewer: Viewer, entry: int) -> EntryView | None:
        """As `entry_of`."""
        async with self._database.reading() as reader:
            return await entry_of(reader, viewer, entry)

    async def search(self, viewer: Viewer, query: str, *, limit: int = MOST_FOUND) -> list[Entry]:
        """As `search_in`."""
        async with self._database.reading() as reader:
            return await search_in(reader, viewer, query, limit=limit)

    async def add(self, viewer: Viewer, text: str) -> Entry:
        """Put a fact into the long pool: about the speaker, or of an operator, the conversation.

        Raises:
            EntryInvalid: the text says nothing, or is too long.
            StoreError: nothing was stored.
        """
        content = _content(text)
        now_ns = self._clock.now_ns()
        entry = NewEntry(
            content=content,
            pool=Pool.LONG,
            tag=Tag.FACT,
            scope=Scope.PERSON if viewer.speaker else Scope.GROUP,
            speaker=viewer.speaker,
            said_at_ns=now_ns,
        )
        async with self._database.unit() as unit:
            await sessions_table.touch(unit, viewer.session, title="", now_ns=now_ns)
            number = await entries_table.add(unit, viewer.session, entry)
            found = await entries_table.find(unit, viewer.session, number)
        if found is None:
            raise EntryInvalid("the fact could not be read back")
        return found

    async def edit(self, viewer: Viewer, entry: int, text: str) -> Entry | None:
        """Change what an entry says; as it is now, None when the viewer may not see it.

        Raises:
            EntryInvalid: the text says nothing, or is too long.
            StoreError: nothing was changed.
        """
        content = _content(text)
        async with self._database.unit() as unit:
            found = {one.id: one for one in await _seen(unit, viewer)}.get(entry)
            if found is not None:
                await entries_table.edit(unit, viewer.session, entry, content)
        return None if found is None else replace(found, content=content)

    async def delete(self, viewer: Viewer, entry: int) -> bool:
        """Delete an entry with its history; whether there was one that the viewer may see.

        Raises:
            StoreError: nothing was deleted.
        """
        async with self._database.unit() as unit:
            if entry not in {one.id for one in await _seen(unit, viewer)}:
                return False
            return await entries_table.remove_one(unit, viewer.session, entry)

    async def pause(self, session: SessionId, *, paused: bool) -> None:
        """Stop or resume writing to a session's pools; what is there stays and is shown."""
        now_ns = self._clock.now_ns()
        async with self._database.unit() as unit:
            await sessions_table.touch(unit, session, title="", now_ns=now_ns)
            await queue_table.pause(unit, session, paused=paused)

    async def state(self, session: SessionId) -> PoolState:
        """Whether the pools are paused, what waits, and what was lost."""
        async with self._database.reading() as reader:
            return await queue_table.state(reader, session)

    async def lost_turns(self) -> int:
        """Turns of all sessions that were lost before they were distilled (pools mode)."""
        async with self._database.reading() as reader:
            return await queue_table.lost_turns(reader)


async def entries_of(reader: Reader, viewer: Viewer, *, history: bool = False) -> list[Entry]:
    """What the viewer may see, oldest first; superseded ones only with `history`."""
    return [one for one in await _seen(reader, viewer) if history or one.live]


async def entry_of(reader: Reader, viewer: Viewer, entry: int) -> EntryView | None:
    """One entry with its history; None when there is none that the viewer may see."""
    seen = {one.id: one for one in await _seen(reader, viewer)}
    if entry not in seen:
        return None
    before, current = [], entry
    while (old := _newest_before(seen, current)) is not None:
        before.append(old)
        current = old.id
    return EntryView(entry=seen[entry], before=tuple(before))


async def search_in(
    reader: Reader, viewer: Viewer, query: str, *, limit: int = MOST_FOUND
) -> list[Entry]:
    """Entries that have a word of the query, best first."""
    found = rank(await _seen(reader, viewer), EntryQuery(text=query))
    return [one.entry for one in found if one.score > 0][:limit]


async def _seen(reader: Reader, viewer: Viewer) -> list[Entry]:
    entries = await entries_table.every(reader, viewer.session)
    return visible(entries, viewer.speaker.person) if viewer.speaker else entries


def _newest_before(seen: dict[int, Entry], entry: int) -> Entry | None:
    older = [one for one in seen.values() if one.superseded_by == entry]
    return max(older, key=lambda one: (one.said_at_ns, one.id), default=None)


def _content(text: str) -> str:
    content = cleaned(text)
    if content is None:
        raise EntryInvalid("a fact needs a few words")
    return content
