"""A loopback server that speaks Ollama's API, scriptable, with faults on demand.

What answers is a `Backend`: `ScriptedBackend` here, a real model elsewhere. Every request is kept
in `requests`. Source: `docs/api.md` of ollama/ollama.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from aiohttp import web

from memory.language.text import estimate_tokens
from memory.ports import Completion, Finish
from tests.fakes import Breaks, Reply, bigram_vector

Body = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    name: str = "tiny"
    size_bytes: int = 400_000_000
    capabilities: tuple[str, ...] | None = ("completion", "tools")
    """None: an old server that lists none."""
    context_tokens: int = 32768


class Backend(Protocol):
    """What stands behind the protocol."""

    models: Sequence[ServedModel]

    def chat(self, body: Body) -> AsyncIterator[Body]:
        """Pieces of the answer to an `/api/chat` body: each has one or more of `content`,
        `thinking`, `tool_calls`; the last may carry `done_reason`, `prompt_eval_count`,
        `eval_count` instead. Raising `ConnectionError` drops the client's connection."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One row a text."""
        ...


class ScriptedBackend:
    """Answers the replies in order; embeds by hashed bigrams."""

    def __init__(
        self,
        replies: Sequence[Reply] = (),
        *,
        models: Sequence[ServedModel] = (ServedModel(),),
        dim: int = 128,
        piece_chars: int = 4,
        pause_s: float = 0.0,
    ) -> None:
        self.replies = list(replies)
        self.models = models
        self.dim = dim
        self.piece_chars = piece_chars
        self.pause_s = pause_s

    async def chat(self, body: Body) -> AsyncIterator[Body]:
        reply = self.replies.pop(0)
        if isinstance(reply, Breaks):
            whole = Completion(text=reply.text)
        else:
            whole = reply if isinstance(reply, Completion) else Completion(text=str(reply))
        limit = body.get("options", {}).get("num_predict", -1)
        text = whole.text[:limit] if limit > 0 else whole.text
        for key, value in (("thinking", whole.thinking), ("content", text)):
            for at in range(0, len(value), self.piece_chars):
                yield {key: value[at : at + self.piece_chars]}
                await asyncio.sleep(self.pause_s)
        if isinstance(reply, Breaks):
            raise ConnectionError("scripted")
        for call in whole.tool_calls:
            yield {
                "content": "",
                "tool_calls": [
                    {"function": {"name": call.name, "arguments": dict(call.arguments)}}
                ],
            }
        cut = whole.finish is Finish.LENGTH or text != whole.text
        yield self._counts(whole, body) | {"done_reason": "length" if cut else "stop"}

    def _counts(self, whole: Completion, body: Body) -> Body:
        told = sum(estimate_tokens(m.get("content", "")) + 4 for m in body["messages"])
        counts = {"eval_count": whole.reply_tokens or estimate_tokens(whole.text)}
        counts["prompt_eval_count"] = told if whole.prompt_tokens is None else whole.prompt_tokens
        return {key: value for key, value in counts.items() if value >= 0}

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[3.0 * x for x in bigram_vector(text, self.dim)] for text in texts]


class Trouble(StrEnum):
    """What can go wrong with one chat or embed call."""

    SLOW_START = "slow start"
    """`seconds` pass before the first byte: a cold model."""
    SILENCE = "silence"
    """After `after` pieces nothing comes any more, for `seconds` or for ever."""
    DROP = "drop"
    """After `after` pieces the connection is cut."""
    STATUS = "status"
    """HTTP `status` with `text` as Ollama's error."""
    ERROR_LINE = "error line"
    """After `after` pieces an `{"error": text}` line."""
    GARBAGE = "garbage"
    """After `after` pieces a line that is `text`."""
    ONLY_LOADED = "only loaded"
    """An empty answer with done_reason "load"."""
    NO_DONE = "no done"
    """After `after` pieces the stream ends politely, without a last line."""
    VECTORS = "vectors"
    """`/api/embed` answers with `vectors`, whatever was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    trouble: Trouble
    after: int = 0
    seconds: float | None = None
    status: int = 500
    text: str = ""
    vectors: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    path: str
    body: Body
    headers: dict[str, str]
    """Names in lower case."""


@dataclass(slots=True, kw_only=True)
class OllamaServer:
    """A running server: its address, what it was asked, and the faults of the calls to come."""

    backend: Backend
    url: str = ""
    requests: list[Received] = field(default_factory=list)
    faults: deque[Fault] = field(default_factory=deque)
    """Each chat, generate or embed call takes one; without one it goes well."""
    hung_up: int = 0
    """Calls that the client left before their end."""
    running: int = 0
    most_running: int = 0
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a call arrives at a model."""
    began: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a piece of an answer has been sent."""
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client hangs up before the end."""

    def bodies(self, path: str) -> list[Body]:
        """Bodies of the requests to `path`, in order."""
        return [received.body for received in self.requests if received.path == path]


