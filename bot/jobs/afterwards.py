"""Does what a turn leaves for after its send: one session at a time, tried again when it fails.

A root task. It asks `memory.modes.afterwork` what there is to do and decides only when.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

import structlog

from memory.errors import KithError
from memory.values import Moment, SessionId

log = structlog.get_logger()

FIRST_RETRY_S = 30.0
LONGEST_RETRY_S = 600.0
"""Doubled from the first to this: soon after a hiccup, no burden while the model is away."""
QUIET_S = 45.0
"""Without a message for so long a session is quiet: most answers to a reply come sooner."""
FINISH_S = 30.0
"""At the end, for turns that are in memory alone: a few calls of a small model on a CPU."""


class Work(Protocol):
    """What there is to do: `memory.modes.afterwork.Afterwork`."""

    async def next_queued(self) -> tuple[SessionId, Moment]:
        """The session that was asked for first, with its moment; waits for one."""
        ...

    def enqueue(self, session: SessionId, moment: Moment) -> None:
        """Ask for a session's work to be done."""
        ...

    async def do(self, session: SessionId, moment: Moment) -> None:
        """Do what of a session's work the moment is right for."""
        ...

    def in_memory(self) -> list[SessionId]:
        """Sessions with turns that the end of the process would lose."""
        ...


class Afterwards:
    """The one worker. Made by `open_afterwards`."""

    def __init__(self, work: Work, *, idle_s: float) -> None:
        self._work = work
        self._idle_s = idle_s
        self._delays: dict[SessionId, float] = {}
        self._timers: dict[tuple[SessionId, Moment], asyncio.TimerHandle] = {}

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            session, moment = await self._work.next_queued()
            if not await self._done(session, moment):
                delay = self._delays.get(session, FIRST_RETRY_S)
                self._delays[session] = min(delay * 2, LONGEST_RETRY_S)
                self._later(session, delay, moment)
                continue
            self._delays.pop(session, None)
            if moment is Moment.TURN:
                self._later(session, QUIET_S, Moment.QUIET)
                if self._idle_s:
                    self._later(session, self._idle_s, Moment.IDLE)

    async def _done(self, session: SessionId, moment: Moment) -> bool:
        """Whether the work could be done: the job boundary."""
        try:
            await self._work.do(session, moment)
        except KithError as error:
            log.warning("afterwork.failed", session=session, error=type(error).__name__)
            return False
        except Exception:
            log.exception("afterwork.broke", session=session)
            return False
        return True

    def _later(self, session: SessionId, delay_s: float, moment: Moment) -> None:
        key = (session, moment)
        if waiting := self._timers.pop(key, None):
            waiting.cancel()
        loop = asyncio.get_running_loop()
        self._timers[key] = loop.call_later(delay_s, self._enqueue, session, moment)

    def _enqueue(self, session: SessionId, moment: Moment) -> None:
        self._timers.pop((session, moment), None)
        self._work.enqueue(session, moment)

    async def finish(self, limit_s: float) -> None:
        """Distil what is in memory alone, as far as the time goes; the rest is counted as lost."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        try:
            async with asyncio.timeout(limit_s):
                for session in self._work.in_memory():
                    await self._done(session, Moment.QUIET)
        except TimeoutError:
            log.warning("afterwork.cut_short")


@asynccontextmanager
async def open_afterwards(
    work: Work, *, idle_s: float = 0.0, finish_s: float = FINISH_S
) -> AsyncIterator[Afterwards]:
    """Work for as long as the context is open, and at its end finish what would be lost.

    Args:
        work: what there is to do.
        idle_s: after so long without a message a session is queued once more; 0: never.
        finish_s: longest wait at the end.
    """
    afterwards = Afterwards(work, idle_s=idle_s)
    tasks = asyncio.TaskGroup()
    await tasks.__aenter__()
    worker = tasks.create_task(afterwards.run())
    try:
        yield afterwards
    finally:
        worker.cancel()
        # Not an `async with`: what the body raises is the caller's, without a group round it.
        await tasks.__aexit__(None, None, None)
        await afterwards.finish(finish_s)
