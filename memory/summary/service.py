"""The rolling summary of each session, kept up to date with its messages (seed 1, "Generate").

Nothing is held across a model call: what was read is saved only if the session still stands as it
did. Each chunk's summary and cursor are saved together, so that a run may end anywhere.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

import structlog

from memory.archive import messages_table
from memory.database.database import Database
from memory.errors import ModelError, ModelMissing, ModelUnreachable, SessionMoved
from memory.language.text import clip, one_line
from memory.ports import Clock, Models
from memory.prompt.prompt import metadata_line
from memory.summary import summaries_table
from memory.summary.chunks import Chunk, PendingMessage, conversations, next_chunk
from memory.summary.entries import decisions_and_topics, without
from memory.summary.judge import PIECE_CHARS, Item, Judge
from memory.summary.run import Ended, SummaryRun, Tally
from memory.summary.slot import SummarySlot, relevant_part
from memory.summary.summaries_table import Cursor, StoredSummary, SummaryState
from memory.summary.value import Summary
from memory.summary.view import SummaryView, view_of
from memory.summary.writer import AUTO, SummaryWriter
from memory.values import NO_SEQ, Message, Role, Seq, SessionId

log = structlog.get_logger()

READ_MESSAGES = 1_000
"""Messages read at a time; a longer backlog takes several rounds of the same run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    """Where a round begins: everything that it read, at one moment."""

    state: SummaryState
    stored: StoredSummary
    messages: tuple[Message, ...]
    """Behind the cursor, oldest first; with more of them than are read at once, up to a reply."""

    @property
    def cursor(self) -> Cursor:
        return self.stored.cursor or Cursor(seq=NO_SEQ)


