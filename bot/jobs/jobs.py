"""What is done now and then: which jobs there are, and what each does."""

import asyncio
from collections.abc import Awaitable, Coroutine, Iterator
from typing import Any, Protocol, TypeVar

import structlog

from bot.delivery.delivery import Delivery
from bot.jobs.schedule import COMPACT, FORGET_IDS, SCHEDULE, SUMMARISE, SWEEP, TOOLS
from bot.jobs.scheduler import Job, Report, Work
from memory.engine import Engine
from memory.errors import KithError
from memory.recall.search import Backlog
from memory.summary.run import Ended, SummaryRun
from memory.tool_errors.error_memory import ErrorMemory
from memory.tool_errors.run_log import RunLog
from memory.values import SessionId

log = structlog.get_logger()

T = TypeVar("T")

PARALLEL = 4
"""Sessions summarised at once. Calls are bounded at the model anyway; this bounds what is read
from the database for them, and lets one session's saving go on while another's call waits."""
RETRY_EMBEDDING_S = 60.0
"""How long to leave an embedding model alone that has failed."""
TEMPORARY_IDLE_S = 30 * 60.0
"""How long a `temp-` session may be idle (seed 1)."""


class Summaries(Protocol):
    """What the jobs need of the rolling summaries."""

    async def due(self) -> list[SessionId]:
        """Sessions with messages that no summary covers."""
        ...

    async def refresh(self, session: SessionId) -> SummaryRun:
        """Bring one up to date."""
        ...

    async def next_queued(self) -> SessionId:
        """The next session to be summarised at once; waits for one."""
        ...


def all_jobs(engine: Engine) -> tuple[Job, ...]:
    """Every job of the service."""

    async def summarise(report: Report) -> str:
        return await summarise_due(engine.summaries, report)

    async def sweep(_report: Report) -> str:
        swept = await engine.sweep_temporary(idle_s=TEMPORARY_IDLE_S)
        return f"{swept} temporary sessions removed"

    async def compact(_report: Report) -> str:
        return f"{await engine.compact()} histories compacted"

    return (
        _job(SUMMARISE, summarise, jitter_s=20.0),
        _job(SWEEP, sweep),
        _job(COMPACT, compact),
    )


def forget_ids_job(delivery: Delivery) -> Job:
    """The job that deletes the ids of messages that no platform will repeat any more."""

    async def forget(_report: Report) -> str:
        await delivery.sweep()
        return "old ids removed"

    return _job(FORGET_IDS, forget)


def tool_upkeep(errors: ErrorMemory, runs: RunLog) -> Job:
    """The job that ends what has expired of the tools' memories, and embeds what waits for it."""

    async def work(_report: Report) -> str:
        expired, old = await errors.sweep(), await runs.sweep()
        embedded = await errors.catch_up()
        return f"{expired} error records expired, {old} tool runs, {embedded} records embedded"

    return _job(TOOLS, work)


def _job(name: str, work: Work, *, jitter_s: float = 0.0) -> Job:
    return Job(name=name, schedule=SCHEDULE[name], work=work, jitter_s=jitter_s)


async def summarise_due(summaries: Summaries, report: Report, *, parallel: int = PARALLEL) -> str:
    """Summarise every session that has something new; what came of it, in numbers.

    It ends early when there is no model to be had: the next tick tries again.

    Raises:
        StoreError: the list of sessions cannot be read.
    """
    due = await summaries.due()
    tick = _Tick(summaries, due, report)
    async with asyncio.TaskGroup() as workers:
        for _ in range(min(parallel, len(due))):
            workers.create_task(tick.work())
    return tick.outcome()


class _Tick:
    """One round over the due sessions, shared by its workers."""

    def __init__(self, summaries: Summaries, due: list[SessionId], report: Report) -> None:
        self._summaries = summaries
        self._left: Iterator[SessionId] = iter(due)
        self._total = len(due)
        self._report = report
        self._done = self._failed = self._chunks = 0
        self._absent = False

    async def work(self) -> None:
        """Take one session after the other until none is left or no model is there."""
        for session in self._left:
            run = await self._summarised(session)
            self._done += 1
            self._chunks += run.chunks if run else 0
            self._failed += run is None or run.ended in {Ended.FAILED, Ended.NO_MODEL}
            self._report(self._done, self._total)
            if self._absent or (run and run.ended is Ended.NO_MODEL):
                self._absent = True
                return

    async def _summarised(self, session: SessionId) -> SummaryRun | None:
        try:
            return await self._summaries.refresh(session)
        except KithError as error:
            log.warning("summary.not_saved", session=session, error=type(error).__name__)
            return None

    def outcome(self) -> str:
        """What came of it."""
        tail = ", no model to be had" if self._absent else ""
        return (
            f"{self._done} of {self._total} sessions, {self._chunks} chunks,"
            f" {self._failed} failed{tail}"
        )


async def follow_queue(summaries: Summaries) -> None:
    """Summarise at once what the window could not hold any longer; until cancelled."""
    while True:
        session = await summaries.next_queued()
        try:
            run = await summaries.refresh(session)
        except KithError as error:
            log.warning("summary.not_saved", session=session, error=type(error).__name__)
        else:
            log.info("summary.refreshed", session=session, ended=run.ended.value, calls=run.calls)


class Embedding(Protocol):
    """What the chores need of search."""

    def request(self) -> None:
        """Ask for another run."""
        ...

    async def requested(self) -> None:
        """Wait until there may be something to embed."""
        ...

    async def catch_up(self) -> Backlog:
        """Embed what waits; what is left."""
        ...


async def follow_backlog(search: Embedding) -> None:
    """Embed messages soon after they are stored, again later where a model is down; until cancelled."""
    while True:
        await search.requested()
        try:
            left = await search.catch_up()
        except KithError as error:
            log.warning("vectors.not_saved", error=type(error).__name__)
            continue
        if left.waiting and left.keyword_only:
            log.info("vectors.waiting", waiting=left.waiting, error=left.keyword_only)
            await asyncio.sleep(RETRY_EMBEDDING_S)
            search.request()


async def alongside(work: Awaitable[T], *chores: Coroutine[Any, Any, None]) -> T:
    """The result of `work`, while the chores run in the background; they end with it.

    Raises:
        KithError: what `work` raised, as it is.
        OSError: the same; whoever read our output may have left.
    """
    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(chore) for chore in chores]
        try:
            result: T | KithError | OSError = await work
        except (KithError, OSError) as error:
            result = error
        finally:
            for task in running:
                task.cancel()
    if isinstance(result, KithError | OSError):
        raise result
    return result
