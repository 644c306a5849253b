"""A chat model's calls taken through the scheduler, the same for every model server.

People's replies are passed on as they come; a pass's reply is gathered first, because the call may
have to give way and start again.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from adapters.calls import ModelCalls
from memory.ports import ChatChunk, ChatRequest, Completion, Priority

Chunks = Callable[[ChatRequest], AsyncGenerator[ChatChunk, None]]
"""One call of the model, without waiting; the last chunk carries `done`."""


async def scheduled(
    calls: ModelCalls, chunks: Chunks, request: ChatRequest
) -> AsyncGenerator[ChatChunk, None]:
    """The chunks of one call, run when its turn comes.

    Raises:
        ModelError: as the call.
    """
    if request.priority is Priority.BACKGROUND:
        for chunk in await calls.background(lambda: _gathered(chunks, request)):
            yield chunk
        return
    last = ChatChunk()
    async with calls.interactive(request.watch), aclosing(chunks(request)) as running:
        async for chunk in running:
            last = chunk
            if chunk.done is None:
                yield chunk
    yield last  # the place is free by now: the reader may call again at once


async def _gathered(chunks: Chunks, request: ChatRequest) -> list[ChatChunk]:
    async with aclosing(chunks(request)) as running:
        return [chunk async for chunk in running]


async def completed(stream: AsyncGenerator[ChatChunk, None]) -> Completion:
    """The whole reply of a stream.

    Raises:
        ModelError: as the stream.
    """
    async with aclosing(stream) as running:
        async for chunk in running:
            if chunk.done is not None:
                return chunk.done
    raise AssertionError("a stream ends with done or an error")
