"""The gate before a model server: a bounded number of calls at once, people first.

It knows no server and no protocol, starts no task, and decides only who may call when.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import structlog

log = structlog.get_logger(__name__)

T = TypeVar("T")
_Turn = asyncio.Future[None]


class Gate:
    """Admits calls to one model server: interactive ones in order of arrival, then background ones.

    An interactive call that finds no free place takes the place of the background call that was
    started last. That one is cancelled, goes back to the head of its queue and starts again when no
    interactive call waits.
    """

    def __init__(self, *, places: int = 1) -> None:
        """A gate with all places free; `places` is how many calls may run at once."""
        if places < 1:
            raise ValueError(f"a gate needs at least one place, not {places}")
        self._free = places
        self._people: deque[_Turn] = deque()
        self._passes: deque[_Turn] = deque()
        self._running: list[asyncio.Timeout] = []
        """Background calls that run and have not been asked to give way, oldest first."""

    @asynccontextmanager
    async def interactive(self) -> AsyncIterator[None]:
        """Hold a place while the context is open; waits for one first.

        Do not ask for a second place while holding one: with one place that waits forever.
        """
        if self._free == 0 and self._running:
            self._running.pop().reschedule(asyncio.get_running_loop().time())
        await self._enter(self._people)
        try:
            yield
        finally:
            self._leave()

    async def background(self, work: Callable[[], Awaitable[T]]) -> T:
        """The result of `work()`, which is cancelled and called anew as often as people need it.

        `work` must leave nothing half-done when it is cancelled. Its own errors pass unchanged.
        """
        again = False
        while True:
            await self._enter(self._passes, first=again)
            while self._people:  # who came between the hand-over and now
                self._leave()
                await self._enter(self._passes, first=True)
            try:
                async with asyncio.timeout(None) as scope:
                    self._running.append(scope)
                    return await work()
            except TimeoutError:
                if not scope.expired():
                    raise  # the work's own
            finally:
                if scope in self._running:
                    self._running.remove(scope)
                self._leave()
            log.info("background_call.preempted")
            again = True

    async def _enter(self, queue: deque[_Turn], *, first: bool = False) -> None:
        """Take a place, or wait in `queue` until one is handed over."""
        if self._free:
            self._free -= 1
            return
        turn: _Turn = asyncio.get_running_loop().create_future()
        if first:
            queue.appendleft(turn)
        else:
            queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                if turn in queue:
                    queue.remove(turn)
            else:
                self._leave()  # handed over in the same moment: pass it on
            raise

    def _leave(self) -> None:
        """Hand the place to who waits longest, people first; with nobody waiting it is free."""
        for queue in (self._people, self._passes):
            while queue:
                turn = queue.popleft()
                if not turn.done():
                    turn.set_result(None)
                    return
        self._free += 1
