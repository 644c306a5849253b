"""The interface of memory: it composes what the model sees and keeps what was said."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path
from typing import TypeVar

from memory.database import sessions_table
from memory.database.database import Database, Unit
from memory.errors import SessionMoved
from memory.keeping import resetting
from memory.keeping.clearing import Clearing
from memory.keeping.compaction import Compacted, Compactor
from memory.keeping.corrections import Corrector
from memory.keeping.resetting import ResetReport, SessionFacts
from memory.language import segments, taiwan
from memory.modes.afterwork import Afterwork
from memory.modes.assembly import all_modes
from memory.pools.service import PoolService
from memory.ports import Clock, ModelLimits, Models
from memory.prompt.backdrop import Backdrop
from memory.prompt.prompt import Parts, Prompt, assemble
from memory.prompt.tokens import TokenMeter
from memory.recall.search import Search, open_search
from memory.settings import MemorySettings
from memory.summary.run import Ended
from memory.summary.service import SummaryService
from memory.values import (
    NOTHING_SHOWN,
    Mode,
    NewMessage,
    Seq,
    Session,
    SessionId,
    Shown,
    Turn,
)

_REMEMBERED = 1_000
"""Sessions whose window start and last notes are remembered in memory; forgetting one is harmless."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A prompt, with what is needed to save the turn that it leads to."""

    prompt: Prompt
    epoch: int
    shown: Shown


