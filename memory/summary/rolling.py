"""The rolling summary as the engine and the service use it: shown, wanted, brought up to date."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from datetime import tzinfo

from memory.archive import messages_table
from memory.database.database import Database, Reader
from memory.ports import Clock, Models
from memory.summary import summaries_table
from memory.summary.judge import Judge
from memory.summary.run import Progress, SummaryRun, unwatched
from memory.summary.slot import SummarySlot, relevant_part
from memory.summary.summaries_table import StoredSummary
from memory.summary.summarise_pass import Summariser
from memory.summary.value import Summary
from memory.summary.writer import AUTO
from memory.values import NO_SEQ, Seq, Session, SessionId

MOST_PENDING = 1_000
"""Unsummarised messages that a window is stretched over at most; a budget cuts it long before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryView:
    """A summary, with what people want to know about it."""

    known: bool
    """Whether there is such a conversation at all."""
    summary: Summary
    covered_until_ns: int | None
    """When the last message that it covers was sent; None when it covers none that is known."""
    saved_at_ns: int | None
    """None before the first one is saved."""


class RollingSummary:
    """Everything about summaries that is not storage."""

    def __init__(
        self,
        *,
        database: Database,
        models: Models,
        clock: Clock,
        zone: tzinfo | None,
        language: str = AUTO,
    ) -> None:
        self._database = database
        self._judge = Judge(models.decision)
        self._summariser = Summariser(
            database=database,
            model=models.summary,
            judge=self._judge,
            clock=clock,
            zone=zone,
            language=language,
        )
        self._wanted: OrderedDict[SessionId, None] = OrderedDict()
        self._asked = asyncio.Event()
        self._running: dict[SessionId, asyncio.Event] = {}

    async def slot(self, summary: Summary, request: str) -> SummarySlot:
        """What the prompt says of a summary, for a request. May ask the decision model (5 s)."""
        return SummarySlot(summary=await relevant_part(self._judge, summary, request))

    async def stored(self, reader: Reader, session: SessionId) -> StoredSummary:
        """The summary that is in use, in the reader's view."""
        return await summaries_table.current(reader, session)

    async def window_size(self, reader: Reader, session: Session, cursor: Seq, usual: int) -> int:
        """How many of the last messages the window must reach over.

        Until a message is summarised it stays in the window, so that nothing is ever in neither;
        but for what stands before `window_seq`: there somebody asked for an empty window.
        """
        behind = Seq(max(cursor, session.window_seq - 1))
        pending = await messages_table.count_after(
            reader, session.id, seq=behind, most=MOST_PENDING
        )
        return max(usual, pending)

    def want(self, session: SessionId) -> None:
        """Ask for a session to be summarised at once; asking twice is asking once."""
        self._wanted[session] = None
        self._asked.set()

    async def next_wanted(self) -> SessionId:
        """The session that was asked for first; waits until one is."""
        while not self._wanted:
            self._asked.clear()
            await self._asked.wait()
        session, _ = self._wanted.popitem(last=False)
        return session

    async def due(self) -> list[SessionId]:
        """Sessions with messages that no summary covers; `temp-` ones never are."""
        async with self._database.reading() as reader:
            return await summaries_table.due(reader)

    async def refresh(self, session: SessionId, progress: Progress = unwatched) -> SummaryRun:
        """Bring a session's summary up to date now. A run under way is waited for first.

        Raises:
            StoreError: the database could not do it; what was saved before stands.
        """
        while (running := self._running.get(session)) is not None:
            await running.wait()
        done = self._running[session] = asyncio.Event()
        try:
            return await self._summariser.run(session, progress)
        finally:
            del self._running[session]
            done.set()

    async def view(self, session: SessionId) -> SummaryView:
        """The summary as it is shown to its people."""
        async with self._database.reading() as reader:
            return await view_of(reader, session)


async def view_of(reader: Reader, session: SessionId) -> SummaryView:
    """The same, also for who only reads the file."""
    stored = await summaries_table.current(reader, session)
    covers = stored.cursor is not None and stored.cursor.seq != NO_SEQ
    return SummaryView(
        known=await summaries_table.standing(reader, session) is not None,
        summary=stored.summary,
        covered_until_ns=stored.cursor_sent_at_ns if covers else None,
        saved_at_ns=stored.saved_at_ns,
    )