@asynccontextmanager
async def serve_ollama(backend: Backend) -> AsyncIterator[OllamaServer]:
    """Serve on a free loopback port until the context closes."""
    server = OllamaServer(backend=backend)
    app = web.Application(middlewares=[_recorder(server)], client_max_size=64 * 1024 * 1024)
    calls = _Calls(server)
    app.add_routes(
        [
            web.get("/", _hello),
            web.get("/api/version", _version),
            web.get("/api/tags", calls.tags),
            web.get("/api/ps", calls.tags),
            web.post("/api/show", calls.show),
            web.post("/api/chat", calls.chat),
            web.post("/api/generate", calls.generate),
            web.post("/api/embed", calls.embed),
        ]
    )
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


def _recorder(server: OllamaServer):
    @web.middleware
    async def record(request: web.Request, handler):
        body = await request.json() if request.method == "POST" else {}
        headers = {name.lower(): value for name, value in request.headers.items()}
        received = Received(path=request.path, body=body, headers=headers)
        server.requests.append(received)
        try:
            return await handler(request)
        except web.HTTPNotFound:
            return web.Response(status=404, text="404 page not found")

    return record


async def _hello(_: web.Request) -> web.Response:
    return web.Response(text="Ollama is running")


async def _version(_: web.Request) -> web.Response:
    return web.json_response({"version": "0.30.0"})


def _error(status: int, text: str) -> web.Response:
    return web.json_response({"error": text}, status=status)


