"""What is done for a session after its reply was sent: distil, refine, embed, in this order."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

import structlog

from memory.database.database import Database
from memory.modes.interface import MemoryMode
from memory.pools import queue_table
from memory.pools.embed_pass import embed_pools
from memory.pools.refine_pass import Refined, Refiner
from memory.ports import Models
from memory.settings import PoolSettings
from memory.values import Moment, SessionId

log = structlog.get_logger()

MOST_BATCHES = 5
"""Batches refined in one go for one session, so that others get their turn."""


class Afterwork:
    """The sessions that have something left to do, and the doing of it."""

    def __init__(
        self,
        *,
        database: Database,
        modes: Sequence[MemoryMode],
        models: Models,
        settings: PoolSettings,
    ) -> None:
        self._database = database
        self._modes = modes
        self._refiner = Refiner(database=database, model=models.extract, settings=settings)
        self._embedder = models.embed
        self._queued: OrderedDict[SessionId, Moment] = OrderedDict()
        self._added = asyncio.Event()

    async def resume(self) -> int:
        """Queue what an earlier process left, and count what it lost; how many turns that is.

        Raises:
            StoreError: the database could not do it.
        """
        async with self._database.unit() as unit:
            lost = await queue_table.count_lost(unit)
            waiting = await queue_table.waiting(unit)
        for session in waiting:
            self.enqueue(session)
        if lost:
            log.warning("turns.lost", turns=lost)
        return lost

    def enqueue(self, session: SessionId, moment: Moment = Moment.TURN) -> None:
        """Ask for a session's work to be done; asking twice is asking once."""
        self._queued[session] = moment
        self._added.set()

    def take_queued(self) -> tuple[SessionId, Moment] | None:
        """Take the session that was asked for first, with its moment; None without one."""
        return self._queued.popitem(last=False) if self._queued else None

    async def next_queued(self) -> tuple[SessionId, Moment]:
        """The same, as soon as there is one."""
        while (found := self.take_queued()) is None:
            self._added.clear()
            await self._added.wait()
        return found

    def in_memory(self) -> list[SessionId]:
        """Sessions with turns that the end of the process would lose."""
        return list(dict.fromkeys(one for mode in self._modes for one in mode.in_memory))

    async def do(self, session: SessionId, moment: Moment = Moment.QUIET) -> None:
        """Do what is left for a session, as far as the moment is right for it.

        Raises:
            ModelError: a model could not be asked; what is left waits for another try.
            StoreError: the database could not do it.
        """
        for mode in self._modes:
            await mode.afterwards(session, moment)
        for _ in range(MOST_BATCHES):
            outcome = await self._refiner.run(session, idle=moment is Moment.IDLE)
            if outcome not in {Refined.STORED, Refined.DROPPED}:
                break
        if self._embedder is not None:
            await embed_pools(self._database, self._embedder, session)
