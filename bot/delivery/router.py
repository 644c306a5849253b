"""Session lanes: jobs of one session run one after the other, those of several at once.

A lane is a bounded queue with one task. It is opened on demand and closes when it is idle.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import structlog

from bot.errors import LaneFull
from memory.values import SessionId

log = structlog.get_logger()

Job = Callable[[], Awaitable[None]]

LANE_JOBS = 50
"""Jobs that may wait in one lane. A person who writes more than this ahead is told so."""
IDLE_S = 60.0
"""A lane without work is closed after this: long enough for a quick exchange, short enough that
thousands of sessions do not leave a task each behind."""


class Router:
    """The lanes of all sessions. Made by `open_router`."""

    def __init__(self, tasks: asyncio.TaskGroup, *, lane_jobs: int, idle_s: float) -> None:
        self._tasks = tasks
        self._lane_jobs = lane_jobs
        self._idle_s = idle_s
        self._lanes: dict[SessionId, asyncio.Queue[Job]] = {}
        self._workers: dict[SessionId, asyncio.Task[None]] = {}
        self._unfinished = 0
        self._quiet = asyncio.Event()
        self._quiet.set()

    @property
    def open_lanes(self) -> int:
        """How many sessions have a lane now."""
        return len(self._lanes)

    def deliver(self, session: SessionId, job: Job) -> None:
        """Put a job at the end of its session's lane.

        Raises:
            LaneFull: as many jobs wait there as may; this one was not taken.
        """
        lane = self._lanes.get(session)
        if lane is None:
            lane = self._lanes[session] = asyncio.Queue(self._lane_jobs)
            self._workers[session] = self._tasks.create_task(self._work(session, lane))
        try:
            lane.put_nowait(job)
        except asyncio.QueueFull:
            raise LaneFull(f"{self._lane_jobs} messages are waiting already") from None
        self._unfinished += 1
        self._quiet.clear()

    async def _work(self, session: SessionId, lane: asyncio.Queue[Job]) -> None:
        while True:
            try:
                async with asyncio.timeout(self._idle_s):
                    job = await lane.get()
            except TimeoutError:
                if lane.empty():
                    # No await between this look and the end: nobody can put a job in unseen.
                    del self._lanes[session], self._workers[session]
                    return
                continue
            try:
                await job()
            except Exception:
                log.exception("lane.job_failed", session=session)
            finally:
                self._finished()

    def _finished(self) -> None:
        self._unfinished -= 1
        if self._unfinished == 0:
            self._quiet.set()

    async def drain(self) -> None:
        """Wait until every job that was delivered has ended."""
        await self._quiet.wait()

    def close(self) -> None:
        """End all lanes now, also those that work."""
        for worker in self._workers.values():
            worker.cancel()


@asynccontextmanager
async def open_router(
    *, lane_jobs: int = LANE_JOBS, idle_s: float = IDLE_S
) -> AsyncIterator[Router]:
    """Lanes for as long as the context is open; leaving it ends those that still work."""
    tasks = asyncio.TaskGroup()
    await tasks.__aenter__()
    router = Router(tasks, lane_jobs=lane_jobs, idle_s=idle_s)
    try:
        yield router
    finally:
        router.close()
        # Not an `async with`: what the body raises is the caller's, without a group round it.
        await tasks.__aexit__(None, None, None)
