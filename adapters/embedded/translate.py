"""Our values to llama.cpp's chat completion and back. Pure.

WeightsSource: the chat completion API of llama.cpp's server (`tools/server/README.md` of
ggml-org/llama.cpp).
"""

import re
from collections.abc import Mapping
from typing import Any

from memory.errors import ModelAnswerInvalid, ModelRefused
from memory.language.text import scrub
from memory.ports import (
    ChatChunk,
    ChatMessage,
    ChatRequest,
    ChatRole,
    Completion,
    Finish,
    ModelLimits,
)

_TEMPERATURE = 0.3
"""When the caller names none: small models wander at the usual 0.8."""

_REPEAT_PENALTY = 1.1
"""Against the endless repeating of small models; the value that the publisher of the default model
gives in its `generation_config.json`. Not with a schema: JSON has to repeat its marks."""

_MARKER = re.compile(r"<\|(?=[^|<>\s]{1,40}\|>)")
"""The start of a control token of a chat template, such as `<|im_end|>`."""


def to_payload(request: ChatRequest, limits: ModelLimits, *, slot: int) -> dict[str, Any]:
    """The request body. Tools are left out: these models cannot use them."""
    longest = limits.reply_tokens if request.max_tokens is None else request.max_tokens
    payload: dict[str, Any] = {
        "messages": [_message(message) for message in request.messages],
        "max_tokens": max(longest, 1),
        "temperature": _TEMPERATURE if request.temperature is None else request.temperature,
        "stream": True,
        "stream_options": {"include_usage": True},
        "cache_prompt": True,
        "id_slot": slot,
        "return_progress": True,  # a chunk after each batch of the prompt: a chance to stop
    }
    if request.schema is None:
        payload["repeat_penalty"] = _REPEAT_PENALTY
    else:
        payload["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": dict(request.schema)},
        }
    return payload


def _message(message: ChatMessage) -> dict[str, str]:
    """One message. A tool's result, which these models do not know, is formatted as a user's words."""
    role = ChatRole.USER if message.role is ChatRole.TOOL else message.role
    return {"role": role.value, "content": defused(message.text)}


def defused(text: str) -> str:
    """The text without control tokens: llama.cpp would obey `<|im_start|>system` in a message."""
    return _MARKER.sub("< |", scrub(text))


class ReplyBuilder:
    """Gathers the chunks of one completion."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._finish: str | None = None
        self._timings: Mapping[str, Any] = {}

    def add(self, chunk: Mapping[str, Any]) -> ChatChunk | None:
        """The piece of the reply in one chunk; None for one that only reports progress or counts.

        Raises:
            ModelRefused: the chunk is an error.
        """
        if "error" in chunk:
            raise _refusal(chunk["error"])
        self._timings = chunk.get("timings") or self._timings
        choices = chunk.get("choices")
        if not choices:
            return None
        self._finish = choices[0].get("finish_reason") or self._finish
        delta = choices[0].get("delta") or {}
        text, thinking = delta.get("content") or "", delta.get("reasoning_content") or ""
        self._text.append(text)
        self._thinking.append(thinking)
        return ChatChunk(text=text, thinking=thinking) if text or thinking else None

    def completion(self) -> Completion:
        """The whole reply with the model's own counts.

        Raises:
            ModelAnswerInvalid: the stream ended before the reply did.
        """
        if self._finish is None:
            raise ModelAnswerInvalid("the embedded model ended in the middle of its reply")
        cached, read = self._timings.get("cache_n"), self._timings.get("prompt_n")
        return Completion(
            text="".join(self._text),
            thinking="".join(self._thinking),
            finish=Finish.LENGTH if self._finish == "length" else Finish.STOP,
            prompt_tokens=None if cached is None or read is None else cached + read,
            cached_tokens=cached,
            reply_tokens=self._timings.get("predicted_n"),
        )


def _refusal(error: Mapping[str, Any]) -> ModelRefused:
    """Our error for an error of llama.cpp. Its own text is left out: it can hold a prompt."""
    if error.get("type") == "exceed_context_size_error":
        return ModelRefused(
            f"the prompt has {error.get('n_prompt_tokens')} tokens and the embedded model takes "
            f"{error.get('n_ctx')}: start a new window with /new, or choose a larger model"
        )
    return ModelRefused(f"the embedded model refused the request (code {error.get('code')})")