class Engine:
    """Memory for all sessions. Made by `open_engine`.

    It hands on: `search` (finding messages again), `summaries` (what is due, refreshing, viewing),
    `pools` (as people use them), `afterwork` (what is done after a reply was sent), `clearing`
    (switches of the mode, removals), `corrections` (messages that were edited or deleted).
    """

    def __init__(
        self,
        *,
        database: Database,
        models: Models,
        backdrop: Backdrop,
        settings: MemorySettings,
        clock: Clock,
        zone: tzinfo | None,
        search: Search,
    ) -> None:
        self._database = database
        self._models = models
        self._backdrop = backdrop
        self._clock = clock
        self._zone = zone
        self._meter = TokenMeter()
        self._window_starts: OrderedDict[SessionId, Seq | None] = OrderedDict()
        self._shown: OrderedDict[SessionId, Shown] = OrderedDict()
        self.search = search
        language = settings.reply_lang
        self.summaries = SummaryService(
            database=database, models=models, clock=clock, zone=zone, language=language
        )
        self._compactor = Compactor(database=database, limit_bytes=settings.max_history_bytes)
        self.pools = PoolService(database=database, clock=clock)
        self._modes = all_modes(
            database=database,
            models=models,
            settings=settings,
            zone=zone,
            summaries=self.summaries,
            recall=search.recall,
        )
        every, pooled = self._modes.every, settings.pools
        self.afterwork = Afterwork(database=database, modes=every, models=models, settings=pooled)
        self.corrections = Corrector(database=database, modes=every)
        self.clearing = Clearing(database=database, modes=self._modes, clock=clock)

    async def resume(self) -> None:
        """Read what stands from earlier, once, before anything else."""
        async with self._database.reading() as reader:
            await self._modes.load(reader)
        await self.afterwork.resume()

    def mode_of(self, session: SessionId, default: Mode) -> Mode:
        """The memory of a session; `default` is the configuration's for its place."""
        return self._modes.mode_of(session, default)

    async def compose(
        self,
        session: SessionId,
        entry: NewMessage,
        *,
        mode: Mode = Mode.FULL,
        reserved_tokens: int = 0,
    ) -> Composed:
        """The prompt that answers `entry` by the memory `mode`. Reads only.

        `reserved_tokens` of the context are left to the caller, for its tools.

        Raises:
            PromptTooLong: the message does not fit the model by itself.
            BackdropUnreadable: `SOUL.md` or `MEMORY.md` cannot be used.
            ModelError: the chat model cannot be asked for its limits.
        """
        limits = _less(await self._models.chat.limits(), reserved_tokens)
        system = await self._backdrop.system(session)
        async with self._database.reading() as reader:
            known = await sessions_table.find(reader, session) or sessions_table.unknown(session)
        memory = self._modes[mode]
        gathered = await memory.gather(known, entry)
        parts = Parts(
            system=system,
            window=gathered.window,
            slots=gathered.slots,
            entry=entry,
            now_ns=self._clock.now_ns(),
            zone=self._zone,
            kept_from=self._window_starts.get(session),
        )
        prompt = assemble(parts, limits, self._meter)
        _remember(self._window_starts, session, prompt.window_from)
        _remember(self._shown, session, gathered.shown)
        memory.composed(known, gathered, prompt)
        return Composed(prompt=prompt, epoch=known.epoch, shown=gathered.shown)

    def last_shown(self, session: SessionId) -> Shown:
        """What of memory the session's last prompt showed."""
        return self._shown.get(session, NOTHING_SHOWN)

    def count_tokens(self, text: str) -> int:
        """About how many tokens the chat model makes of a text."""
        return self._meter.count(text)

    def learn_tokens(self, prompt: Prompt, reported_tokens: int | None) -> None:
        """Correct the token estimate by what the model counted for a prompt."""
        self._meter.learn(estimated_tokens=prompt.tokens, reported_tokens=reported_tokens)

    @asynccontextmanager
    async def unit(self) -> AsyncIterator[Unit]:
        """The transaction that ends a turn; `observe` joins it."""
        async with self._database.unit() as unit:
            yield unit

    async def observe(self, unit: Unit, turn: Turn) -> int | None:
        """Keep a turn, as part of the caller's transaction; its mark for `settled`.

        Raises:
            SessionMoved: the session was reset since the prompt was composed, or its memory was
                switched since the turn's was decided: what began as `full` must not be written
                where `pools` holds by now.
        """
        number, epoch = await sessions_table.touch(
            unit, turn.session, title=turn.title, now_ns=turn.reply.sent_at_ns
        )
        if epoch != turn.epoch or self.mode_of(turn.session, turn.mode) is not turn.mode:
            raise SessionMoved("the conversation was reset while the answer was being written")
        return await self._modes[turn.mode].keep(unit, number, turn)

    def settled(self, turn: Turn, mark: int | None) -> None:
        """The transaction that kept a turn is through; the rest is done after the send."""
        self._modes[turn.mode].settled(turn, mark)
        if turn.mode is not Mode.POOLS:
            self.search.request()
        if turn.mode is not Mode.WINDOW:
            self.afterwork.enqueue(turn.session)

    async def begin_window(self, session: SessionId) -> None:
        """Let the next turn start with an empty window; nothing is deleted.

        Messages that no summary covers yet leave it too, as was asked for. Until the run that this
        wants is done, they are in no prompt, unless mode `full` recalls them.
        """
        async with self._database.unit() as unit:
            await sessions_table.begin_window(unit, session)
        self.summaries.enqueue(session)

    async def summarise(self, session: SessionId) -> bool:
        """Bring the summary up to date now; whether it covers everything."""
        run = await self.summaries.refresh(session)
        return run.ended in (Ended.UP_TO_DATE, Ended.ADOPTED)

    async def compact(self) -> int:
        """Move the cutoff of every session that has grown too big; how many were moved.

        One whose oldest messages are not summarised yet is summarised first, and waits till then.

        Raises:
            StoreError: the database could not do it; what was moved stays.
        """
        moved = 0
        for session in await self._compactor.due():
            outcome = await self._compactor.run(session)
            moved += outcome is Compacted.MOVED
            if outcome is Compacted.UNSUMMARISED:
                self.summaries.enqueue(session)
        return moved

    async def reset(self, session: SessionId, *, everything: bool) -> ResetReport:
        """Clear a conversation; the summary and the long pool only if `everything` goes."""
        report = await self.clearing.reset(session, everything=everything)
        self._window_starts.pop(session, None)
        self._shown.pop(session, None)
        return report

    async def inspect(self, session: SessionId) -> SessionFacts | None:
        """Figures about a conversation; None while nothing was ever stored for it."""
        async with self._database.reading() as reader:
            return await resetting.facts(reader, session)

    async def sessions(self) -> list[Session]:
        """All conversations, the last used first."""
        async with self._database.reading() as reader:
            return await resetting.conversations(reader)

    async def sweep_temporary(self, *, idle_s: float) -> int:
        """Remove `temp-` sessions that have been idle for so long; how many."""
        return await self.clearing.sweep_temporary(idle_s=idle_s)


def _less(limits: ModelLimits, tokens: int) -> ModelLimits:
    """The limits of a model of whose context a part is taken."""
    return replace(
        limits,
        context_tokens=limits.context_tokens - tokens,
        prompt_tokens=limits.prompt_tokens - tokens,
    )


_Value = TypeVar("_Value")


def _remember(held: OrderedDict[SessionId, _Value], session: SessionId, value: _Value) -> None:
    """Hold a value of a session, and drop those not used for longest."""
    held.pop(session, None)
    held[session] = value
    while len(held) > _REMEMBERED:
        held.popitem(last=False)


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
    async with open_search(
        database=database, embedder=models.embed, settings=settings.recall, zone=zone
    ) as search:
        engine = Engine(
            database=database,
            models=models,
            backdrop=Backdrop(directory, limit_chars=settings.backdrop_chars),
            settings=settings,
            clock=clock,
            zone=zone,
            search=search,
        )
        await engine.resume()
        await asyncio.to_thread(taiwan.load)
        await asyncio.to_thread(segments.load)
        yield engine
