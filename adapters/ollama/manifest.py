"""Ollama, as the service knows it. Nothing of its library is imported before it is asked for."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

import structlog
from annotated_types import Interval

from adapters.calls import CallScheduler
from adapters.ollama.options import DEFAULT_URL, OllamaOptions
from bot.manifests import (
    Finding,
    Level,
    ModelInfo,
    OwnSettings,
    ServerManifest,
    ServerParts,
)
from memory.errors import ModelError
from memory.ports import ChatModel, Embedder

log = structlog.get_logger()

SCHEME = "ollama"
_NOT_FOR_CHAT = ("embed", "minilm", "bge-", "e5-")
"""Parts of the names under which embedding models are commonly installed."""
_SUGGESTED = "qwen3:8b"


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaSettings(OwnSettings):
    """The table `[ollama]`."""

    url: str = DEFAULT_URL
    model: str = ""
    """The model that `auto` takes; empty: the one changed last."""
    embed_model: str = ""
    """The model that `auto` takes for vectors; empty: the embedded one."""
    num_ctx: Annotated[int, Interval(ge=1024, le=1_000_000)] = 8_192
    """Context in tokens, sent with every call. Ollama cuts the front of what is longer, the
    persona first, and says nothing: so it is never left to its default."""
    reply_tokens: Annotated[int, Interval(ge=64, le=100_000)] = 1_024
    """Kept free for the reply."""
    keep_alive: str = "30m"
    """How long the model stays loaded after a call; loading again takes up to a minute."""
    connect_s: Annotated[float, Interval(gt=0, le=600)] = 5.0
    first_token_s: Annotated[float, Interval(gt=0, le=3600)] = 180.0
    """A cold load of a large model takes 30 to 70 s."""
    idle_s: Annotated[float, Interval(gt=0, le=3600)] = 60.0
    """Longest silence between two pieces of a reply."""
    places: Annotated[int, Interval(ge=1, le=256)] = 4
    """Calls at once, of all its models. The server does not tell how many it runs
    (OLLAMA_NUM_PARALLEL); what is sent beyond that waits there, replies behind passes."""
    model_places: Annotated[int, Interval(ge=0, le=256)] = 0
    """Calls at once of one model; 0: as many as the server."""


class Ollama:
    """One server; implements `bot.manifests.ModelServer`."""

    def __init__(self, parts: ServerParts) -> None:
        self._settings: OllamaSettings = parts.settings
        self._token = parts.token.reveal() if parts.token else None
        self._calls = CallScheduler(
            places=self._settings.places, model_places=self._settings.model_places or None
        )
        self._installed: tuple[str, ...] | None = None

    async def models(self) -> Sequence[ModelInfo]:
        """Those that can chat, the one changed last first."""
        return [ModelInfo(name=name) for name in _for_chat(await self._ask())]

    async def usual_chat(self) -> str | None:
        """The model that is named, else the one that was changed last, where it answers."""
        names = await self._names()
        chosen = self._settings.model or next(iter(_for_chat(names)), None)
        return chosen if names else None

    async def usual_embedder(self) -> str | None:
        """The model that is named, where it is there."""
        named = self._settings.embed_model
        there = bool(named) and {named, f"{named}:latest"} & set(await self._names())
        return named if there else None

    @asynccontextmanager
    async def chat(self, name: str) -> AsyncIterator[ChatModel]:
        """A chat model of the server; nothing is asked yet."""
        from adapters.ollama.adapter import open_chat

        async with open_chat(self._options(name), self._calls.of(name)) as model:
            yield model

    @asynccontextmanager
    async def embedder(self, name: str) -> AsyncIterator[Embedder]:
        """An embedding model of the server; nothing is asked yet."""
        from adapters.ollama.embedder import open_embedder

        async with open_embedder(self._options(name), self._calls.of(name)) as model:
            yield model

    async def check(self, name: str) -> Finding:
        """Whether the server is there and has the model."""
        model = name or self._settings.model
        try:
            names = await self._ask()
        except ModelError as error:
            fix = "start it with: ollama serve; or set ollama.url"
            return Finding(check="model", level=Level.FAILED, what=str(error), fix=fix)
        if not names or (model and not {model, f"{model}:latest"} & set(names)):
            return Finding(
                check="model",
                level=Level.FAILED,
                what=f"Ollama at {self._settings.url} does not have {model or 'any model'}",
                fix=f"ollama pull {model or _SUGGESTED}",
            )
        return Finding(check="model", level=Level.OK, what=f"{SCHEME}:{model or names[0]}")

    async def _names(self) -> tuple[str, ...]:
        """What the server has; nothing when it does not answer. It is asked once."""
        if self._installed is None:
            try:
                self._installed = await self._ask()
            except ModelError as error:
                log.debug("ollama.not_found", error=type(error).__name__)
                self._installed = ()
        return self._installed

    async def _ask(self) -> tuple[str, ...]:
        from adapters.ollama.connection import installed

        settings = self._settings
        found = await installed(settings.url, timeout_s=settings.connect_s, token=self._token)
        return tuple(model.name for model in found)

    def _options(self, name: str) -> OllamaOptions:
        settings = self._settings
        return OllamaOptions(
            model=name,
            url=settings.url,
            num_ctx=settings.num_ctx,
            reply_tokens=settings.reply_tokens,
            keep_alive=settings.keep_alive,
            connect_s=settings.connect_s,
            first_token_s=settings.first_token_s,
            idle_s=settings.idle_s,
            token=self._token,
        )


def _for_chat(names: Iterable[str]) -> list[str]:
    return [name for name in names if not any(part in name for part in _NOT_FOR_CHAT)]


MANIFEST = ServerManifest(scheme=SCHEME, settings=OllamaSettings, open=Ollama)
