"""The pools' part of the turn context: a fixed number of facts that the speaker may see."""

import asyncio
from dataclasses import dataclass
from datetime import tzinfo

import structlog

from memory.database.database import Database
from memory.errors import ModelError
from memory.language.text import clip, one_line
from memory.language.times import format_day
from memory.pools import entries_table
from memory.pools.entry import Entry, Pool
from memory.pools.ranking import EntryHit, EntryQuery, best, visible
from memory.ports import Embedder
from memory.prompt.prompt import Line, Lines
from memory.settings import PoolSettings
from memory.values import NewMessage, SessionId, Shown

log = structlog.get_logger()

HEADING = "Remembered facts"
EMBED_LIMIT_S = 2.0
"""Longest wait for the question's vector: a person waits, and words alone do too."""
QUESTION_CHARS = 1_000
"""As much of a message as is looked up."""

_MARKS = {Pool.LONG: "long-term", Pool.SHORT: "recent"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolLines:
    """What the slot holds, and which entries that is."""

    lines: Lines
    shown: Shown


class PoolSlot:
    """Finds facts for a message."""

    def __init__(
        self,
        *,
        database: Database,
        embedder: Embedder | None,
        settings: PoolSettings,
        zone: tzinfo | None,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._settings = settings
        self._zone = zone

    async def gather(self, session: SessionId, entry: NewMessage) -> PoolLines:
        """The facts for a message: long-term ones first, each marked with its pool and day.

        Raises:
            StoreError: the database could not be read.
        """
        hits = await self.find(session, entry)
        facts = tuple(self._line(one) for one in hits)
        return PoolLines(
            lines=Lines(heading=HEADING, lines=facts),
            shown=Shown(
                entries=tuple(one.entry.id for one in hits),
                facts=tuple(one.entry.content for one in hits),
            ),
        )

    async def find(self, session: SessionId, entry: NewMessage) -> tuple[EntryHit, ...]:
        """The entries that a message brings up."""
        async with self._database.reading() as reader:
            entries = await entries_table.every(reader, session)
        person = entry.speaker.person if entry.speaker else None
        seen = visible(entries, person)
        query = await self._query(clip(entry.text, QUESTION_CHARS), seen)
        return best(seen, query, long=self._settings.long, short=self._settings.short)

    async def _query(self, text: str, entries: list[Entry]) -> EntryQuery:
        """The message as a query; with its vector only where there is something to choose."""
        embedder = self._embedder
        choice = sum(one.vector is not None for one in entries)
        if embedder is None or choice <= self._settings.long + self._settings.short:
            return EntryQuery(text=text)
        try:
            async with asyncio.timeout(EMBED_LIMIT_S):
                vector = await embedder.embed([text])
        except (ModelError, TimeoutError) as error:
            log.info("pool.searched_by_words", error=type(error).__name__)
            return EntryQuery(text=text)
        return EntryQuery(text=text, vector=vector, model=embedder.name)

    def _line(self, hit: EntryHit) -> Line:
        entry = hit.entry
        day = format_day(entry.said_at_ns, self._zone)
        mark = _MARKS[entry.pool] if entry.live else f"{_MARKS[entry.pool]}, no longer true"
        content = clip(one_line(entry.content), self._settings.entry_chars)
        return Line(text=f"- [{mark}, {day}] {content}", weight=hit.score)
