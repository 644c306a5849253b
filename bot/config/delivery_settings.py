"""How long messages and replies live on their way, as plain values below the configuration."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverySettings:
    """Ages and retention of the inbox and the outbox."""

    max_age_s: Annotated[int, Interval(ge=10, le=86_400)] = 900
    """A message older than this when Kith comes to it is not answered but counted in a notice.
    15 minutes: long enough for a restart or an update, short enough that the talk has not moved
    on."""
    reply_max_age_s: Annotated[int, Interval(ge=10, le=7 * 86_400)] = 86_400
    """A finished reply is sent late rather than not at all, but not later than this. A day, as
    long as Telegram keeps what a bot did not fetch (Bot API, "Getting updates")."""
    keep_ids_days: Annotated[int, Interval(ge=1, le=365)] = 7
    """How long the ids of handled messages stay, to know one that is delivered again. A week:
    longer than any platform repeats itself."""
