"""How long messages and replies live on their way, as plain values below the configuration."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverySettings:
    """Ages and retention of the inbox and the outbox."""

    max_age_s: int = 900
    """A message older than this when Kith comes to it is not answered but counted in a notice.
    15 minutes: long enough for a restart or an update, short enough that the talk has not moved
    on."""
    reply_max_age_s: int = 86_400
    """A finished reply is sent late rather than not at all, but not later than this. A day, as
    long as Telegram keeps what a bot did not fetch (Bot API, "Getting updates")."""
    keep_ids_days: int = 7
    """How long the ids of handled messages stay, to know one that is delivered again. A week:
    longer than any platform repeats itself."""
