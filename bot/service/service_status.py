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
    waiting_vectors: int = 0
    """Messages that have no vector yet; until then they are found by words alone."""
    keyword_only: str | None = None
    """Why search is by words alone: the kind of the embedding model's failure; None when it is not."""
    troubles: tuple[Trouble, ...] = ()
    """The last ones, newest first."""

    @property
    def search(self) -> str:
        """How the past is searched."""
        if self.embed_model is None:
            return "words"
        how = "by words only for now" if self.keyword_only else "words and meaning"
        waiting = f" ({self.waiting_vectors} messages wait for vectors)"
        return how + (waiting if self.waiting_vectors else "")
