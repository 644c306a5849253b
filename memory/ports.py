"""What memory needs from outside, as small Protocols: a chat model, an embedder, a clock.

The adapters implement them without inheriting; the composition root passes them in.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

JsonSchema = Mapping[str, Any]
"""A JSON Schema document, as plain data."""

Vectors = NDArray[np.float32]
"""Shape (n, d), float32, rows L2-normalised."""


class Clock(Protocol):
    """The time, injected so that tests can own it."""

    def now_ns(self) -> int:
        """Nanoseconds since the Unix epoch, UTC."""
        ...


class Priority(StrEnum):
    """Who waits for a model call."""

    INTERACTIVE = "interactive"
    """A person waits: goes first."""
    BACKGROUND = "background"
    """A pass waits: gives way to a person, is started again, and is never lost."""


class ChatRole(StrEnum):
    """Who speaks in a prompt."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool that the model wants to run. Name and arguments are data: trust neither."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as it is offered to the model."""

    name: str
    description: str
    parameters: JsonSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message of a prompt."""

    role: ChatRole
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    """Only on an assistant message that asked for tools."""
    tool_name: str | None = None
    """Only on a tool message: whose result it is."""


class CallWatch(Protocol):
    """Follows a call of a model server to its place, for who must know whether it is under way."""

    async def waits(self) -> None:
        """No place is free: from now on nothing is done for this call."""
        ...

    async def begins(self) -> None:
        """It has its place; the model is asked when this returns. What it raises ends the call."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One call of a chat model."""

    messages: tuple[ChatMessage, ...]
    priority: Priority = Priority.INTERACTIVE
    schema: JsonSchema | None = None
    """The answer must be JSON of this schema. Still to be parsed: it can be cut off."""
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int | None = None
    """Longest reply in tokens; None is the model's own limit."""
    temperature: float | None = None
    """None is the model's own default; 0 for structured answers."""
    watch: CallWatch | None = field(default=None, compare=False, repr=False)
    """Told of an interactive call: that it waits, if it has to, and that it begins."""


class Finish(StrEnum):
    """Why a reply ended."""

    STOP = "stop"
    LENGTH = "length"
    """Cut at the token limit: JSON is then invalid at its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A finished reply with the model's own counts, in tokens."""

    text: str
    thinking: str = ""
    """What a thinking model thought, kept apart; never part of the reply."""
    tool_calls: tuple[ToolCall, ...] = ()
    finish: Finish = Finish.STOP
    prompt_tokens: int | None = None
    """Whole prompt as the model counted it, cached part included; None when it did not say."""
    cached_tokens: int | None = None
    """How much of the prompt was already in the model's prefix cache; None when unknown."""
    reply_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatChunk:
    """A piece of a streamed reply. The last chunk, and only that one, carries `done`."""

    text: str = ""
    thinking: str = ""
    done: Completion | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """What a chat model can take, in tokens."""

    context_tokens: int
    """Prompt and reply together (Ollama: `num_ctx`)."""
    prompt_tokens: int
    """Longest prompt worth sending: small models on a CPU read slowly, so theirs is shorter."""
    reply_tokens: int
    """Kept free for the reply."""
    tools: bool = False
    """Whether tools may be offered."""


class ChatModel(Protocol):
    """A model that answers.

    Implementations: `adapters.ollama`, `adapters.embedded`, `tests.fakes`. One contract suite
    runs over all of them (`tests/contracts/test_chat_model.py`).
    """

    @property
    def name(self) -> str:
        """`provider:model`, for people and for logs."""
        ...

    async def limits(self) -> ModelLimits:
        """What it can take. May ask the server once.

        Raises:
            ModelError: it cannot be reached or has no such model.
        """
        ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[ChatChunk, None]:
        """The reply as it comes.

        Read it within `contextlib.aclosing`: closing it early stops the model and frees its place.

        Raises:
            ModelError: it could not be reached, stayed silent, refused, or hung up in the middle.
        """
        ...

    async def complete(self, request: ChatRequest) -> Completion:
        """The whole reply at once. With background priority it gives way and starts again.

        Raises:
            ModelError: as in `stream`.
        """
        ...


class Embedder(Protocol):
    """A model that turns text into vectors."""

    @property
    def name(self) -> str:
        """`provider:model`; stored beside each vector, so that a changed model is noticed."""
        ...

    async def embed(
        self, texts: Sequence[str], *, priority: Priority = Priority.INTERACTIVE
    ) -> Vectors:
        """One row a text, in order; shape (len(texts), d), float32, L2-normalised.

        Raises:
            ModelError: it cannot be reached or answered with something else.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The models by role. Summary and extract fall back to chat; decision and embed never do."""

    chat: ChatModel
    summary: ChatModel
    extract: ChatModel
    decision: ChatModel | None = None
    """None turns noise, supersede and relevance judgements off: everything is kept."""
    embed: Embedder | None = None
    """None turns semantic search off: recall is by keyword alone."""