class _Calls:
    """The endpoints that need a model."""

    def __init__(self, server: OllamaServer) -> None:
        self._server = server

    async def tags(self, _: web.Request) -> web.Response:
        models = [
            {"name": model.name, "model": model.name, "size": model.size_bytes}
            for model in self._server.backend.models
        ]
        return web.json_response({"models": models})

    async def show(self, request: web.Request) -> web.Response:
        model = await self._model(request)
        if model is None:
            return await self._unknown(request)
        answer = {
            "details": {"family": "test"},
            "model_info": {
                "general.architecture": "test",
                "test.context_length": model.context_tokens,
            },
        }
        if model.capabilities is not None:
            answer["capabilities"] = list(model.capabilities)
        return web.json_response(answer)

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        model = await self._model(request)
        if model is None:
            return await self._unknown(request)
        for wanted, capability in (("think", "thinking"), ("tools", "tools")):
            if body.get(wanted) and capability not in (model.capabilities or ()):
                return _error(400, f'"{model.name}" does not support {capability}')
        return await self._answer(request, body, lambda piece: {"message": _message(piece)})

    async def generate(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if await self._model(request) is None:
            return await self._unknown(request)
        asked = body | {"messages": [{"role": "user", "content": body.get("prompt", "")}]}
        return await self._answer(
            request, asked, lambda piece: {"response": piece.get("content", "")}
        )

    async def embed(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if await self._model(request) is None:
            return await self._unknown(request)
        fault = self._next_fault()
        async with self._counted():
            if fault and fault.trouble is Trouble.STATUS:
                return _error(fault.status, fault.text)
            if fault and fault.trouble in (Trouble.SLOW_START, Trouble.SILENCE):
                await _pause(fault.seconds)
            if fault and fault.trouble is Trouble.DROP:
                return _cut(request)
            given = body["input"]
            texts = [given] if isinstance(given, str) else given
            rows = await self._server.backend.embed(texts)
            if fault and fault.trouble is Trouble.VECTORS:
                rows = fault.vectors
            self._server.began.set()
            return web.json_response({"model": body["model"], "embeddings": rows})

    async def _answer(self, request, body, shape) -> web.StreamResponse:
        fault = self._next_fault()
        async with self._counted():
            if fault and fault.trouble is Trouble.STATUS:
                return _error(fault.status, fault.text)
            if fault and fault.trouble is Trouble.SLOW_START:
                await _pause(fault.seconds)
            if body.get("stream", True):
                return await self._stream(request, body, shape, fault)
            return web.json_response(await self._whole(body, shape))

    async def _stream(self, request, body, shape, fault) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        try:
            async for line in self._lines(body, shape, fault):
                text = line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)
                await response.write(text.encode() + b"\n")
                self._server.began.set()
        except ConnectionError:
            return _cut(request)
        await response.write_eof()
        return response

    async def _lines(self, body, shape, fault) -> AsyncIterator[Body | str]:
        head = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z"}
        if fault and fault.trouble is Trouble.ONLY_LOADED:
            yield head | shape({}) | {"done": True, "done_reason": "load"}
            return
        sent = 0
        last: Body = {"done_reason": "stop"}
        async for piece in self._server.backend.chat(body):
            if fault and sent == fault.after and fault.trouble is not Trouble.SLOW_START:
                async for line in _go_wrong(fault):
                    yield line
                if fault.trouble is not Trouble.SILENCE:
                    return
            if "done_reason" in piece:
                last = piece
            else:
                yield head | shape(piece) | {"done": False}
                sent += 1
        yield head | shape({}) | {"done": True, "total_duration": 1} | last

    async def _whole(self, body, shape) -> Body:
        whole: Body = {}
        async for piece in self._server.backend.chat(body):
            for key, value in piece.items():
                add = key in ("content", "thinking", "tool_calls") and key in whole
                whole[key] = whole[key] + value if add else value
        counts = {key: whole[key] for key in whole if key.endswith(("_count", "_reason"))}
        return {"model": body["model"], "done": True} | shape(whole) | counts

    async def _model(self, request: web.Request) -> ServedModel | None:
        name = (await request.json()).get("model", "").removesuffix(":latest")
        for model in self._server.backend.models:
            if model.name.removesuffix(":latest") == name:
                return model
        return None

    async def _unknown(self, request: web.Request) -> web.Response:
        return _error(404, f"model '{(await request.json()).get('model')}' not found")

    def _next_fault(self) -> Fault | None:
        return self._server.faults.popleft() if self._server.faults else None

    @asynccontextmanager
    async def _counted(self):
        server = self._server
        server.running += 1
        server.most_running = max(server.most_running, server.running)
        server.entered.set()
        try:
            yield
        except asyncio.CancelledError:
            server.hung_up += 1
            server.left.set()
            raise
        finally:
            server.running -= 1


def _message(piece: Body) -> Body:
    parts = {key: piece[key] for key in ("thinking", "tool_calls") if key in piece}
    return {"role": "assistant", "content": piece.get("content", "")} | parts


async def _go_wrong(fault: Fault) -> AsyncIterator[Body | str]:
    match fault.trouble:
        case Trouble.SILENCE:
            await _pause(fault.seconds)
        case Trouble.DROP:
            raise ConnectionError("scripted")
        case Trouble.ERROR_LINE:
            yield {"error": fault.text}
        case Trouble.GARBAGE:
            yield fault.text


async def _pause(seconds: float | None) -> None:
    if seconds is None:
        await asyncio.Event().wait()  # until the client hangs up
    else:
        await asyncio.sleep(seconds)


def _cut(request: web.Request) -> web.Response:
    """Close the socket without an end of the answer."""
    if request.transport is not None:
        request.transport.close()
    return web.Response()
