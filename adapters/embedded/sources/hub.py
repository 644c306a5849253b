"""The model hub: one file over HTTPS, continued from where it stopped."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from adapters.embedded.errors import SourceFailed
from adapters.embedded.sources.interface import Fetch, Stage
from adapters.embedded.threads import in_thread
from adapters.embedded.weights import Weights

_CONNECT_S = 5.0
"""Short, so that a machine without a way to the hub moves on at once."""
_SILENCE_S = 30.0
"""Longest pause inside a download."""
_CUTS = 3
"""Broken connections in a row, none of which brought a byte, before it gives up."""


class Hub:
    """Downloads with `Range`, which the hub honours (RFC 9110, section 14)."""

    label = "model hub"
    needs_scratch = False

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def fill(self, job: Fetch) -> None:
        """What is missing of the file; a connection that breaks is taken up again.

        Raises:
            SourceFailed: no connection, a refusal, or a file of another size.
            WeightsError: as in `Partial.append`.
        """
        weights, partial = job.weights, job.partial
        cuts = 0
        while partial.size_bytes < weights.size_bytes:
            before_bytes = partial.size_bytes
            try:
                await self._take(job)
                why = "the connection ended early"
            except httpx.ConnectTimeout as exc:
                raise SourceFailed("no connection") from exc
            except httpx.HTTPError as exc:
                why = f"the connection failed ({type(exc).__name__})"
                if isinstance(exc, httpx.ConnectError) and not partial.size_bytes:
                    raise SourceFailed("no connection") from exc
            cuts = 0 if partial.size_bytes > before_bytes else cuts + 1
            if cuts == _CUTS:
                raise SourceFailed(why)

    async def _take(self, job: Fetch) -> None:
        """One request, from the byte after the last one that is here."""
        weights, partial = job.weights, job.partial
        headers = {"Accept-Encoding": "identity"}
        if partial.size_bytes:
            headers["Range"] = f"bytes={partial.size_bytes}-"
        async with self._client.stream("GET", weights.hub_url, headers=headers) as response:
            start = _start(response, weights)
            if start != partial.size_bytes:
                await in_thread(partial.truncate, start)
            async for data in response.aiter_raw():
                await in_thread(partial.append, data)
                job.report_progress(Stage.HUB)


def _start(response: httpx.Response, weights: Weights) -> int:
    """The position of the body's first byte: 0 when the server ignored `Range`.

    Raises:
        SourceFailed: the answer is no file, or a file of another size.
    """
    status = response.status_code
    if status == httpx.codes.PARTIAL_CONTENT:
        span, _, total = response.headers.get("Content-Range", "").rpartition("/")
        first = span.removeprefix("bytes ").partition("-")[0]
        if not (first.isdigit() and int(first) <= weights.size_bytes):
            raise SourceFailed("its answer to a resumed download makes no sense")
    elif status == httpx.codes.OK:
        first, total = "0", response.headers.get("Content-Length", "")
    else:
        raise SourceFailed(f"it answered HTTP {status}")
    if total.isdigit() and int(total) != weights.size_bytes:
        raise SourceFailed(f"it offers {total} bytes, the official file has {weights.size_bytes}")
    return int(first)


@asynccontextmanager
async def open_hub() -> AsyncIterator[Hub]:
    """The hub with a connection pool of its own. Honours the user's proxy settings."""
    timeout = httpx.Timeout(_SILENCE_S, connect=_CONNECT_S)
    async with httpx.AsyncClient(timeout=timeout, follow_redirects=True) as client:
        yield Hub(client)
