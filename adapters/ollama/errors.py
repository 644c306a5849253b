"""The one table from foreign errors to ours.

No `httpx` or `ollama` exception passes it. Messages say the next step and never hold text of a
prompt or an answer: pydantic quotes its input, so those errors are not chained.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import ollama
import pydantic

from adapters.ollama.options import OllamaOptions
from memory.errors import (
    ModelAnswerInvalid,
    ModelError,
    ModelMissing,
    ModelRefused,
    ModelUnreachable,
)
from memory.language.text import clip, one_line

_DETAIL_CHARS = 200


@contextmanager
def translated(options: OllamaOptions) -> Iterator[None]:
    """Run one step of the client; what it raises comes out as a `ModelError`."""
    try:
        yield
    except ollama.ResponseError as exc:
        raise _refusal(exc, options) from exc
    except _UNUSABLE as exc:
        raise ModelAnswerInvalid(
            f"{options.url} answered with something that is not Ollama's protocol "
            f"({type(exc).__name__}); check that the address is an Ollama server's"
        ) from None  # pydantic's message quotes the answer
    except tuple(_FAULTS) as exc:
        sentence = next(text for kind, text in _FAULTS.items() if isinstance(exc, kind))
        raise ModelUnreachable(f"Ollama at {options.url} {sentence}") from exc


_UNUSABLE = (
    json.JSONDecodeError,
    pydantic.ValidationError,
    UnicodeDecodeError,
    httpx.DecodingError,
    TypeError,  # the client unpacks each JSON line as keyword arguments
    AttributeError,  # or asks a JSON list for its "error"
)

_START = "start it with `ollama serve`, or correct the address"
NO_ADDRESS = "is not an address: write it like http://127.0.0.1:11434"
_FAULTS: dict[type[Exception], str] = {
    httpx.UnsupportedProtocol: NO_ADDRESS,
    httpx.ConnectTimeout: f"did not accept a connection in time: {_START}",
    httpx.ConnectError: f"cannot be reached: {_START}",
    ConnectionError: f"cannot be reached: {_START}",  # the client's word for ConnectError
    httpx.TransportError: "broke the connection off: see the server's log, then try again",
}
"""First match wins."""

_Sentence = Callable[[OllamaOptions, str], ModelError]
_REFUSALS: tuple[tuple[int, str, _Sentence], ...] = (
    (404, "model", lambda o, _: ModelMissing(
        f"Ollama has no model {o.model!r}: run `ollama pull {o.model}`")),
    (404, "", lambda o, _: ModelUnreachable(
        f"there is no Ollama API at {o.url}: give the base address, without /v1 or /api")),
    (405, "", lambda o, _: ModelUnreachable(
        f"there is no Ollama API at {o.url}: give the base address, without /v1 or /api")),
    (401, "", lambda o, _: ModelRefused(
        f"{o.url} asks for a token: check the configured one")),
    (403, "", lambda o, _: ModelRefused(
        f"{o.url} does not accept the token or this machine: check both")),
    (503, "", lambda o, _: ModelRefused(
        f"Ollama at {o.url} is busy: try again, or raise OLLAMA_MAX_QUEUE")),
    (500, "unsupported value", lambda o, _: ModelAnswerInvalid(
        f"{o.model} computed numbers that are not numbers (ollama/ollama#9639)")),
    (-1, "", lambda o, detail: ModelUnreachable(
        f"Ollama broke off in the middle of an answer of {o.model}: {detail}")),
    (0, "", lambda o, detail: ModelRefused(
        f"Ollama refused the request for {o.model}: {detail}")),
)  # fmt: skip
"""Status, a word in the error, what it means; first match wins, -1 is an error line in a stream,
0 is any status."""


def _refusal(exc: ollama.ResponseError, options: OllamaOptions) -> ModelError:
    """What a server's own error means."""
    error = one_line(str(exc.error or ""))
    for status, word, sentence in _REFUSALS:
        if status in (exc.status_code, 0) and word in error:
            return sentence(options, clip(error, _DETAIL_CHARS))
    raise AssertionError("the last line of the table matches everything")
