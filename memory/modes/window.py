"""Mode `window` (seed 1 alone): the last messages word for word, and the summary of older ones."""

from collections.abc import Sequence
from dataclasses import replace

from memory.archive import messages_table
from memory.database.database import Database, Reader, Unit
from memory.modes.interface import Gathered
from memory.prompt.prompt import Prompt, Slots
from memory.summary import summaries_table
from memory.summary.service import SummaryService
from memory.values import (
    NO_SEQ,
    NOTHING_SHOWN,
    Message,
    Moment,
    NewMessage,
    Seq,
    Session,
    SessionId,
    Turn,
)

MOST_PENDING = 1_000
"""Unsummarised messages that a window is stretched over at most; a budget cuts it long before."""


class WindowMode:
    """Recent messages and the rolling summary; nothing is distilled."""

    def __init__(
        self, *, database: Database, summaries: SummaryService, window_messages: int
    ) -> None:
        self._database = database
        self._summaries = summaries
        self._usual = window_messages

    @property
    def in_memory(self) -> list[SessionId]:
        """None: what there is to do stands in the database."""
        return []

    async def gather(self, session: Session, entry: NewMessage) -> Gathered:
        """The window, stretched over what is not summarised yet, and the summary."""
        async with self._database.reading() as reader:
            stored = await summaries_table.current(reader, session.id)
            covered = stored.cursor.seq if stored.cursor else NO_SEQ
            size = await _reach(reader, session, covered, self._usual)
            window = await messages_table.latest(
                reader, session.id, from_seq=session.window_seq, limit=size
            )
        slots = Slots(summary=await self._summaries.slot(stored.summary, entry.text))
        return Gathered(
            window=tuple(window), slots=slots, shown=replace(NOTHING_SHOWN, covered=covered)
        )

    def composed(self, session: Session, gathered: Gathered, prompt: Prompt) -> None:
        """Ask for a summary at once where a message is in neither window nor summary."""
        if _leaves(gathered.window, self._usual, prompt.window_from, gathered.shown.covered):
            self._summaries.enqueue(session.id)

    async def keep(self, unit: Unit, number: int, turn: Turn) -> int | None:
        """Archive both messages."""
        await messages_table.append(unit, number, (turn.entry, turn.reply))
        return None

    def settled(self, turn: Turn, mark: int | None) -> None:
        """Nothing is left to do."""

    async def afterwards(self, session: SessionId, moment: Moment) -> None:
        """Nothing is left to do."""

    def holders(self, platform_ids: Sequence[str]) -> set[SessionId]:  # noqa: ARG002
        """None: the archive holds every message."""
        return set()

    async def forget(
        self,
        unit: Unit,  # noqa: ARG002
        session: SessionId,  # noqa: ARG002
        platform_ids: Sequence[str],  # noqa: ARG002
    ) -> int:
        """Nothing is kept in memory."""
        return 0

    async def reset(self, unit: Unit, session: SessionId) -> None:
        """Nothing is kept in memory."""


async def _reach(reader: Reader, session: Session, cursor: Seq, usual: int) -> int:
    """How many of the last messages the window must hold.

    Until a message is summarised it stays in the window, so that nothing is ever in neither;
    but for what stands before `window_seq`: there somebody asked for an empty window.
    """
    behind = Seq(max(cursor, session.window_seq - 1))
    pending = await messages_table.count_after(reader, session.id, seq=behind, most=MOST_PENDING)
    return max(usual, pending)


def _leaves(window: Sequence[Message], usual: int, shown_from: Seq | None, covered: Seq) -> bool:
    """Whether an unsummarised message is outside the usual window, or outside the prompt."""
    inside = [message.seq for message in window[-usual:]]
    first = max(inside[0], shown_from or inside[-1] + 1) if inside else NO_SEQ
    return any(covered < message.seq < first for message in window)
