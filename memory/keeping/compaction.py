"""The pass that keeps a session's hot history small: it moves the cutoff, and deletes nothing.

Over the limit, the oldest messages leave until 80 % of it are left (spec, seed 1, "compaction"),
cut behind a reply so that a question stays with its answer. What no summary covers yet stays hot.
Vectors of what leaves stay stored; they leave the resident index (`memory.recall.nearest`), and readers
still find by them. Nothing deletes them earlier than their messages.
"""

from dataclasses import dataclass
from enum import StrEnum

import structlog

from memory.archive import hot_table
from memory.database import sessions_table
from memory.database.database import Database, Reader
from memory.summary import summaries_table
from memory.values import NO_SEQ, Role, Seq, SessionId

log = structlog.get_logger()

TARGET_SHARE = 0.8
FORCED_FACTOR = 2
"""Over this many times the limit it cuts behind any message: else a history without a reply would
grow without bound."""
FEWEST_MESSAGES = 4
"""Fewer are left alone, however big they are."""


class Compacted(StrEnum):
    """What came of a run."""

    MOVED = "moved"
    SMALL = "small"
    """There was nothing to do."""
    UNSUMMARISED = "unsummarised"
    """What would leave is not summarised yet: summarise first, then try again."""
    NO_PAIR = "no_pair"
    """There is no reply to cut behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """Where the hot history may end."""

    outcome: Compacted
    behind: Seq = NO_SEQ
    """The last message that leaves."""
    messages: int = 0


class Compactor:
    """Moves cutoffs."""

    def __init__(self, *, database: Database, limit_bytes: int) -> None:
        self._database = database
        self._limit_bytes = limit_bytes

    async def due(self) -> list[SessionId]:
        """Sessions whose hot history is over the limit; reads no message.

        Raises:
            StoreError: the list cannot be read.
        """
        async with self._database.reading() as reader:
            return await hot_table.bigger_than(reader, self._limit_bytes)

    async def run(self, session: SessionId) -> Compacted:
        """Move the session's cutoff if it is over the limit.

        Raises:
            StoreError: the database could not do it; nothing was moved.
        """
        async with self._database.reading() as reader:
            known = await sessions_table.find(reader, session)
            cut = await self._cut(reader, session)
        if known is None or cut.outcome is not Compacted.MOVED:
            return cut.outcome
        async with self._database.unit() as unit:
            if await _covered(unit, session) < cut.behind:
                return Compacted.UNSUMMARISED
            moved = await sessions_table.move_start(unit, known, Seq(cut.behind + 1))
        if not moved:  # reset meanwhile
            return Compacted.SMALL
        log.info("history.compacted", session=session, messages=cut.messages)
        return Compacted.MOVED

    async def _cut(self, reader: Reader, session: SessionId) -> _Cut:
        size_bytes = await hot_table.size_bytes(reader, session)
        if size_bytes <= self._limit_bytes:
            return _Cut(outcome=Compacted.SMALL)
        excess = size_bytes - int(self._limit_bytes * TARGET_SHARE)
        forced = size_bytes > FORCED_FACTOR * self._limit_bytes
        cut = await _place(reader, session, excess, forced=forced)
        if cut.outcome is Compacted.MOVED and await _covered(reader, session) < cut.behind:
            return _Cut(outcome=Compacted.UNSUMMARISED)
        return cut


async def _place(reader: Reader, session: SessionId, excess: int, *, forced: bool) -> _Cut:
    """Behind the first reply with at least `excess` bytes up to it; the last message never leaves.

    Without one: if forced behind any message, else nowhere.
    """
    taken_bytes = messages = 0
    earliest: _Cut | None = None
    reply: _Cut | None = None
    async for size in hot_table.sizes(reader, session):
        if reply is not None and messages >= FEWEST_MESSAGES - 1:
            return reply
        taken_bytes += size.size_bytes
        messages += 1
        if taken_bytes < excess:
            continue
        here = _Cut(outcome=Compacted.MOVED, behind=size.seq, messages=messages)
        last_seq = size.seq
        earliest = earliest or here
        if size.role is Role.ASSISTANT:
            reply = reply or here
    if messages < FEWEST_MESSAGES:
        return _Cut(outcome=Compacted.SMALL)
    if forced and earliest is not None and earliest.behind < last_seq:
        return earliest
    return _Cut(outcome=Compacted.NO_PAIR)


async def _covered(reader: Reader, session: SessionId) -> Seq:
    """The last message that a summary covers wholly."""
    stored = await summaries_table.current(reader, session)
    return stored.cursor.seq if stored.cursor else NO_SEQ
