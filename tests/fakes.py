"""One fake per port: scripted, recorded, without I/O. They pass the same contract suites as the real ones."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from inspect import isawaitable
from typing import ClassVar

import numpy as np

from adapters.discord.options import DISCORD
from adapters.telegram.options import TELEGRAM
from bot.ports import (
    ChatRef,
    CommandAnswer,
    CommandCall,
    Inbound,
    Outbound,
    Platform,
    Position,
    Quarantined,
)
from memory.errors import StoreError
from memory.ports import (
    ChatChunk,
    ChatRequest,
    Completion,
    Finish,
    ModelLimits,
    Priority,
    Vectors,
)

NOON_NS = 1_700_000_000 * 1_000_000_000
"""2023-11-14 22:13:20 UTC: where every FakeClock starts unless told otherwise."""


class FakeClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now_ns: int = NOON_NS) -> None:
        self._now_ns = now_ns

    def now_ns(self) -> int:
        return self._now_ns

    def set(self, now_ns: int) -> None:
        self._now_ns = now_ns

    def advance(self, seconds: float = 0.0, *, ns: int = 0) -> None:
        """Move forward (or backward: clocks do that)."""
        self._now_ns += int(seconds * 1_000_000_000) + ns


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaks:
    """A scripted reply that streams `text` and then fails."""

    text: str = ""
    error: BaseException


Reply = str | Completion | Breaks | BaseException
"""A plain answer, one with counts, tool calls or thinking, one that breaks off, or a failure."""

Script = Callable[[ChatRequest], Reply | Awaitable[Reply]]


class FakeChatModel:
    """A chat model that answers from a script and records what it was asked.

    `replies` is a list, used up in order (asking for more is a failing test), or a function of
    the request, which may be a coroutine. `delay_s` passes before the first piece, `pause_s`
    between pieces; both in the loop's time, so that looptime makes them free.
    """

    def __init__(
        self,
        replies: Sequence[Reply] | Script = (),
        *,
        name: str = "fake:chat",
        limits: ModelLimits | None = None,
        delay_s: float = 0.0,
        pause_s: float = 0.0,
        chunk_chars: int = 4,
    ) -> None:
        self._script = replies if callable(replies) else None
        self._queue = [] if callable(replies) else list(replies)
        self._name = name
        self._limits = limits or ModelLimits(
            context_tokens=8192, prompt_tokens=7168, reply_tokens=1024, tools=True
        )
        self.delay_s = delay_s
        self.pause_s = pause_s
        self.chunk_chars = chunk_chars
        self.requests: list[ChatRequest] = []
        self.running = 0
        """Calls under way now."""
        self.most_running = 0
        """Most calls that ever were under way at once."""
        self.closed_early = 0
        """Streams that their reader left, or that were cancelled, before the end."""

    @property
    def name(self) -> str:
        return self._name

    async def limits(self) -> ModelLimits:
        return self._limits

    def add(self, *replies: Reply) -> None:
        """Put more replies at the end of the script."""
        self._queue.extend(replies)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatChunk]:
        if request.watch is not None:
            await request.watch.begins()
        self.requests.append(request)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        ended = False
        try:
            if self.delay_s:
                await asyncio.sleep(self.delay_s)
            async for chunk in self._chunks(await self._next(request), request):
                ended = chunk.done is not None
                yield chunk
        except (GeneratorExit, asyncio.CancelledError):
            self.closed_early += not ended
            raise
        finally:
            self.running -= 1

    async def complete(self, request: ChatRequest) -> Completion:
        async for chunk in self.stream(request):
            if chunk.done is not None:
                return chunk.done
        raise AssertionError("a stream always ends with done or an error")

    async def _next(self, request: ChatRequest) -> Reply:
        if self._script is None:
            assert self._queue, f"{self._name} was asked more often than it has replies"
            return self._queue.pop(0)
        reply = self._script(request)
        return await reply if isawaitable(reply) else reply

    async def _chunks(self, reply: Reply, request: ChatRequest) -> AsyncIterator[ChatChunk]:
        if isinstance(reply, BaseException):
            raise reply
        whole = reply if isinstance(reply, Completion) else Completion(text=_text(reply))
        if request.max_tokens is not None and len(whole.text) > request.max_tokens:
            whole = replace(whole, text=whole.text[: request.max_tokens], finish=Finish.LENGTH)
        for piece in _pieces(whole.thinking, self.chunk_chars):
            yield ChatChunk(thinking=piece)
        for piece in _pieces(whole.text, self.chunk_chars):
            yield ChatChunk(text=piece)
            if self.pause_s:
                await asyncio.sleep(self.pause_s)
        if isinstance(reply, Breaks):
            raise reply.error
        yield ChatChunk(done=whole)


def _text(reply: str | Breaks) -> str:
    return reply.text if isinstance(reply, Breaks) else reply


def _pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


class FakeEmbedder:
    """Vectors from hashed character bigrams: the same text gives the same vector, similar text a near one.

    Set `error` to make it fail until it is None again.
    """

    def __init__(self, *, dim: int = 256, name: str = "fake:embed", delay_s: float = 0.0) -> None:
        self._dim = dim
        self._name = name
        self.delay_s = delay_s
        self.error: BaseException | None = None
        self.calls: list[tuple[str, ...]] = []

    @property
    def name(self) -> str:
        return self._name

    async def embed(
        self, texts: Sequence[str], *, priority: Priority = Priority.INTERACTIVE
    ) -> Vectors:
        self.calls.append(tuple(texts))
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        if self.error is not None:
            raise self.error
        rows = [bigram_vector(text, self._dim) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self._dim)


def bigram_vector(text: str, dim: int) -> list[float]:
    """A unit vector of `dim` numbers; single characters count half of what bigrams do."""
    folded = f" {' '.join(text.casefold().split())} "
    row = np.zeros(dim)
    row[0] = 1e-3  # an empty text has a direction too
    for at, char in enumerate(folded):
        row[zlib.crc32(char.encode("utf-8", "replace")) % dim] += 0.5 * (char != " ")
        row[zlib.crc32(folded[at : at + 2].encode("utf-8", "replace")) % dim] += 1.0
    return list(row / np.linalg.norm(row))


class FakeIntake:
    """An inbox in RAM: takes each message once, remembers positions, fails while told to.

    `failures` is how many of the next calls of `accept` raise StoreError and keep nothing.
    """

    def __init__(self) -> None:
        self.inbounds: list[Inbound] = []
        self.quarantined: list[Quarantined] = []
        self.moves: list[tuple[ChatRef, ChatRef]] = []
        self.edits: list[Inbound] = []
        self.deletions: list[tuple[ChatRef, tuple[str, ...]]] = []
        self.batches = 0
        self.failures = 0
        self._positions: dict[tuple[Platform, str, str], str] = {}
        self._changed = asyncio.Event()

    async def accept(
        self,
        inbounds: Sequence[Inbound],
        *,
        positions: Sequence[Position] = (),
        quarantined: Sequence[Quarantined] = (),
    ) -> None:
        if self.failures:
            self.failures -= 1
            raise StoreError("the disk said no")
        self.batches += 1
        taken = {_identity(inbound) for inbound in self.inbounds}
        for inbound in inbounds:
            if _identity(inbound) not in taken:
                taken.add(_identity(inbound))
                self.inbounds.append(inbound)
        self.quarantined += quarantined
        for position in positions:
            self._positions[position.platform, position.bot, position.stream] = position.value
        self._changed.set()

    async def positions(self, platform: Platform, bot: str) -> Mapping[str, str]:
        return {s: v for (p, b, s), v in self._positions.items() if (p, b) == (platform, bot)}

    async def moved(self, old: ChatRef, new: ChatRef) -> None:
        self.moves.append((old, new))

    async def edited(self, inbound: Inbound) -> None:
        self.edits.append(inbound)
        self._changed.set()

    async def deleted(self, chat: ChatRef, messages: Sequence[str]) -> None:
        self.deletions.append((chat, tuple(messages)))
        self._changed.set()

    async def taken(self, n: int = 1, *, timeout_s: float = 5.0) -> list[Inbound]:
        """The messages taken in, as soon as there are `n`."""
        async with asyncio.timeout(timeout_s):
            while len(self.inbounds) < n:
                self._changed.clear()
                await self._changed.wait()
        return list(self.inbounds)


def _identity(inbound: Inbound) -> tuple[Platform, str, str, str]:
    return (inbound.chat.platform, inbound.chat.bot, inbound.chat.chat, inbound.message)


class FakeCommandRunner:
    """Answers every command from a function and records the calls."""

    broken: ClassVar = {
        "en": "Something went wrong with this command. Please try again later.",
        "zh-TW": "這個指令出了問題，請稍後再試。",
    }

    def __init__(self, answer: Callable[[CommandCall], CommandAnswer] | None = None) -> None:
        self._answer = answer or (lambda call: CommandAnswer(text=f"done: {call.name}"))
        self.calls: list[CommandCall] = []

    async def run(self, call: CommandCall) -> CommandAnswer:
        self.calls.append(call)
        return self._answer(call)


class FakeAdapter:
    """A platform that takes what it is sent, and fails as scripted.

    `faults` are used up in order, one a send; None is a send that works. `when` runs before a send
    is taken, so that a test can hold it up or end there. `arrived` is what people see: a platform
    that knows nonces shows a repeated one once.
    """

    def __init__(self, platform: Platform = TELEGRAM, *, part_chars: int = 1000) -> None:
        self._platform = platform
        self._part_chars = part_chars
        self.faults: list[Exception | None] = []
        self.faults_after: list[Exception | None] = []
        """As `faults`, but the message arrives before it is raised."""
        self.when: Callable[[Outbound], Awaitable[None]] | None = None
        self.tried: list[Outbound] = []
        self.arrived: list[Outbound] = []
        self.typing_now = 0
        self.typed: list[ChatRef] = []

    @property
    def platform(self) -> Platform:
        return self._platform

    async def run(self, ready: Callable[[], None]) -> None:
        ready()
        await asyncio.Event().wait()

    def split(self, text: str) -> list[str]:
        return _pieces(text, self._part_chars)

    async def send(self, part: Outbound) -> str:
        self.tried.append(part)
        if self.when is not None:
            await self.when(part)
        if self.faults and (fault := self.faults.pop(0)) is not None:
            raise fault
        seen = [one.nonce for one in self.arrived]
        if self._platform is not DISCORD or part.nonce not in seen:
            self.arrived.append(part)
        if self.faults_after and (fault := self.faults_after.pop(0)) is not None:
            raise fault
        return f"sent-{len(self.arrived)}"

    @asynccontextmanager
    async def typing(self, chat: ChatRef) -> AsyncIterator[None]:
        self.typed.append(chat)
        self.typing_now += 1
        try:
            yield
        finally:
            self.typing_now -= 1

    def texts(self, chat: str | None = None) -> list[str]:
        """What people see, in order; in one chat or everywhere."""
        return [one.text for one in self.arrived if chat in (None, one.chat.chat)]
