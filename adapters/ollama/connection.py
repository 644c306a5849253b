"""The connection to one Ollama server: a client of it, or whether there is one at all."""

import ipaddress
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
import ollama

from adapters.ollama.deadline import deadline
from adapters.ollama.errors import NO_ADDRESS, translated
from adapters.ollama.options import DEFAULT_URL, OllamaOptions
from memory.errors import ModelUnreachable


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
        raise ModelUnreachable(f"{url} {NO_ADDRESS}") from exc
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
