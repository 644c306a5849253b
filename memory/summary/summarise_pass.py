"""The pass that rolls messages behind the cursor into the session's summary (seed 1, "Generate").

Nothing is held across a model call: what was read is saved only if the session still stands as it
did. Each chunk's summary and cursor are saved together, so that a run may end anywhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

import structlog

from memory.archive import messages_table
from memory.database.database import Database
from memory.errors import ModelError, ModelMissing, ModelUnreachable, SessionMoved
from memory.language.text import clip, one_line
from memory.ports import ChatModel, Clock
from memory.prompt.prompt import metadata_line
from memory.summary import summaries_table
from memory.summary.chunks import Chunk, Record, conversations, next_chunk
from memory.summary.entries import decisions_and_topics, without
from memory.summary.judge import PIECE_CHARS, Item, Judge
from memory.summary.run import Ended, Progress, SummaryRun, unwatched
from memory.summary.summaries_table import Cursor, Standing, StoredSummary
from memory.summary.value import Summary
from memory.summary.writer import AUTO, Scribe
from memory.values import NO_SEQ, Message, Role, Seq, SessionId

log = structlog.get_logger()

READ_MESSAGES = 1_000
"""Messages read at a time; a longer backlog takes several rounds of the same run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    """Where a round begins: everything that it read, at one moment."""

    standing: Standing
    stored: StoredSummary
    messages: tuple[Message, ...]
    """Behind the cursor, oldest first; with more of them than are read at once, up to a reply."""

    @property
    def cursor(self) -> Cursor:
        return self.stored.cursor or Cursor(seq=NO_SEQ)


class _Tally:
    """Counts what a run does, and tells who watches."""

    def __init__(self, progress: Progress) -> None:
        self._run = SummaryRun()
        self._progress = progress

    def asked(self) -> None:
        self._run = replace(self._run, calls=self._run.calls + 1)

    def judged(self, calls: int) -> None:
        self._run = replace(self._run, judgements=self._run.judgements + calls)

    def left_out(self, messages: int) -> None:
        self._run = replace(self._run, noise=self._run.noise + messages)

    def saved(self, chunk: Chunk) -> None:
        """A record that goes on in the next chunk is counted there."""
        split = bool(chunk.rest) and chunk.rest[0].seq == chunk.records[-1].seq
        self._run = replace(
            self._run,
            chunks=self._run.chunks + 1,
            messages=self._run.messages + len(chunk.records) - split,
        )
        self._progress(self._run)

    def ended(self, how: Ended) -> SummaryRun:
        return replace(self._run, ended=how)


class Summariser:
    """Brings summaries up to date, one session at a time."""

    def __init__(
        self,
        *,
        database: Database,
        model: ChatModel,
        judge: Judge,
        clock: Clock,
        zone: tzinfo | None = None,
        language: str = AUTO,
    ) -> None:
        """`language` names the one to write in; `auto` follows the conversation."""
        self._database = database
        self._scribe = Scribe(model, language=language)
        self._judge = judge
        self._clock = clock
        self._zone = zone

    async def run(self, session: SessionId, progress: Progress = unwatched) -> SummaryRun:
        """Cover everything behind the cursor, as far as it goes.

        Raises:
            StoreError: the database could not do it; what was saved before stands.
        """
        tally, reached = _Tally(progress), None
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
            standing = await summaries_table.standing(reader, session)
            stored = await summaries_table.current(reader, session)
            seq = stored.cursor.seq if stored.cursor else NO_SEQ
            found = await messages_table.after(reader, session, seq=seq, limit=READ_MESSAGES)
        if standing is not None and found:
            messages = _up_to_a_reply(found) if len(found) == READ_MESSAGES else found
            return _Round(standing=standing, stored=stored, messages=tuple(messages))
        if standing is not None:
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
                expected=begun.standing,
                now_ns=self._clock.now_ns(),
            )

    async def _round(self, session: SessionId, begun: _Round, tally: _Tally) -> None:
        """Steps 2 to 5 over what was read."""
        kept, notes = await self._judged(begun, tally)
        rest = self._records(kept, begun)
        end = begun.messages[-1].seq
        standing = begun.standing
        if not rest:
            await self._save(session, notes, Cursor(seq=end), standing)
        while rest:
            plan = await self._scribe.plan(notes)
            chunk = next_chunk(rest, plan.room)
            tally.asked()
            notes = await self._scribe.write(plan, chunk)
            standing = await self._save(session, notes, _covered(chunk, end), standing)
            tally.saved(chunk)
            rest = chunk.rest
        tally.left_out(len(begun.messages) - len(kept))

    async def _judged(self, begun: _Round, tally: _Tally) -> tuple[list[Message], Summary]:
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

    def _records(self, messages: Sequence[Message], begun: _Round) -> tuple[Record, ...]:
        """As the summary model reads them, without what of the first one is covered already."""
        first, covered_chars = begun.messages[0].seq, begun.cursor.chars
        records = []
        for message in messages:
            read = covered_chars if message.seq == first else 0
            record = Record(
                seq=message.seq,
                role=message.role,
                head=metadata_line(message, self._zone),
                text=message.text[read:],
                read_chars=read,
            )
            records.append(record)
        return tuple(records)

    async def _save(
        self, session: SessionId, summary: Summary, cursor: Cursor, expected: Standing
    ) -> Standing:
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
    return Cursor(seq=chunk.records[-1].seq)
