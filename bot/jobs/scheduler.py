"""Runs jobs when they are due: one task a job, so that none overlaps itself.

Each job has one task in one TaskGroup. A run that comes due while the last one goes on is left
out; one that was missed while the service was down is made up for once, or not at all, as the job
says.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import tzinfo
from enum import StrEnum
from random import Random

import structlog

from bot.errors import JobBusy, UsageError
from bot.jobs.job_log import JobLog, JobOutcome, JobRun
from bot.jobs.job_state import JobState, state_of
from bot.jobs.schedule import Schedule
from memory.errors import KithError
from memory.ports import Clock

log = structlog.get_logger()

Report = Callable[[int, int], None]
"""How far a run is: steps done, steps in all."""
Work = Callable[[Report], Awaitable[str]]
"""Does the job; returns what was done, in numbers, for people."""

LOOK_S = 30.0
"""Longest sleep before the clock is looked at again: it may be set, and machines are suspended."""
LIMIT_S = 6 * 3600.0
"""Longest run of a job."""

_NS = 1_000_000_000
_SAME_RUN_NS = 60 * _NS


class Missed(StrEnum):
    """What becomes of a run that was due while the service was down."""

    ONCE = "once"
    """It is made up for at the start, once however many were missed; a job that never ran runs."""
    SKIP = "skip"
    """It is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Something to do now and then."""

    name: str
    schedule: Schedule
    work: Work
    missed: Missed = Missed.ONCE
    jitter_s: float = 0.0
    """Up to this much later, at random: many machines on one model server do not start as one."""


def unwatched(_done: int, _total: int) -> None:
    """Nobody watches."""


class Scheduler:
    """The jobs of the service."""

    def __init__(
        self,
        jobs: Sequence[Job],
        *,
        job_log: JobLog,
        clock: Clock,
        zone: tzinfo | None,
        random: Random,
    ) -> None:
        self._jobs = {job.name: job for job in jobs}
        self._log = job_log
        self._clock = clock
        self._zone = zone
        self._random = random
        self._running: dict[str, tuple[int, int]] = {}
        self._requested = {job.name: asyncio.Event() for job in jobs}

    async def run(self) -> None:
        """Run every job when it is due, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for job in self._jobs.values():
                tasks.create_task(self._drive(job))
            await asyncio.Event().wait()

    async def run_now(self, name: str, report: Report = unwatched) -> JobRun:
        """Run a job at once, whatever its schedule says; how that went.

        Raises:
            UsageError: there is no such job.
            JobBusy: it is running already.
        """
        return await self._run(self._known(name), report)

    def ask(self, name: str) -> None:
        """Let a job begin now, in its own task; `states` reports how it goes on.

        Raises:
            UsageError: there is no such job.
            JobBusy: it is running already.
        """
        if self._known(name).name in self._running:
            raise JobBusy(f"the job {name!r} is running already")
        self._requested[name].set()

    def _known(self, name: str) -> Job:
        job = self._jobs.get(name)
        if job is None:
            raise UsageError(f"there is no job {name!r}; jobs are: {', '.join(self._jobs)}")
        return job

    async def states(self) -> list[JobState]:
        """Every job with its last run and its next."""
        last = await self._log.last_runs()
        now_ns = self._clock.now_ns()
        return [
            replace(
                state_of(
                    job.name,
                    job.schedule,
                    last=last.get(job.name),
                    now_ns=now_ns,
                    zone=self._zone,
                ),
                running=job.name in self._running,
                steps=self._running.get(job.name, (0, 0)),
            )
            for job in self._jobs.values()
        ]

    async def _drive(self, job: Job) -> None:
        due_ns = await self._first_due(job)
        while True:
            late_ns = int(self._random.uniform(0, job.jitter_s) * _NS)
            await self._sleep_until(due_ns + late_ns, self._requested[job.name])
            if job.name not in self._running:
                await self._run(job, unwatched)
            due_ns = self._next(job, self._reference(due_ns))

    async def _first_due(self, job: Job) -> int:
        """Now, when a run is to be made up for; else its next time."""
        now_ns = self._clock.now_ns()
        if job.missed is Missed.SKIP:
            return self._next(job, now_ns)
        try:
            last = (await self._log.last_runs()).get(job.name)
        except KithError as error:
            log.warning("job_log.unreadable", error=type(error).__name__)
            return now_ns
        missed = last is None or self._next(job, last.began_at_ns) <= now_ns
        return now_ns if missed else self._next(job, now_ns)

    def _next(self, job: Job, after_ns: int) -> int:
        return job.schedule.next_after(after_ns, self._zone)

    def _reference(self, due_ns: int) -> int:
        """From when to look for the next time: a clock corrected by seconds repeats no run."""
        now_ns = self._clock.now_ns()
        return due_ns if now_ns < due_ns < now_ns + _SAME_RUN_NS else now_ns

    async def _sleep_until(self, at_ns: int, requested: asyncio.Event) -> None:
        """Until then by the clock, or until somebody asks."""
        while (left_ns := at_ns - self._clock.now_ns()) > 0 and not requested.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(min(left_ns / _NS, LOOK_S)):
                    await requested.wait()
        requested.clear()

    async def _run(self, job: Job, report: Report) -> JobRun:
        """One run: the job boundary. Whatever goes wrong inside is logged, kept and over."""
        if job.name in self._running:
            raise JobBusy(f"the job {job.name!r} is running already")
        self._running[job.name] = (0, 0)

        def noted(done: int, total: int) -> None:
            self._running[job.name] = (done, total)
            report(done, total)

        try:
            return await self._bounded(job, noted)
        finally:
            del self._running[job.name]

    async def _bounded(self, job: Job, report: Report) -> JobRun:
        began_ns, began_s = self._clock.now_ns(), asyncio.get_running_loop().time()
        outcome, detail = JobOutcome.DONE, ""
        try:
            await self._log.began(job.name, at_ns=began_ns)
            async with asyncio.timeout(LIMIT_S):
                detail = await job.work(report)
        except Exception as error:
            log.exception("job.failed", job=job.name)
            outcome, detail = JobOutcome.FAILED, type(error).__name__
        duration_ms = int((asyncio.get_running_loop().time() - began_s) * 1_000)
        await self._keep(job.name, outcome, duration_ms, detail)
        return JobRun(
            name=job.name,
            began_at_ns=began_ns,
            duration_ms=duration_ms,
            outcome=outcome,
            detail=detail,
        )

    async def _keep(self, name: str, outcome: JobOutcome, duration_ms: int, detail: str) -> None:
        log.info("job.ended", job=name, outcome=outcome.value, duration_ms=duration_ms)
        try:
            await self._log.ended(name, outcome, duration_ms=duration_ms, detail=detail)
        except KithError as error:
            log.warning("job_log.unwritable", job=name, error=type(error).__name__)
