"""The front door of memory: it composes what the model sees and keeps what was said."""

from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from memory import resetting
from memory.backdrop import Backdrop
from memory.database import Database, Unit
from memory.errors import SessionMoved
from memory.ports import Clock, Models
from memory.prompt import Parts, Prompt, Slots, assemble
from memory.resetting import ResetReport, SessionFacts
from memory.rolling import RollingSummary
from memory.settings import MemorySettings
from memory.stores import archive, sessions
from memory.summary_run import Ended
from memory.tokens import TokenMeter
from memory.values import NO_SEQ, Message, NewMessage, Seq, Session, SessionId

_WINDOW_STARTS = 1_000
"""Sessions whose window start is remembered; it only saves time, so forgetting one is harmless."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A prompt, with what is needed to save the turn that it leads to."""

    prompt: Prompt
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A user message and its reply."""

    session: SessionId
    title: str
    epoch: int
    """As it stood when the prompt was composed."""
    entry: NewMessage
    reply: NewMessage


class Engine:
    """Memory for all sessions. Made by `open_engine`."""

    def __init__(
        self,
        *,
        database: Database,
        models: Models,
        backdrop: Backdrop,
        settings: MemorySettings,
        clock: Clock,
        zone: tzinfo | None,
    ) -> None:
        self._database = database
        self._models = models
        self._backdrop = backdrop
        self._settings = settings
        self._clock = clock
        self._zone = zone
        self.summaries = RollingSummary(
            database=database,
            models=models,
            clock=clock,
            zone=zone,
            language=settings.reply_lang,
        )
        """The rolling summaries: what is due, refreshing, viewing."""
        self._meter = TokenMeter()
        self._window_starts: OrderedDict[SessionId, Seq] = OrderedDict()

    async def compose(self, session: SessionId, entry: NewMessage) -> Composed:
        """The prompt that answers `entry`. Reads only.

        Raises:
            PromptTooLong: the message does not fit the model by itself.
            BackdropUnreadable: `SOUL.md` or `MEMORY.md` cannot be used.
            ModelError: the chat model cannot be asked for its limits.
        """
        limits = await self._models.chat.limits()
        system = await self._backdrop.system()
        async with self._database.reading() as reader:
            known = await sessions.find(reader, session) or _unknown(session)
            stored = await self.summaries.stored(reader, session)
            covered = stored.cursor.seq if stored.cursor else NO_SEQ
            usual = self._settings.window_messages
            size = await self.summaries.window_size(reader, known, covered, usual)
            window = await archive.latest(reader, session, from_seq=known.window_seq, limit=size)
        slots = Slots(summary=await self.summaries.slot(stored.summary, entry.text))
        parts = Parts(
            system=system,
            window=tuple(window),
            slots=slots,
            entry=entry,
            now_ns=self._clock.now_ns(),
            zone=self._zone,
            kept_from=self._window_starts.get(session),
        )
        prompt = assemble(parts, limits, self._meter)
        self._remember_start(session, prompt.window_from)
        if _leaves(window, usual, prompt.window_from, covered):
            self.summaries.want(session)
        return Composed(prompt=prompt, epoch=known.epoch)

    def _remember_start(self, session: SessionId, seq: Seq | None) -> None:
        self._window_starts.pop(session, None)
        if seq is not None:
            self._window_starts[session] = seq
        while len(self._window_starts) > _WINDOW_STARTS:
            self._window_starts.popitem(last=False)

    def learn_tokens(self, prompt: Prompt, reported_tokens: int | None) -> None:
        """Correct the token estimate by what the model counted for a prompt."""
        self._meter.learn(estimated_tokens=prompt.tokens, reported_tokens=reported_tokens)

    @asynccontextmanager
    async def unit(self) -> AsyncIterator[Unit]:
        """The transaction that ends a turn; `observe` joins it."""
        async with self._database.unit() as unit:
            yield unit

    async def observe(self, unit: Unit, turn: Turn) -> None:
        """Keep a turn, as part of the caller's transaction.

        Raises:
            SessionMoved: the session was reset since the prompt was composed.
        """
        number, epoch = await sessions.touch(
            unit, turn.session, title=turn.title, now_ns=turn.reply.sent_at_ns
        )
        if epoch != turn.epoch:
            raise SessionMoved("the conversation was reset while the answer was being written")
        await archive.append(unit, number, (turn.entry, turn.reply))

    async def begin_window(self, session: SessionId) -> None:
        """Let the next turn start with an empty window; nothing is deleted."""
        async with self._database.unit() as unit:
            await sessions.begin_window(unit, session)
        self.summaries.want(session)

    async def summarise(self, session: SessionId) -> bool:
        """Bring the summary up to date now; whether it covers everything."""
        run = await self.summaries.refresh(session)
        return run.ended in (Ended.UP_TO_DATE, Ended.ADOPTED)

    async def reset(self, session: SessionId, *, everything: bool) -> ResetReport:
        """Clear a conversation; the summary and the long pool only if `everything` goes."""
        async with self._database.unit() as unit:
            report = await resetting.reset(
                unit, session, everything=everything, now_ns=self._clock.now_ns()
            )
        self._window_starts.pop(session, None)
        return report

    async def inspect(self, session: SessionId) -> SessionFacts | None:
        """Figures about a conversation; None while nothing was ever stored for it."""
        async with self._database.reading() as reader:
            return await resetting.facts(reader, session)

    async def sessions(self) -> list[Session]:
        """All conversations, the last used first."""
        async with self._database.reading() as reader:
            return await sessions.every(reader)

    async def sweep_temporary(self, *, idle_s: float) -> int:
        """Remove `temp-` sessions that have been idle for so long; how many."""
        before_ns = self._clock.now_ns() - int(idle_s * 1_000_000_000)
        async with self._database.unit() as unit:
            idle = await sessions.idle_temporary(unit, before_ns=before_ns)
            for session in idle:
                await sessions.remove(unit, session)
        return len(idle)


def _unknown(session: SessionId) -> Session:
    """A session for which nothing was ever stored."""
    return Session(
        id=session,
        title="",
        epoch=0,
        start_seq=NO_SEQ,
        window_seq=NO_SEQ,
        created_at_ns=0,
        active_at_ns=0,
    )


def _leaves(window: Sequence[Message], usual: int, shown_from: Seq | None, covered: Seq) -> bool:
    """Whether an unsummarised message is outside the usual window, or outside the prompt."""
    inside = [message.seq for message in window[-usual:]]
    first = max(inside[0], shown_from or inside[-1] + 1) if inside else NO_SEQ
    return any(covered < message.seq < first for message in window)


@asynccontextmanager
async def open_engine(
    *,
    database: Database,
    models: Models,
    directory: Path,
    settings: MemorySettings,
    clock: Clock,
    zone: tzinfo | None = None,
) -> AsyncIterator[Engine]:
    """Memory over a database that is open, with the backdrop files of a data directory."""
    yield Engine(
        database=database,
        models=models,
        backdrop=Backdrop(directory, limit_chars=settings.backdrop_chars),
        settings=settings,
        clock=clock,
        zone=zone,
    )
