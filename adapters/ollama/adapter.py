"""A chat model behind an Ollama server: calls, limits, the stream.

It keeps no text: what a person or the model said is handed through.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

import ollama
import structlog

from adapters.calls import ModelCalls
from adapters.gated import completed, scheduled
from adapters.ollama import translate
from adapters.ollama.connection import open_client
from adapters.ollama.deadline import deadline
from adapters.ollama.errors import translated
from adapters.ollama.options import OllamaOptions
from memory.errors import ModelAnswerInvalid
from memory.ports import ChatChunk, ChatRequest, Completion, ModelLimits

log = structlog.get_logger(__name__)

_LOAD_ATTEMPTS = 2


@asynccontextmanager
async def open_chat(options: OllamaOptions, calls: ModelCalls) -> AsyncIterator["OllamaChat"]:
    """A chat model, connected on first use. `calls` are those of its model.

    Raises:
        ModelUnreachable: the address is not one.
    """
    async with open_client(options) as client:
        yield OllamaChat(options=options, client=client, calls=calls)


class OllamaChat:
    """One model of one Ollama server; implements `memory.ports.ChatModel`."""

    def __init__(
        self, *, options: OllamaOptions, client: ollama.AsyncClient, calls: ModelCalls
    ) -> None:
        self._options = options
        self._client = client
        self._calls = calls
        self._card: translate.ModelCard | None = None

    @property
    def name(self) -> str:
        """`ollama:model`."""
        return f"ollama:{self._options.model}"

    async def limits(self) -> ModelLimits:
        """Context and reserves, in tokens; asks the server once.

        Raises:
            ModelError: it cannot be reached or has no such model.
        """
        about = await self._about()
        context = self._context_tokens(about)
        reply = min(self._options.reply_tokens, context // 2)
        return ModelLimits(
            context_tokens=context,
            prompt_tokens=context - reply,
            reply_tokens=reply,
            tools=about.tools,
        )

    def stream(self, request: ChatRequest) -> AsyncGenerator[ChatChunk, None]:
        """The reply as it comes; with background priority it comes when it is whole.

        Close the generator (`contextlib.aclosing`) when you leave early: that hangs up, and the
        server stops the model.

        Raises:
            ModelError: it could not be reached, stayed silent, refused, or hung up in the middle.
        """
        return scheduled(self._calls, self._chunks, request)

    async def complete(self, request: ChatRequest) -> Completion:
        """The whole reply; with background priority it gives way and starts again.

        Raises:
            ModelError: as in `stream`.
        """
        return await completed(self.stream(request))

    async def _chunks(self, request: ChatRequest) -> AsyncGenerator[ChatChunk, None]:
        about = await self._about()
        arguments = translate.chat_arguments(request, self._options, about)
        for _ in range(_LOAD_ATTEMPTS):
            gathering = translate.Gathering()
            async with aclosing(self._parts(arguments)) as parts:
                async for part in parts:
                    chunk = gathering.add(part)
                    if chunk is not None:
                        yield chunk
            if not gathering.only_loaded:
                break
        else:
            raise ModelAnswerInvalid(
                f"Ollama loads {self._options.model} again and again without an answer: "
                f"check with `ollama run {self._options.model}`"
            )
        whole = gathering.completion()
        self._watch_prompt(request, whole, about)
        yield ChatChunk(done=whole)

    async def _parts(
        self, arguments: translate.ChatArguments
    ) -> AsyncGenerator[ollama.ChatResponse, None]:
        """The lines of one call, each within its limit."""
        model, options = self._options.model, self._options
        limit_s, complaint = options.first_token_s, f"{model} did not begin to answer"
        with translated(options):
            lines = await self._client.chat(**arguments, stream=True)
        # The client's iterator is a generator: closing it closes the connection.
        async with aclosing(lines) as parts:  # type: ignore[type-var]
            while True:
                async with deadline(limit_s, complaint):
                    with translated(options):
                        part = await anext(parts, None)
                if part is None:
                    return
                yield part
                limit_s, complaint = options.idle_s, f"{model} stopped in the middle of an answer"

    async def _about(self) -> translate.ModelCard:
        """What the server says of the model; asked once."""
        if self._card is None:
            options = self._options
            async with deadline(options.idle_s, f"Ollama at {options.url} did not answer"):
                with translated(options):
                    self._card = translate.card(await self._client.show(options.model))
        return self._card

    def _context_tokens(self, about: translate.ModelCard) -> int:
        return min(self._options.num_ctx, about.context_tokens or self._options.num_ctx)

    def _watch_prompt(
        self, request: ChatRequest, whole: Completion, about: translate.ModelCard
    ) -> None:
        """Say so when the server read less than it was sent: it cuts without a word."""
        estimated, context = translate.estimated_prompt(request), self._context_tokens(about)
        if translate.was_cut(counted=whole.prompt_tokens, estimated=estimated, context=context):
            log.warning(
                "prompt.cut",
                model=self.name,
                estimated_tokens=estimated,
                counted_tokens=whole.prompt_tokens,
                context_tokens=context,
            )
