"""Pure translation between our requests and Ollama's API.

Source: Ollama's API page, `docs/api.md` of ollama/ollama, endpoint `/api/chat`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict

import ollama

from adapters.ollama.options import OllamaOptions
from memory.errors import ModelAnswerInvalid
from memory.language.text import estimate_tokens, scrub
from memory.ports import (
    ChatChunk,
    ChatMessage,
    ChatRequest,
    Completion,
    Finish,
    ToolCall,
    ToolSpec,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What `/api/show` says of a model, as far as we use it."""

    tools: bool
    thinking: bool
    context_tokens: int | None
    """Longest context it was trained for; the server cuts a larger `num_ctx` down to it."""


class ChatArguments(TypedDict):
    """Arguments of the client's `chat`, apart from `stream`."""

    model: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] | None
    think: bool | None
    format: dict[str, Any] | None
    options: dict[str, Any]
    keep_alive: str | float


def card(answer: ollama.ShowResponse) -> ModelCard:
    """The card in a server's words; an old server that lists no capabilities has none."""
    capabilities = answer.capabilities or []
    lengths = [
        value
        for key, value in (answer.modelinfo or {}).items()
        if key.endswith(".context_length") and isinstance(value, int) and value > 0
    ]
    return ModelCard(
        tools="tools" in capabilities,
        thinking="thinking" in capabilities,
        context_tokens=lengths[0] if lengths else None,
    )


def keep_alive(value: str | float) -> str | float:
    """As the API wants it: a bare number must not be a string (`"-1"` is refused)."""
    try:
        return float(value)
    except ValueError:
        return value


def chat_arguments(request: ChatRequest, options: OllamaOptions, about: ModelCard) -> ChatArguments:
    """One call of the client. The reply is always bounded: an unbounded one may never end."""
    numbers: dict[str, Any] = {
        "num_ctx": options.num_ctx,
        "num_predict": request.max_tokens or options.reply_tokens,
    }
    if request.temperature is not None:
        numbers["temperature"] = request.temperature
    return ChatArguments(
        model=options.model,
        messages=[_message(message) for message in request.messages],
        tools=[_tool(tool) for tool in request.tools] if about.tools and request.tools else None,
        think=(options.think and request.schema is None) if about.thinking else None,
        format=dict(request.schema) if request.schema is not None else None,
        options=numbers,
        keep_alive=keep_alive(options.keep_alive),
    )


def _message(message: ChatMessage) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": str(message.role), "content": scrub(message.text)}
    if message.tool_calls:
        fields["tool_calls"] = [
            {"function": {"name": call.name, "arguments": dict(call.arguments)}}
            for call in message.tool_calls
        ]
    if message.tool_name is not None:
        fields["tool_name"] = message.tool_name
    return fields


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
        },
    }


@dataclass(slots=True)
class Gathering:
    """A reply as it comes in."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    last: ollama.ChatResponse | None = None

    def add(self, part: ollama.ChatResponse) -> ChatChunk | None:
        """Take one line of the stream in; what of it is worth showing."""
        if part.done:
            self.last = part
        for call in part.message.tool_calls or ():
            self.calls.append(_call(call.function))
        text, thought = part.message.content or "", part.message.thinking or ""
        self.texts.append(text)
        self.thoughts.append(thought)
        return ChatChunk(text=text, thinking=thought) if text or thought else None

    @property
    def only_loaded(self) -> bool:
        """Whether the server just loaded the model: `done_reason` "load", which is no answer."""
        reason = self.last.done_reason if self.last else None
        return reason == "load" and not self.calls and not any(self.texts)

    def completion(self) -> Completion:
        """The whole reply.

        Raises:
            ModelAnswerInvalid: the server never said that it was done.
        """
        if self.last is None:
            raise ModelAnswerInvalid("the answer of Ollama ended before it was done: try again")
        return Completion(
            text="".join(self.texts),
            thinking="".join(self.thoughts),
            tool_calls=tuple(self.calls),
            finish=Finish.LENGTH if self.last.done_reason == "length" else Finish.STOP,
            # Absent or 0 where the whole prompt was cached (ollama/ollama#2068, #3427).
            prompt_tokens=self.last.prompt_eval_count or None,
            reply_tokens=self.last.eval_count,
        )


def _call(function: ollama.Message.ToolCall.Function) -> ToolCall:
    arguments: Mapping[str, Any] = function.arguments
    return ToolCall(name=function.name, arguments=dict(arguments))


def estimated_prompt(request: ChatRequest) -> int:
    """About how many tokens the prompt has; the chat template adds a few per message."""
    return sum(estimate_tokens(message.text) + 4 for message in request.messages)


def was_cut(*, counted: int | None, estimated: int, context: int) -> bool:
    """Whether the server's count shows that it did not read the whole prompt.

    A prompt that overflows is cut to the context's full length or to its half plus two
    (ollama/ollama#17427), so a count far below a large estimate is a sign as well.
    """
    if counted is None:
        return False
    return counted >= context - 1 or (estimated > 0.7 * context and counted < 0.7 * estimated)
