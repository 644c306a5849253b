"""Mode `full`: the window, the summary, recall and the pools together; the transcript is kept."""

from collections.abc import Sequence
from dataclasses import replace

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import Database, Unit
from memory.errors import ModelError
from memory.modes.interface import Gathered
from memory.modes.window import WindowMode
from memory.pools import queue_table
from memory.pools.deconstruct_pass import Deconstructor, SourceTurn, worth_distilling
from memory.pools.entry import Source, SourceKind
from memory.pools.slot import PoolSlot
from memory.prompt.prompt import Prompt
from memory.recall.slot import RecallSlot
from memory.values import TEMPORARY, Moment, NewMessage, Role, Session, SessionId, Turn

MARKS_AT_ONCE = 50
"""Turns distilled in one go; more take another."""
MARKS_GATHERED = 4
"""Turns gathered while people write. The window holds them word for word, so their facts are not
missed yet; and each call between two replies pushes the conversation out of a small server's one
prompt cache: distilling after every turn costs 650 tokens a turn to read again (measured)."""
MOST_ATTEMPTS = 5
"""Failures after which a turn is given up: its text is in the archive, where recall finds it."""


class FullMode:
    """Everything."""

    def __init__(
        self,
        *,
        database: Database,
        window: WindowMode,
        slot: PoolSlot,
        deconstructor: Deconstructor,
        recalling: RecallSlot,
    ) -> None:
        self._database = database
        self._window = window
        self._slot = slot
        self._deconstructor = deconstructor
        self._recalling = recalling

    @property
    def in_memory(self) -> list[SessionId]:
        """None: what there is to do stands in the database."""
        return []

    async def gather(self, session: Session, entry: NewMessage) -> Gathered:
        """Window and summary, what was found again, and a fixed number of facts."""
        gathered = await self._window.gather(session, entry)
        facts = await self._slot.gather(session.id, entry)
        recalled = await self._recalling.gather(session, entry, gathered.window)
        seqs = tuple(snippet.message.seq for snippet in recalled.snippets)
        shown = replace(facts.shown, covered=gathered.shown.covered, snippets=seqs)
        slots = replace(gathered.slots, pool=facts.lines, recalled=recalled)
        return replace(gathered, slots=slots, shown=shown)

    def composed(self, session: Session, gathered: Gathered, prompt: Prompt) -> None:
        """Ask for a summary at once where a message is in neither window nor summary."""
        self._window.composed(session, gathered, prompt)

    async def keep(self, unit: Unit, number: int, turn: Turn) -> int | None:
        """Archive both messages, with a mark that they are to be distilled."""
        [seq, _] = await messages_table.append(unit, number, (turn.entry, turn.reply))
        if (
            turn.entry.speaker is None
            or turn.session.startswith(TEMPORARY)
            or not worth_distilling(turn.entry.text)
            or (await queue_table.state(unit, turn.session)).paused
        ):
            return None
        return await queue_table.mark(unit, turn.session, seq=seq, group=turn.group)

    def settled(self, turn: Turn, mark: int | None) -> None:
        """Nothing is kept in memory: the mark and the archive are enough."""

    async def afterwards(self, session: SessionId, moment: Moment) -> None:
        """Distil what is marked, oldest first; one that fails stays and is tried again.

        While people write, a few turns are gathered first.
        """
        async with self._database.reading() as reader:
            marks = await queue_table.marks(reader, session, limit=MARKS_AT_ONCE)
        if moment is Moment.TURN and len(marks) < MARKS_GATHERED:
            return
        for mark in marks:
            exchange = await self._exchange(session, mark)
            if exchange is None or mark.attempts >= MOST_ATTEMPTS:
                async with self._database.unit() as unit:
                    await queue_table.done(unit, mark.number)
                continue
            try:
                await self._deconstructor.run(exchange, mark=mark.number, attempt=mark.attempts)
            except ModelError:
                async with self._database.unit() as unit:
                    await queue_table.failed(unit, mark.number)
                raise

    async def _exchange(self, session: SessionId, mark: queue_table.Mark) -> SourceTurn | None:
        """The turn as the archive holds it; None when it is not there any more."""
        async with self._database.reading() as reader:
            standing = await sessions_table.find(reader, session)
            found = await messages_table.exchange(reader, session, seq=mark.seq)
        if standing is None or not found or found[0].speaker is None:
            return None
        entry = found[0]
        reply = found[1].text if len(found) > 1 and found[1].role is Role.ASSISTANT else ""
        return SourceTurn(
            session=session,
            epoch=standing.epoch,
            speaker=found[0].speaker,
            text=entry.text,
            reply=reply,
            said_at_ns=entry.sent_at_ns,
            source=Source(kind=SourceKind.MESSAGE, id=str(entry.seq)),
            group=mark.group,
        )

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
        """Take the marks away."""
        await queue_table.forget(unit, session)
