"""A third model server, to show what one is made of: it has one model, which repeats what is said."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval

from bot.manifests import Finding, Level, ModelInfo, OwnSettings, ServerManifest, ServerParts
from memory.errors import ModelMissing
from memory.ports import ChatModel, Embedder
from tests.fakes import FakeChatModel, FakeEmbedder

SCHEME = "parrot"
_POLLY, _PIP = "polly", "pip"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParrotSettings(OwnSettings):
    """The table `[parrot]`."""

    awake: bool = False
    """An absent server, unless somebody says otherwise."""
    times: Annotated[int, Interval(ge=1, le=3)] = 1
    """How often it says it."""


class Parrot:
    """Implements `bot.manifests.ModelServer`."""

    def __init__(self, parts: ServerParts) -> None:
        self._settings: ParrotSettings = parts.settings

    async def models(self) -> Sequence[ModelInfo]:
        self._need(_POLLY, _POLLY)
        return [ModelInfo(name=_POLLY, context_tokens=8_192, tools=False, vision=False)]

    async def usual_chat(self) -> str | None:
        return _POLLY if self._settings.awake else None

    async def usual_embedder(self) -> str | None:
        return _PIP if self._settings.awake else None

    @asynccontextmanager
    async def chat(self, name: str) -> AsyncIterator[ChatModel]:
        self._need(name, _POLLY)
        times = self._settings.times
        yield FakeChatModel(
            lambda request: " ".join([request.messages[-1].text.splitlines()[-1]] * times),
            name=f"{SCHEME}:{name}",
        )

    @asynccontextmanager
    async def embedder(self, name: str) -> AsyncIterator[Embedder]:
        self._need(name, _PIP)
        yield FakeEmbedder(name=f"{SCHEME}:{name}")

    async def check(self, name: str) -> Finding:
        if not self._settings.awake or name not in ("", _POLLY):
            fix = "wake it: parrot.awake = true"
            return Finding(check="model", level=Level.FAILED, what="the parrot sleeps", fix=fix)
        return Finding(check="model", level=Level.OK, what=f"{SCHEME}:{_POLLY}")

    def _need(self, name: str, there: str) -> None:
        if not self._settings.awake or name != there:
            raise ModelMissing(f"there is no parrot {name}")


MANIFEST = ServerManifest(scheme=SCHEME, settings=ParrotSettings, open=Parrot)
