"""What a source of model files is, so that the fetch can try one after the other."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from adapters.embedded.partial import Partial
from adapters.embedded.weights import Weights


class Stage(StrEnum):
    """What a fetch is doing, for people."""

    WAITING = "waiting for another process"
    CHECKING = "checking what is already here"
    COPYING = "copying the given file"
    HUB = "model hub"
    REGISTRY = "package registry"


class Report(Protocol):
    """Receives how far a fetch is; called in the event loop, often, and must return at once."""

    def __call__(self, stage: Stage, *, done_bytes: int, total_bytes: int) -> None:
        """`done_bytes` of `total_bytes` of the model file are here."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """One file that is being fetched."""

    weights: Weights
    partial: Partial
    scratch: Path
    """A directory that the source may make, use and delete."""
    report: Report

    def report_progress(self, stage: Stage) -> None:
        """Report how far it is."""
        self.report(stage, done_bytes=self.partial.size_bytes, total_bytes=self.weights.size_bytes)


class WeightsSource(Protocol):
    """Somewhere that the bytes of a model file come from."""

    @property
    def label(self) -> str:
        """Name for people."""
        ...

    @property
    def needs_scratch(self) -> bool:
        """Whether a part of the file lies on the disk a second time while it is read."""
        ...

    async def fill(self, job: Fetch) -> None:
        """Append what is missing to `job.partial`.

        It may be cancelled at any await and leaves the partial file fit to be continued.

        Raises:
            SourceFailed: it cannot give the file.
            WeightsError: as in `Partial.append`.
        """
        ...
