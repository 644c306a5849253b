"""Resets, switches of the mode, removals: what they clear, what they keep, what comes over.

Each is one transaction that also moves the session's epoch, so that no turn or pass that was under
way can bring anything back.
"""

from dataclasses import dataclass

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import Database, Reader, Unit
from memory.keeping import resetting
from memory.keeping.resetting import ResetReport
from memory.language.likeness import first_like
from memory.language.text import clip, one_line
from memory.modes.choice import ModeChoice
from memory.pools import entries_table
from memory.pools.entry import CONTENT_CHARS, NewEntry, Pool, Scope, Tag
from memory.ports import Clock
from memory.recall import words_table
from memory.summary import summaries_table
from memory.values import Mode, SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """What is stored of a session, in numbers."""

    messages: int = 0
    short: int = 0
    long: int = 0
    summary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """What a switch did."""

    cleared: Holdings
    kept: Holdings
    seeded: int = 0
    """Decisions that were taken over into the long pool."""


class Clearing:
    """Clears what a session holds."""

    def __init__(self, *, database: Database, modes: ModeChoice, clock: Clock) -> None:
        self._database = database
        self._modes = modes
        self._clock = clock

    async def holdings(self, session: SessionId) -> Holdings:
        """What is stored of a session."""
        async with self._database.reading() as reader:
            return await _holdings(reader, session)

    async def reset(self, session: SessionId, *, everything: bool = False) -> ResetReport:
        """Clear window, vectors, archive and short pool; summary and long pool only if asked.

        When it returns, what was cleared stands in no file any more.

        Raises:
            StoreError: nothing was cleared, or its traces could not be erased.
        """
        async with self._database.unit() as unit:
            for mode in self._modes.every:
                await mode.reset(unit, session)
            report = await resetting.reset(
                unit, session, everything=everything, now_ns=self._clock.now_ns()
            )
        await self._erase_traces()
        return report

    async def _erase_traces(self) -> None:
        """Leave no byte of what was deleted, in the keyword index neither.

        It rewrites the file, and writers wait for that: about a second for each 100 MiB. Whoever
        asks for deletion may rely on it, and few ask.
        """
        async with self._database.unit() as unit:
            await words_table.optimize(unit)
        await self._database.erase_traces()

    async def switch(
        self, session: SessionId, mode: Mode, *, purge: bool = False, seed: bool = False
    ) -> Cleared:
        """Let a session use another memory.

        Args:
            session: whose.
            mode: the new one.
            purge: clear what the new mode does not use: for `pools` all messages and the summary,
                for `window` both pools. Otherwise it stays, unused, until it is reset.
            seed: take what the summary holds as decided over into the long pool first.

        Raises:
            StoreError: nothing was changed.
        """
        async with self._database.unit() as unit:
            before = await _holdings(unit, session)
            await self._begin(unit, session)
            await sessions_table.choose_mode(unit, session, mode, now_ns=self._clock.now_ns())
            seeded = await self._seed(unit, session) if seed else 0
            if purge and mode is Mode.POOLS:
                await messages_table.clear(unit, session)
                await summaries_table.clear(unit, session)
            if purge and mode is Mode.WINDOW:
                await entries_table.clear(unit, session, Pool.SHORT)
                await entries_table.clear(unit, session, Pool.LONG)
            after = await _holdings(unit, session)
        self._modes.chose(session, mode)
        if purge:
            await self._erase_traces()
        return Cleared(cleared=_difference(before, after), kept=after, seeded=seeded)

    async def remove(self, session: SessionId) -> bool:
        """Delete a session with everything of it; whether there was one.

        Raises:
            StoreError: nothing was deleted.
        """
        async with self._database.unit() as unit:
            for mode in self._modes.every:
                await mode.reset(unit, session)
            removed = await sessions_table.remove(unit, session)
        self._modes.chose(session, None)
        if removed:
            await self._erase_traces()
        return removed

    async def sweep_temporary(self, *, idle_s: float) -> int:
        """Remove `temp-` sessions that have been idle for so long; how many."""
        before_ns = self._clock.now_ns() - int(idle_s * 1_000_000_000)
        async with self._database.unit() as unit:
            idle = await sessions_table.idle_temporary(unit, before_ns=before_ns)
            for session in idle:
                await sessions_table.remove(unit, session)
        if idle:
            await self._erase_traces()
        return len(idle)

    async def _begin(self, unit: Unit, session: SessionId) -> None:
        await sessions_table.bump_epoch(unit, session, now_ns=self._clock.now_ns())
        for mode in self._modes.every:
            await mode.reset(unit, session)

    async def _seed(self, unit: Unit, session: SessionId) -> int:
        """Take the decisions of the summary over; how many were new."""
        stored = await summaries_table.current(unit, session)
        known = [one.content for one in await entries_table.every(unit, session)]
        seeded = 0
        for decision in stored.summary.key_decisions:
            content = clip(one_line(decision), CONTENT_CHARS)
            if not content or first_like(content, known) is not None:
                continue
            known.append(content)
            seeded += 1
            entry = NewEntry(
                content=content,
                pool=Pool.LONG,
                tag=Tag.IMPORTED,
                scope=Scope.GROUP,
                said_at_ns=self._clock.now_ns(),
            )
            await entries_table.add(unit, session, entry)
        return seeded


async def _holdings(reader: Reader, session: SessionId) -> Holdings:
    entries = await entries_table.every(reader, session)
    summary = await summaries_table.current(reader, session)
    return Holdings(
        messages=await messages_table.count(reader, session),
        short=sum(one.pool is Pool.SHORT for one in entries),
        long=sum(one.pool is Pool.LONG for one in entries),
        summary=bool(summary.summary),
    )


def _difference(before: Holdings, after: Holdings) -> Holdings:
    return Holdings(
        messages=before.messages - after.messages,
        short=before.short - after.short,
        long=before.long - after.long,
        summary=before.summary and not after.summary,
    )
