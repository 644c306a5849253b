"""The options of the Telegram adapter."""

from dataclasses import dataclass

from bot.ports import Platform, Secret

TELEGRAM = Platform("telegram")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast messages may follow each other."""

    every_s: float
    """Seconds between two messages in the long run."""
    burst: int
    """Messages that may go at once after a quiet time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramOptions:
    """Token, address and patience. The defaults are Telegram's own advice."""

    token: Secret
    base_url: str = "https://api.telegram.org/bot"
    """In front of the token, without a slash; a self-hosted Bot API server has another."""
    poll_timeout_s: int = 30
    """How long Telegram holds an empty getUpdates; at most 50."""
    connect_timeout_s: float = 10.0
    answer_timeout_s: float = 20.0
    """Silence after which a call counts as failed; a poll may stay silent so much longer."""
    retry_first_s: float = 1.0
    """First wait after a failed poll; doubled each time, with jitter."""
    retry_longest_s: float = 30.0
    failures_allowed: int = 8
    """Polls that may fail in a row before the adapter gives up and is started again."""
    conflict_pause_s: float = 55.0
    """Wait after a 409: longer than the 50 s that the other poll may last."""
    conflicts_allowed: int = 5
    """409s before the adapter gives up; forgotten after ten such pauses without one."""
    typing_every_s: float = 4.5
    """Telegram shows an action for 5 s (Bot API, sendChatAction)."""
    direct_pace: Pace = Pace(every_s=1.0, burst=3)
    """Bots FAQ, "My bot is hitting limits": about one message a second in a chat."""
    group_pace: Pace = Pace(every_s=3.5, burst=3)
    """The same page: 20 messages a minute in a group; 3 at once and 17 more make 20."""
    total_pace: Pace = Pace(every_s=1 / 25, burst=5)
    """The same page: 30 messages a second over all chats."""
