"""What is to be known of a chat platform or of a model server: one object each, asked by everybody.

`adapters.registry` names those that there are; the composition root hands them down. Nothing else
in the service names a platform or a server.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Protocol

from bot.ports import ChatAdapter, CommandRunner, CommandSpec, Intake, Platform, Secret
from memory.ports import ChatModel, Clock, Embedder
from memory.values import TEMPORARY


class Level(StrEnum):
    """How good a finding is."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that `kith doctor` looked at."""

    check: str
    level: Level
    what: str
    fix: str = ""
    """The next step; empty when there is nothing to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSettings:
    """What an operator can set about one platform or server alone; a subclass adds its fields.

    They stand in the table of its name. Bounds stand in the types, secrets never in the file.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}
    """An unknown key is an error, not a silent nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterParts:
    """What an adapter hands its events to, and what it offers."""

    intake: Intake
    commands: CommandRunner
    specs: Sequence[CommandSpec]
    """Every command, for the platform's own interface."""
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Connector:
    """How a platform is connected to. Its token is the secret `NAME-token`."""

    settings: type[OwnSettings]
    """Of the table `[NAME]`, beside what every platform has."""
    open: Callable[[Any, Secret, AdapterParts], AbstractAsyncContextManager[ChatAdapter]]
    """The adapter of these settings and this token, not yet connected."""
    check: Callable[[Any, Secret], Awaitable[list[Finding]]]
    """What `kith doctor` finds by asking the platform. May raise `LoginRefused`, `AdapterError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformManifest:
    """A place where people chat."""

    name: Platform
    """Also the name of its table, and what stands before the colon in the ids of its people."""
    prefix: str
    """What the ids of its sessions begin with, before the first dash."""
    bare_id: str = ""
    """Pattern of a person's id without the platform's name, as a text would give it away; empty
    where ids are words."""
    direct_by_person: bool = False
    """Whether a direct chat has an id that does not say whose it is: its session then takes the
    person's."""
    most_sends: int = 1
    """How often a part of a reply may be sent when each time it may have arrived, at least 1."""
    loggers: tuple[str, ...] = ()
    """Of its libraries, whose INFO lines hold URLs with tokens or what people say."""
    connector: Connector | None = None
    """None: this machine's own terminal, which no service connects to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """A model that a server has, as far as the server tells; None is what it does not say."""

    name: str
    """As it stands behind the scheme's colon."""
    context_tokens: int | None = None
    """Prompt and reply together."""
    tools: bool | None = None
    vision: bool | None = None
    """Whether it can look at pictures."""
    size_bytes: int | None = None


class ModelServer(Protocol):
    """A model server that may be there or not; nothing is asked before a method is called."""

    async def models(self) -> Sequence[ModelInfo]:
        """The chat models that it has, in its own order.

        Raises:
            ModelError: it is not there, or answered with something else.
        """
        ...

    async def usual_chat(self) -> str | None:
        """The chat model that `auto` takes from it; None when it has none, or is not there."""
        ...

    async def usual_embedder(self) -> str | None:
        """The embedding model that `auto` takes from it; None when it has none."""
        ...

    def chat(self, name: str) -> AbstractAsyncContextManager[ChatModel]:
        """A chat model, open.

        Raises:
            ModelError: it cannot be had.
        """
        ...

    def embedder(self, name: str) -> AbstractAsyncContextManager[Embedder]:
        """An embedding model, open.

        Raises:
            ModelError: it cannot be had.
        """
        ...

    async def check(self, name: str) -> Finding:
        """What `kith doctor` finds of a chat model; empty: of the one that `auto` would take."""
        ...


class ModelFiles(Protocol):
    """Sees to it that the file of a model that runs in this process is there."""

    async def ensure(self, name: str, models_dir: Path) -> str:
        """The name of the model to use; it may be another one than was asked for.

        Raises:
            ModelError: none can be had.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerParts:
    """What a model server is made from."""

    settings: Any
    """Of the manifest's own type."""
    token: Secret | None
    path: Callable[[str, Path], Path]
    """The absolute path of what a setting names, given its default."""
    files: ModelFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerManifest:
    """Where models run."""

    scheme: str
    """What stands before the colon in `ollama:NAME`; also the name of its table."""
    settings: type[OwnSettings]
    open: Callable[[ServerParts], ModelServer]
    remote: bool = True
    """Whether asking it leaves this process. A remote one has the secret `SCHEME-token`."""
    names: tuple[str, ...] = ()
    """Models that may be named without the scheme."""


class Manifests:
    """All platforms, and all model servers in the order in which `auto` asks them.

    Raises:
        ValueError: two of them share a name, a prefix or a scheme, a prefix would not tell whose
            sessions are whose, or a `bare_id` is no pattern.
    """

    person_ids: re.Pattern[str]
    """What in a text may be somebody's id: with a platform's name, bare, or as a mention."""

    def __init__(
        self, *, platforms: Iterable[PlatformManifest], servers: Iterable[ServerManifest]
    ) -> None:
        listed, serving = tuple(platforms), tuple(servers)
        prefixes = [one.prefix for one in listed]
        tables = [*(one.name for one in listed), *(one.scheme for one in serving)]
        self.platforms = {one.name: one for one in listed}
        self.servers = {one.scheme: one for one in serving}
        if len(set(prefixes)) < len(prefixes) or len(set(tables)) < len(tables):
            raise ValueError(f"two manifests share a name or a prefix: {tables}, {prefixes}")
        if any("-" in prefix or not prefix for prefix in prefixes):
            raise ValueError(f"a prefix ends at the first dash, and is not empty: {prefixes}")
        if TEMPORARY.removesuffix("-") in prefixes:
            raise ValueError(f"{TEMPORARY} sessions are swept: {prefixes}")
        try:
            self.person_ids = _person_ids(listed)
        except re.error as error:
            raise ValueError(f"a bare_id is no pattern: {error}") from error

    @property
    def connectors(self) -> dict[Platform, Connector]:
        """How each platform that a service can connect to is connected to."""
        return {name: one.connector for name, one in self.platforms.items() if one.connector}

    @property
    def session_prefixes(self) -> tuple[str, ...]:
        """What session ids begin with, dash included; first that of this machine's terminal."""
        ordered = sorted(self.platforms.values(), key=lambda one: one.connector is not None)
        return tuple(f"{one.prefix}-" for one in ordered)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every secret that there is, by the name of its systemd credential."""
        remote = (one.scheme for one in self.servers.values() if one.remote)
        return tuple(f"{name}-token" for name in (*self.connectors, *remote))

    @property
    def loggers(self) -> tuple[str, ...]:
        """Loggers of the platforms' libraries, to be kept at WARNING."""
        return tuple(logger for one in self.platforms.values() for logger in one.loggers)


def _person_ids(platforms: Sequence[PlatformManifest]) -> re.Pattern[str]:
    names = "|".join(re.escape(one.name) for one in platforms)
    bare = "|".join(sorted({one.bare_id for one in platforms if one.bare_id}))
    bare_ids = rf"|\b(?:{bare})\b" if bare else ""
    named = rf"\b(?:{names}):\S" if names else r"(?!)"
    return re.compile(rf"{named}{bare_ids}|@\w", re.IGNORECASE)
