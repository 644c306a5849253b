"""What a run of the summary pass did, in numbers."""

from dataclasses import dataclass, replace
from enum import StrEnum

from memory.summary.chunks import Chunk


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


class Tally:
    """Counts what a run does."""

    def __init__(self) -> None:
        self._run = SummaryRun()

    def called(self) -> None:
        """The summary model was called."""
        self._run = replace(self._run, calls=self._run.calls + 1)

    def judged(self, calls: int) -> None:
        """The decision model was called so often."""
        self._run = replace(self._run, judgements=self._run.judgements + calls)

    def left_out(self, messages: int) -> None:
        """So many messages were noise."""
        self._run = replace(self._run, noise=self._run.noise + messages)

    def saved(self, chunk: Chunk) -> None:
        """A chunk is done; a message that goes on in the next one is counted there."""
        split = bool(chunk.rest) and chunk.rest[0].seq == chunk.messages[-1].seq
        self._run = replace(
            self._run,
            chunks=self._run.chunks + 1,
            messages=self._run.messages + len(chunk.messages) - split,
        )

    def ended(self, how: Ended) -> SummaryRun:
        """The figures of the whole run."""
        return replace(self._run, ended=how)
