"""Getting an embedded model before the first chat: asked on a terminal, said in a pipe."""

from pathlib import Path

from prompt_toolkit import PromptSession
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from adapters.embedded.errors import WeightsAbsent, WeightsError, WeightsUnavailable
from adapters.embedded.fetch import get
from adapters.embedded.sources.interface import Stage
from adapters.embedded.store import Store
from adapters.embedded.weights import DEFAULT, FALLBACK, Weights, find

_MB = 1_000_000


class Provision:
    """Sees to it that a model's file is there."""

    def __init__(self, console: Console, *, ask: bool) -> None:
        self._console = console
        self._ask = ask

    async def ensure(self, name: str, models_dir: Path) -> str:
        """The model to use: the one asked for, or the smallest where the default cannot be had.

        Raises:
            ModelMissing: it is not there and was not, or could not be, fetched.
            WeightsError: its file could not be put in place.
        """
        weights, store = find(name), Store(models_dir=models_dir)
        if store.has(weights):
            return name
        await self._announce(weights, store)
        try:
            await fetch_shown(weights, store, self._console)
        except (WeightsUnavailable, WeightsError) as error:
            if weights.name != DEFAULT:
                raise
            return await self._fall_back(error, store)
        return name

    async def _announce(self, weights: Weights, store: Store) -> None:
        size = f"{weights.size_bytes / _MB:,.0f} MB"
        if self._ask:
            question = f"The model {weights.title} ({size}) is not here yet. Fetch it now?"
            if not await _agreed(question):
                raise WeightsAbsent(weights.name, store.path(weights))
        else:
            self._console.print(
                f"kith: fetching the model {weights.title} ({size}), once", highlight=False
            )

    async def _fall_back(self, error: Exception, store: Store) -> str:
        smallest = find(FALLBACK)
        self._console.print(f"kith: {error}", style="yellow", markup=False, highlight=False)
        if not store.has(smallest):
            await fetch_shown(smallest, store, self._console)
        self._console.print(
            f"kith: warning: using {smallest.title} instead; it knows little and only English",
            style="yellow",
            highlight=False,
        )
        return smallest.name


async def _agreed(question: str) -> bool:
    """Whether the person says yes, or just presses Enter. Ctrl-D is a no, Ctrl-C ends everything."""
    prompt: PromptSession[str] = PromptSession()
    try:
        answer = await prompt.prompt_async(f"{question} [Y/n] ")
    except EOFError:
        return False
    return answer.strip().casefold() in {"", "y", "yes"}


async def fetch_shown(
    weights: Weights, store: Store, console: Console, *, given: Path | None = None
) -> Path:
    """Fetch a model's file with a progress bar; its path.

    Raises:
        ModelError: as `adapters.embedded.fetch.get`.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(weights.name, total=weights.size_bytes)

        def report(stage: Stage, *, done_bytes: int, total_bytes: int) -> None:
            bar.update(
                task,
                description=f"{weights.name}: {stage}",
                completed=done_bytes,
                total=total_bytes,
            )

        return await get(weights, store=store, report=report, given=given)
