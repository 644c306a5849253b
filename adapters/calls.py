"""Who may call a model server when: replies first, and nobody put off for ever.

It knows no server and no protocol, and starts no task.
"""

import asyncio
from bisect import insort
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import structlog

from memory.ports import CallWatch

log = structlog.get_logger(__name__)

T = TypeVar("T")

AGING_S = 15.0
"""How much later than a reply a background call comes to its turn. Replies that arrive in that time
overtake it, later ones do not: it cannot starve, however busy the chats are."""
_NEARLY_DONE = (0.7, 1.5)
"""Of the usual duration. In between a background call is let end: it would free its place about as
soon as a reply could profit. One that takes much longer than usual gives way again: it may hang."""
_MEMORY = 0.3
"""Weight of the newest duration in the usual one."""


@dataclass(slots=True, kw_only=True, order=True)
class _Call:
    """A call that waits or runs, ordered by when its turn comes."""

    due_s: float
    """Loop time. Of a reply when it came, of a background call `AGING_S` later."""
    number: int
    model: str = field(compare=False)
    background: bool = field(compare=False)
    turn: asyncio.Future[None] = field(compare=False)
    began_s: float = field(default=0.0, compare=False)
    asked: bool = field(default=False, compare=False)
    """To give way, once in its life."""
    scope: asyncio.Timeout | None = field(default=None, compare=False)
    """What cancels it, while its work runs."""


class CallScheduler:
    """The places of one model server, shared by its models and by everybody who calls them.

    A call needs a place of the server and one of its model. Calls come to their turn in order of
    `due_s`. A reply that finds no place takes that of the background call which began last, unless
    it has aged, was put off once already, or is nearly done. The call that gives way is cancelled
    and starts again at its turn; from then on it keeps its place. Background calls leave one place
    to the replies where there are several.
    """

    def __init__(self, *, places: int = 1, model_places: int | None = None) -> None:
        """All places are free.

        Args:
            places: how many calls the server may run at once, at least 1.
            model_places: how many of one model; None: as many as the server.
        """
        if places < 1 or (model_places is not None and model_places < 1):
            raise ValueError(f"a server needs at least one place, not {places}, {model_places}")
        self._places = places
        self._model_places = model_places
        self._running: list[_Call] = []
        """In the order in which they began."""
        self._waiting: list[_Call] = []
        """In the order of their turns."""
        self._usual_s: dict[str, float] = {}
        """How long a background call of a model usually takes."""
        self._count = 0

    def of(self, model: str) -> "ModelCalls":
        """The calls of one model."""
        return ModelCalls(self, model)

    def resize(self, places: int) -> None:
        """Have another number of places, at least 1; calls that run are left alone."""
        self._places = max(places, 1)
        self._admit()

    @asynccontextmanager
    async def interactive(self, model: str, watch: CallWatch | None = None) -> AsyncIterator[None]:
        """Hold a place while the context is open; waits for one first, of which `watch` is told.

        Do not ask for a second place while holding one: with one place that waits for ever.
        """
        call = self._call(model, background=False)
        await self._enter(call, watch)
        try:
            if watch is not None:
                await watch.begins()
            yield
        finally:
            self._leave(call)

    async def background(self, model: str, work: Callable[[], Awaitable[T]]) -> T:
        """The result of `work()`, which may be cancelled once and called anew.

        `work` must leave nothing half-done when it is cancelled. Its own errors pass unchanged.
        """
        call = self._call(model, background=True)
        await self._enter(call)
        while call.asked:  # by who came between the hand-over and now: nothing has begun yet
            call.asked = False
            self._leave(call)
            await self._enter(call)
        while True:
            try:
                async with asyncio.timeout(None) as call.scope:
                    result = await work()
            except TimeoutError:
                if call.scope is None or not call.scope.expired():
                    raise  # the work's own
            else:
                self._learn(call)
                return result
            finally:
                self._leave(call)
            log.info("background_call.preempted", model=model)
            await self._enter(call)

    def _call(self, model: str, *, background: bool) -> _Call:
        loop = asyncio.get_running_loop()
        self._count += 1
        return _Call(
            due_s=loop.time() + (AGING_S if background else 0.0),
            number=self._count,
            model=model,
            background=background,
            turn=loop.create_future(),
        )

    async def _enter(self, call: _Call, watch: CallWatch | None = None) -> None:
        """Take a place, or wait until one is handed over."""
        call.turn = asyncio.get_running_loop().create_future()
        insort(self._waiting, call)
        self._admit()
        if not (call.turn.done() or call.background):
            self._make_way(call)
        try:
            if watch is not None and not call.turn.done():
                await watch.waits()
            await call.turn
        except BaseException:
            if call in self._waiting:
                self._waiting.remove(call)
            if call in self._running:
                self._leave(call)  # handed over in the same moment: pass it on
            raise

    def _leave(self, call: _Call) -> None:
        self._running.remove(call)
        self._admit()

    def _admit(self) -> None:
        """Give the free places to who is next, in order; who cannot run yet holds up no other."""
        now_s = asyncio.get_running_loop().time()
        for call in [one for one in self._waiting if self._may_run(one)]:
            if self._may_run(call):  # those before it may have taken the last place
                self._waiting.remove(call)
                self._running.append(call)
                call.began_s = now_s
                call.turn.set_result(None)

    def _may_run(self, call: _Call) -> bool:
        running = Counter(one.model for one in self._running)
        if len(self._running) >= self._places or running[call.model] >= self._most_of_a_model:
            return False
        passes = sum(one.background for one in self._running)
        return not call.background or passes < max(self._places - 1, 1)

    @property
    def _most_of_a_model(self) -> int:
        return self._places if self._model_places is None else self._model_places

    def _make_way(self, reply: _Call) -> None:
        """Ask one background call to give its place to this reply, if one is right for it."""
        if reply not in self._waiting:
            return
        loop = asyncio.get_running_loop()
        of_model = sum(one.model == reply.model for one in self._running)
        for call in reversed(self._running):
            helps = call.model == reply.model or of_model < self._most_of_a_model
            if not helps or not call.background or call.asked or call.began_s >= call.due_s:
                continue
            usual_s, ran_s = self._usual_s.get(call.model, 0.0), loop.time() - call.began_s
            if usual_s * _NEARLY_DONE[0] < ran_s < usual_s * _NEARLY_DONE[1]:
                loop.call_later(usual_s * _NEARLY_DONE[1] - ran_s, self._make_way, reply)
                return
            call.asked = True
            if call.scope is not None:
                call.scope.reschedule(loop.time())
            return

    def _learn(self, call: _Call) -> None:
        took_s = asyncio.get_running_loop().time() - call.began_s
        usual_s = self._usual_s.get(call.model, took_s)
        self._usual_s[call.model] = usual_s + _MEMORY * (took_s - usual_s)


class ModelCalls:
    """The calls of one model, as its adapter makes them."""

    def __init__(self, scheduler: CallScheduler, model: str) -> None:
        self._scheduler = scheduler
        self._model = model

    def interactive(self, watch: CallWatch | None = None) -> AbstractAsyncContextManager[None]:
        """As `CallScheduler.interactive`."""
        return self._scheduler.interactive(self._model, watch)

    async def background(self, work: Callable[[], Awaitable[T]]) -> T:
        """As `CallScheduler.background`."""
        return await self._scheduler.background(self._model, work)
