"""What is known about a running service, as values; it holds no message text."""

from dataclasses import dataclass
from enum import StrEnum

from bot.ports import Platform


class Standing(StrEnum):
    """How an adapter stands."""

    STARTING = "starting"
    UP = "up"
    DOWN = "down"
    """It failed and is started again after a pause."""
    GIVEN_UP = "given up"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterStatus:
    """What an operator sees of an adapter."""

    platform: Platform
    standing: Standing
    since_ns: int
    restarts: int = 0
    error: str = ""
    """Why it is not up, or why it last was not; our own words, never a message's text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A warning or error that was logged."""

    at_ns: int
    event: str
    error: str = ""
    """The error's class, where there was one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceStatus:
    """How the service does now."""

    version: str
    pid: int
    started_at_ns: int
    adapters: tuple[AdapterStatus, ...]
    lanes: int
    """Conversations that are being answered, or were a moment ago."""
    inbox_open: int
    outbox_open: int
    perhaps_delivered: int
    """Parts of which nobody knows whether they arrived."""
    quarantined: int
    """Updates that could not be understood."""
    chat_model: str
    embed_model: str | None
    troubles: tuple[Trouble, ...] = ()
    """The last ones, newest first."""

    @property
    def search(self) -> str:
        """How the past is searched."""
        return "words and meaning" if self.embed_model else "words"
