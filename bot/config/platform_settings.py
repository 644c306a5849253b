"""What an operator can set about the platforms, and about how the service runs, as plain values.

Tokens do not stand here: they are secrets (`bot.config.config.Loaded.secret`).
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from annotated_types import Interval

from bot.config.access_settings import AccessSettings
from bot.config.delivery_settings import DeliverySettings
from memory.settings import STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramSettings(AccessSettings):
    """The table `[telegram]`: used when there is a token."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    enabled: bool = True
    """False: stay away although there is a token."""
    api_url: str = "https://api.telegram.org"
    """Another one for a Bot API server of one's own."""
    poll_s: Annotated[int, Interval(ge=1, le=50)] = 30
    """How long Telegram holds a request for new messages; it allows no more than 50."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordSettings(AccessSettings):
    """The table `[discord]`: used when there is a token."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    enabled: bool = True
    """False: stay away although there is a token."""
    catch_up_s: Annotated[int, Interval(ge=0, le=7 * 86_400)] = 86_400
    """After downtime, messages older than this are not even read back. A day: what is younger and
    still too old to be answered is counted in a notice."""
    api_url: str = ""
    """Empty: Discord's own."""
    gateway_url: str = ""
    """Empty: the gateway that belongs to `api_url`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsSettings(DeliverySettings):
    """The table `[limits]`."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    drain_s: Annotated[float, Interval(ge=0, le=600)] = 30.0
    """At a stop, turns under way may take this long to end. Below systemd's `TimeoutStopSec`
    (45 s in our unit), which kills."""
    lane_jobs: Annotated[int, Interval(ge=1, le=10_000)] = 50
    """Messages that may wait in one conversation before its people are told to wait."""
