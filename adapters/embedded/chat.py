"""The embedded chat model: `memory.ports.ChatModel` over a model loaded in this process.

Each call runs in a thread and holds its place until the native call has really ended. People's
calls use the first prompt cache, passes the second, so that a pass never makes the chat read its
prompt again.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from adapters.calls import ModelCalls
from adapters.embedded.runtime import Runtime, open_runtime
from adapters.embedded.store import Store
from adapters.embedded.threads import settled
from adapters.embedded.translate import ReplyBuilder, to_payload
from adapters.embedded.weights import Weights
from adapters.gated import completed, scheduled
from memory.ports import ChatChunk, ChatRequest, Completion, ModelLimits, Priority

_SLOT = {Priority.INTERACTIVE: 0, Priority.BACKGROUND: 1}

CONTEXT_TOKENS = 4096
"""Of each slot. Enough for a summary pass over a chunk; its memory is 115 MB a slot with the
default model (28 layers, 2 x 256 values of 2 bytes a token)."""


class EmbeddedChat:
    """Answers with a small model in this process, one call at a time."""

    def __init__(
        self, *, name: str, runtime: Runtime, limits: ModelLimits, calls: ModelCalls
    ) -> None:
        self._name = name
        self._runtime = runtime
        self._limits = limits
        self._calls = calls

    @property
    def name(self) -> str:
        """`embedded:` and the model's short name."""
        return self._name

    async def limits(self) -> ModelLimits:
        """What the table of models says; nothing is asked."""
        return self._limits

    def stream(self, request: ChatRequest) -> AsyncGenerator[ChatChunk, None]:
        """The reply as it comes; with background priority it comes when it is whole.

        Closing it stops the model within one batch of the prompt or one token of the reply.

        Raises:
            ModelRefused: the prompt does not fit, or its schema cannot be used.
            ModelAnswerInvalid: the model ended in the middle.
        """
        return scheduled(self._calls, self._chunks, request)

    async def complete(self, request: ChatRequest) -> Completion:
        """The whole reply; with background priority it gives way and starts again.

        Raises:
            ModelError: as in `stream`.
        """
        return await completed(self.stream(request))

    async def _chunks(self, request: ChatRequest) -> AsyncGenerator[ChatChunk, None]:
        """One native call, its chunks carried from the thread into the loop."""
        payload = to_payload(request, self._limits, slot=_SLOT[request.priority])
        loop = asyncio.get_running_loop()
        arrived: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue()
        stop = threading.Event()

        def on_chunk(chunk: Mapping[str, Any]) -> bool:
            loop.call_soon_threadsafe(arrived.put_nowait, chunk)
            return stop.is_set()

        def call() -> None:
            try:
                self._runtime.chat(payload, on_chunk)
            finally:
                loop.call_soon_threadsafe(arrived.put_nowait, None)

        reply = ReplyBuilder()
        ended = loop.run_in_executor(None, call)
        try:
            while (part := await arrived.get()) is not None:
                if (piece := reply.add(part)) is not None:
                    yield piece
            await ended
        finally:
            stop.set()
            await settled(ended)
        yield ChatChunk(done=reply.completion())


@asynccontextmanager
async def open_chat(
    weights: Weights, *, store: Store, calls: ModelCalls, threads: int | None = None
) -> AsyncIterator[EmbeddedChat]:
    """The model, loaded in a thread, unloaded at the end. Chat and passes share one of them.

    Raises:
        WeightsAbsent: its file has not been fetched; the message says how.
        ExtraMissing: the optional packages are not installed.
        ModelError: the file cannot be loaded.
    """
    path = store.need(weights)
    async with open_runtime(path, context_tokens=CONTEXT_TOKENS, threads=threads) as runtime:
        yield EmbeddedChat(
            name=f"embedded:{weights.name}", runtime=runtime, limits=limits_of(weights), calls=calls
        )


def limits_of(weights: Weights) -> ModelLimits:
    """What a model takes, in tokens. No tools: models of this size call them badly."""
    return ModelLimits(
        context_tokens=CONTEXT_TOKENS,
        prompt_tokens=weights.prompt_tokens,
        reply_tokens=weights.reply_tokens,
        tools=False,
    )
