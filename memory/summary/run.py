"""What a run of the summary pass did, in numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Ended(StrEnum):
    """How a run ended."""

    UP_TO_DATE = "up_to_date"
    """Everything is covered."""
    ADOPTED = "adopted"
    """A summary without a cursor got one; no model was asked."""
    FAILED = "failed"
    """A chunk failed; what came before it is saved, the rest is for the next run."""
    NO_MODEL = "no_model"
    """There is no summary model to be had; nothing of the messages was to blame."""
    MOVED = "moved"
    """The session was reset, edited or summarised meanwhile; nothing more was saved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRun:
    """What a run did; numbers only."""

    ended: Ended = Ended.UP_TO_DATE
    chunks: int = 0
    """Summarised and saved."""
    messages: int = 0
    """Summarised and saved; one that was split counts with its last part."""
    noise: int = 0
    """Messages left out as noise."""
    calls: int = 0
    """Calls of the summary model, failed ones included."""
    judgements: int = 0
    """Calls of the decision model."""


Progress = Callable[[SummaryRun], None]


def unwatched(_run: SummaryRun) -> None:
    """Nobody watches."""
