"""Which model plays which part: the configuration's words turned into open models.

`auto` asks the model servers in their order and takes the first that has a model.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog

from bot.config.config import Loaded
from bot.errors import ConfigError, Problem
from bot.manifests import Manifests, ModelFiles, ModelServer, ServerParts
from memory.errors import ModelMissing
from memory.ports import ChatModel, Embedder, Models

log = structlog.get_logger()

AUTO, NONE = "auto", "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A model by its server's scheme and its name."""

    scheme: str
    """Or `auto`, or `none`."""
    name: str = ""


def parse(written: str, key: str, manifests: Manifests) -> Choice:
    """What a setting such as `ollama:qwen3:8b` names; some models may be named without a server.

    Raises:
        ConfigError: it names nothing that there is.
    """
    scheme, colon, name = written.partition(":")
    if written in (AUTO, NONE):
        return Choice(scheme=written)
    if colon and scheme in manifests.servers and name:
        return Choice(scheme=scheme, name=name)
    for server in manifests.servers.values():
        if written in server.names:
            return Choice(scheme=server.scheme, name=written)
    forms = ", ".join(f"{scheme}:NAME" for scheme in manifests.servers)
    known = ", ".join(name for server in manifests.servers.values() for name in server.names)
    what = f"{written!r} is no model: use auto, {forms} or one of {known}"
    raise ConfigError("models", [Problem(key=key, what=what)])


def parse_chat(written: str, key: str, manifests: Manifests) -> Choice:
    """As `parse`, for a part that cannot go without a model.

    Raises:
        ConfigError: it names nothing that there is, or none.
    """
    choice = parse(written, key, manifests)
    if choice.scheme == NONE:
        raise ConfigError("models", [Problem(key=key, what="a chat model cannot be none")])
    return choice


def model_servers(loaded: Loaded, files: ModelFiles) -> dict[str, ModelServer]:
    """Every model server by its scheme; none is asked anything yet.

    Raises:
        ConfigError: a secret's file cannot be read.
    """
    return {
        scheme: manifest.open(
            ServerParts(
                settings=loaded.config.server(scheme),
                token=loaded.secret(f"{scheme}-token") if manifest.remote else None,
                path=loaded.path,
                files=files,
            )
        )
        for scheme, manifest in loaded.manifests.servers.items()
    }


class _Opener:
    """Opens each model once, whatever number of parts it plays."""

    def __init__(self, loaded: Loaded, files: ModelFiles, stack: AsyncExitStack) -> None:
        self._manifests = loaded.manifests
        self._servers = model_servers(loaded, files)
        self._stack = stack
        self._open: dict[Choice, ChatModel] = {}

    async def chat(self, written: str, key: str) -> ChatModel:
        choice = parse_chat(written, key, self._manifests)
        if choice.scheme == AUTO:
            choice = await self._usual_chat()
        if choice not in self._open:
            model = self._servers[choice.scheme].chat(choice.name)
            self._open[choice] = await self._stack.enter_async_context(model)
        return self._open[choice]

    async def _usual_chat(self) -> Choice:
        for scheme, server in self._servers.items():
            if name := await server.usual_chat():
                return Choice(scheme=scheme, name=name)
        raise ModelMissing("no model server has a model")

    async def embedder(self, written: str) -> Embedder | None:
        choice = parse(written, "models.embed", self._manifests)
        if choice.scheme == AUTO:
            return await self._usual_embedder()
        if choice.scheme == NONE:
            return None
        return await self._enter(choice)

    async def _usual_embedder(self) -> Embedder | None:
        for scheme, server in self._servers.items():
            if name := await server.usual_embedder():
                try:
                    return await self._enter(Choice(scheme=scheme, name=name))
                except ModelMissing as error:
                    log.warning("embedder.missing", next_step=str(error))
        return None

    async def _enter(self, choice: Choice) -> Embedder:
        opening = self._servers[choice.scheme].embedder(choice.name)
        return await self._stack.enter_async_context(opening)


@asynccontextmanager
async def open_embedder(loaded: Loaded) -> AsyncIterator[Embedder | None]:
    """The model for search by meaning alone; None where there is none.

    Raises:
        ConfigError: the setting names no model.
        ModelError: it cannot be had.
    """
    async with AsyncExitStack() as stack:
        opener = _Opener(loaded, NoDownloads(), stack)
        yield await opener.embedder(loaded.config.models.embed)


class NoDownloads:
    """For who fetches no model file."""

    async def ensure(self, name: str, _models_dir: Path) -> str:
        """The same name."""
        return name


@asynccontextmanager
async def open_models(loaded: Loaded, files: ModelFiles) -> AsyncIterator[Models]:
    """The models of every part, open.

    Raises:
        ConfigError: a setting names no model.
        ModelError: a model cannot be had.
    """
    parts = loaded.config.models
    async with AsyncExitStack() as stack:
        opener = _Opener(loaded, files, stack)
        chat = await opener.chat(parts.chat, "models.chat")

        async def or_chat(written: str, key: str) -> ChatModel:
            return await opener.chat(written, key) if written else chat

        yield Models(
            chat=chat,
            summary=await or_chat(parts.summary, "models.summary"),
            extract=await or_chat(parts.extract, "models.extract"),
            decision=await opener.chat(parts.decision, "models.decision")
            if parts.decision
            else None,
            embed=await opener.embedder(parts.embed),
        )
