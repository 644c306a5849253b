"""The connection to one Ollama server: address, limits, foreign errors in the house's words.

No `httpx` or `ollama` exception passes this room. Error messages never hold text of a prompt or an
answer: pydantic quotes its input, so those errors are not chained.
"""

import ipaddress
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx
import ollama
import pydantic

from adapters.ollama.deadline import deadline
from memory.errors import (
    ModelAnswerInvalid,
    ModelError,
    ModelMissing,
    ModelRefused,
    ModelUnreachable,
)
from memory.text import clip, one_line

DEFAULT_URL = "http://127.0.0.1:11434"
_DETAIL_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaOptions:
    """How one model of one server is used."""

    model: str
    """As `ollama list` shows it."""
    url: str = DEFAULT_URL
    """Base address, without `/v1` or `/api`."""
    num_ctx: int = 8192
    """Context in tokens, sent with every call: the server's own default is small, and what does not
    fit is cut from the front without a word (ollama/ollama#8531, #10980)."""
    reply_tokens: int = 1024
    """Kept free for the reply, and its longest length unless a request says otherwise."""
    keep_alive: str | float = "30m"
    """How long the model stays loaded: a Go duration, or seconds; negative is for ever."""
    connect_s: float = 5.0
    """Longest wait for the connection."""
    first_token_s: float = 180.0
    """Longest wait for the first piece: a cold model loads 30 to 70 s on common hardware, and a
    processor without a graphics card reads a long prompt slowly."""
    idle_s: float = 60.0
    """Longest silence between two pieces. Servers hold a tool call back until it is whole."""
    think: bool = False
    """Whether a model that can think does. Sent only to models that list the capability: others
    answer with error 400."""
    token: str | None = field(default=None, repr=False)
    """Bearer token for a server behind a gateway."""


@asynccontextmanager
async def open_client(options: OllamaOptions) -> AsyncIterator[ollama.AsyncClient]:
    """A client of the server; nothing is sent yet.

    Its own timeouts cover connecting only. Silence is judged by `deadline`, because httpx has one
    read limit for the first piece and all later ones.

    Raises:
        ModelUnreachable: the address is not one.
    """
    url = options.url.strip() or DEFAULT_URL
    headers = {"authorization": f"Bearer {options.token}"} if options.token else {}
    try:
        client = ollama.AsyncClient(
            host=url,
            timeout=httpx.Timeout(None, connect=options.connect_s),
            headers=headers,
            trust_env=not _is_loopback(url),  # a proxy never leads to this machine
        )
    except (httpx.InvalidURL, ValueError) as exc:
        raise ModelUnreachable(f"{url} {_NO_ADDRESS}") from exc
    async with client:
        yield client


def _is_loopback(url: str) -> bool:
    """Whether the address means this machine.

    Raises:
        ValueError: it is not an address.
    """
    host = urlsplit(url if "://" in url else f"http://{url}").hostname or "localhost"
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


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
_NO_ADDRESS = "is not an address: write it like http://127.0.0.1:11434"
_FAULTS: dict[type[Exception], str] = {
    httpx.UnsupportedProtocol: _NO_ADDRESS,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledModel:
    """A model that the server has on its disk."""

    name: str
    size_bytes: int


async def installed(
    url: str, *, timeout_s: float, token: str | None = None
) -> tuple[InstalledModel, ...]:
    """The server's models, in its order (most recently changed first).

    Raises:
        ModelError: no Ollama server answered there in time.
    """
    options = OllamaOptions(model="-", url=url, connect_s=timeout_s, token=token)
    complaint = f"Ollama at {url} did not list its models"
    async with open_client(options) as client, deadline(timeout_s, complaint):
        with translated(options):
            answer = await client.list()
    return tuple(
        InstalledModel(name=model.model or "", size_bytes=int(model.size or 0))
        for model in answer.models
    )


async def reachable(url: str, *, timeout_s: float, token: str | None = None) -> bool:
    """Whether an Ollama server answers there in time."""
    try:
        await installed(url, timeout_s=timeout_s, token=token)
    except ModelError:
        return False
    return True