class SummaryService:
    """Shows summaries and brings them up to date, each session's by one run at a time."""

    def __init__(
        self,
        *,
        database: Database,
        models: Models,
        clock: Clock,
        zone: tzinfo | None = None,
        language: str = AUTO,
    ) -> None:
        """`language` names the one to write in; `auto` follows the conversation."""
        self._database = database
        self._writer = SummaryWriter(models.summary, language=language)
        self._judge = Judge(models.decision)
        self._clock = clock
        self._zone = zone
        self._queued: OrderedDict[SessionId, None] = OrderedDict()
        self._added = asyncio.Event()
        self._running: dict[SessionId, asyncio.Event] = {}

    async def slot(self, summary: Summary, request: str) -> SummarySlot:
        """What the prompt says of a summary, for a request. May ask the decision model (5 s)."""
        return SummarySlot(summary=await relevant_part(self._judge, summary, request))

    async def view(self, session: SessionId) -> SummaryView:
        """The summary as it is shown to its people."""
        async with self._database.reading() as reader:
            return await view_of(reader, session)

    def enqueue(self, session: SessionId) -> None:
        """Ask for a session to be summarised at once; asking twice is asking once."""
        self._queued[session] = None
        self._added.set()

    async def next_queued(self) -> SessionId:
        """The session that was asked for first; waits until one is."""
        while not self._queued:
            self._added.clear()
            await self._added.wait()
        session, _ = self._queued.popitem(last=False)
        return session

    async def due(self) -> list[SessionId]:
        """Sessions with messages that no summary covers; `temp-` ones never are."""
        async with self._database.reading() as reader:
            return await summaries_table.due(reader)

    async def refresh(self, session: SessionId) -> SummaryRun:
        """Cover everything behind the cursor, as far as it goes; a run under way is waited for.

        Raises:
            StoreError: the database could not do it; what was saved before stands.
        """
        while (running := self._running.get(session)) is not None:
            await running.wait()
        done = self._running[session] = asyncio.Event()
        try:
            return await self._run(session)
        finally:
            del self._running[session]
            done.set()

    async def _run(self, session: SessionId) -> SummaryRun:
        tally, reached = Tally(), None
        try:
            while (begun := await self._begin(session)) is not None:
                if begun.cursor == reached:  # what was saved cannot be read back
                    log.error("summary.stuck", session=session)
                    return tally.ended(Ended.FAILED)
                reached = begun.cursor
                if begun.stored.cursor is None and begun.stored.summary:
                    await self._adopt(session, begun)
                    return tally.ended(Ended.ADOPTED)
                await self._round(session, begun, tally)
        except SessionMoved:
            return tally.ended(Ended.MOVED)
        except ModelError as error:
            log.warning("summary.failed", session=session, error=type(error).__name__)
            absent = isinstance(error, ModelUnreachable | ModelMissing)
            return tally.ended(Ended.NO_MODEL if absent else Ended.FAILED)
        return tally.ended(Ended.UP_TO_DATE)

    async def _begin(self, session: SessionId) -> _Round | None:
        """Read what a round needs; None when nothing is left to do."""
        async with self._database.reading() as reader:
            state = await summaries_table.state(reader, session)
            stored = await summaries_table.current(reader, session)
            seq = stored.cursor.seq if stored.cursor else NO_SEQ
            found = await messages_table.after(reader, session, seq=seq, limit=READ_MESSAGES)
        if state is not None and found:
            messages = _up_to_a_reply(found) if len(found) == READ_MESSAGES else found
            return _Round(state=state, stored=stored, messages=tuple(messages))
        if state is not None:
            async with self._database.unit() as unit:
                await summaries_table.settle(unit, session, cursor=Cursor(seq=seq))
        return None

    async def _adopt(self, session: SessionId, begun: _Round) -> None:
        """Step 1: let a summary that came without a cursor cover everything there is."""
        async with self._database.unit() as unit:
            newest = await messages_table.last_seq(unit, session)
            await summaries_table.save(
                unit,
                session,
                summary=begun.stored.summary,
                cursor=Cursor(seq=newest),
                expected=begun.state,
                now_ns=self._clock.now_ns(),
            )

    async def _round(self, session: SessionId, begun: _Round, tally: Tally) -> None:
        """Steps 2 to 5 over what was read."""
        kept, notes = await self._judged(begun, tally)
        rest = self._records(kept, begun)
        end = begun.messages[-1].seq
        state = begun.state
        if not rest:
            await self._save(session, notes, Cursor(seq=end), state)
        while rest:
            plan = await self._writer.plan(notes)
            chunk = next_chunk(rest, plan.capacity)
            tally.called()
            notes = await self._writer.write(plan, chunk)
            state = await self._save(session, notes, _covered(chunk, end), state)
            tally.saved(chunk)
            rest = chunk.rest
        tally.left_out(len(begun.messages) - len(kept))

    async def _judged(self, begun: _Round, tally: Tally) -> tuple[list[Message], Summary]:
        """Step 2: the messages worth summarising, and the summary without what they overturn."""
        summary = begun.stored.summary
        if not self._judge.present:
            return list(begun.messages), summary
        groups = dict(enumerate(conversations(begun.messages), 1))
        noise = await self._judge.noise(self._items(groups))
        kept = {number: group for number, group in groups.items() if number not in noise.ids}
        entries = [Item(id=n, text=text) for n, text in decisions_and_topics(summary).items()]
        overturned = await self._judge.superseded(entries, self._items(kept))
        tally.judged(noise.calls + overturned.calls)
        messages = [message for group in kept.values() for message in group]
        return messages, without(summary, overturned.ids)

    def _items(self, groups: Mapping[int, Sequence[Message]]) -> list[Item]:
        """Conversations as the decision model reads them: the start of each message."""
        return [
            Item(
                id=number,
                text="\n".join(
                    f"{metadata_line(message, self._zone)} "
                    f"{clip(one_line(message.text), PIECE_CHARS)}"
                    for message in group
                ),
            )
            for number, group in groups.items()
        ]

    def _records(self, messages: Sequence[Message], begun: _Round) -> tuple[PendingMessage, ...]:
        """As the summary model reads them, without what of the first one is covered already."""
        first, covered_chars = begun.messages[0].seq, begun.cursor.chars
        records = []
        for message in messages:
            read = covered_chars if message.seq == first else 0
            record = PendingMessage(
                seq=message.seq,
                role=message.role,
                head=metadata_line(message, self._zone),
                text=message.text[read:],
                read_chars=read,
            )
            records.append(record)
        return tuple(records)

    async def _save(
        self, session: SessionId, summary: Summary, cursor: Cursor, expected: SummaryState
    ) -> SummaryState:
        async with self._database.unit() as unit:
            return await summaries_table.save(
                unit,
                session,
                summary=summary,
                cursor=cursor,
                expected=expected,
                now_ns=self._clock.now_ns(),
            )


def _up_to_a_reply(messages: list[Message]) -> list[Message]:
    """Without the user messages at the end, whose replies are not among them yet."""
    end = len(messages)
    while end and messages[end - 1].role is Role.USER:
        end -= 1
    return messages[:end] or messages


def _covered(chunk: Chunk, end: Seq) -> Cursor:
    """How far the summary reaches once a chunk is in it.

    Noise is passed where it lies before the chunk's last message, and with the last chunk of a
    round to its `end`.
    """
    if not chunk.rest:
        return Cursor(seq=end)
    following = chunk.rest[0]
    if following.read_chars:
        return Cursor(seq=Seq(following.seq - 1), chars=following.read_chars)
    return Cursor(seq=chunk.messages[-1].seq)
