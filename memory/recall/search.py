"""Search over what was said, put together: recall for prompts, lookup for readers, the backlog.

What a model has no vector for yet is found by its words alone; the backlog is worked off behind
the replies, and a model that is down loses nothing.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from memory.database.database import Database, Readable, ReadOnlyFile
from memory.ports import Embedder
from memory.recall import vectors_table
from memory.recall.embed_pass import EmbedPass
from memory.recall.index import open_indexes
from memory.recall.lookup import Lookup
from memory.recall.nearest import Nearest
from memory.recall.recall import Recall
from memory.settings import RecallSettings

INDEX_BYTES = 256 << 20
"""Vectors that stay in memory over all sessions: about 170,000 messages of 384 numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """How far the vectors are behind the messages."""

    waiting: int
    keyword_only: str | None
    """Why search is by keyword alone for now; None when it is not."""


class Search:
    """Finds messages again. Made by `open_search`."""

    def __init__(
        self,
        *,
        database: Database,
        recall: Recall,
        embedder: Embedder | None,
    ) -> None:
        self.recall = recall
        self.lookup = Lookup(database=database, recall=recall)
        self._database = database
        self._pass = EmbedPass(database=database, embedder=embedder) if embedder else None
        self._running = asyncio.Lock()
        self._requested = asyncio.Event()
        self._requested.set()  # what an earlier process left
        self._failure: str | None = None if embedder else "no embedding model"

    def request(self) -> None:
        """There are messages without vectors: have them embedded soon."""
        self._requested.set()

    async def requested(self) -> None:
        """Wait until there may be something to embed."""
        await self._requested.wait()
        self._requested.clear()

    async def catch_up(self) -> Backlog:
        """Embed what waits, until nothing does or the model fails; what is left.

        Raises:
            StoreError: the database could not be read or written.
        """
        if self._pass is not None:
            async with self._running:
                run = await self._pass.run()
            self._failure = run.failure
        return await self.backlog()

    async def backlog(self) -> Backlog:
        """How far the vectors are behind.

        Raises:
            StoreError: the database could not be read.
        """
        async with self._database.reading() as reader:
            waiting = await vectors_table.count_waiting(reader)
        return Backlog(waiting=waiting, keyword_only=self._failure)


@asynccontextmanager
async def open_search(
    *,
    database: Database,
    embedder: Embedder | None,
    settings: RecallSettings,
    zone: tzinfo | None,
) -> AsyncIterator[Search]:
    """Search over a database that is open; its indexes are built on demand and thrown away."""
    async with _open_recall(database, embedder, settings, zone) as recall:
        yield Search(database=database, recall=recall, embedder=embedder)


@asynccontextmanager
async def open_lookup(
    *, path: Path, embedder: Embedder | None, settings: RecallSettings, zone: tzinfo | None
) -> AsyncIterator[Lookup]:
    """Lookup in a database file that another process may own; nothing is written."""
    readable = ReadOnlyFile(path)
    async with _open_recall(readable, embedder, settings, zone) as recall:
        yield Lookup(database=readable, recall=recall)


@asynccontextmanager
async def _open_recall(
    database: Readable,
    embedder: Embedder | None,
    settings: RecallSettings,
    zone: tzinfo | None,
) -> AsyncIterator[Recall]:
    async with open_indexes(limit_bytes=INDEX_BYTES) as indexes:
        yield Recall(
            database=database,
            nearest=Nearest(database, indexes),
            embedder=embedder,
            settings=settings,
            zone=zone,
        )
