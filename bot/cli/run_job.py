"""`kith jobs run`: one job at once, in the running service if there is one."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bot.app.app import open_app
from bot.app.model_choice import open_models
from bot.cli.boundary import ExitCode, err, out, run
from bot.cli.options import ConfigFile, DataDir
from bot.cli.provision import Provision
from bot.cli.settings import loaded
from bot.config.config import Loaded
from bot.errors import ServiceNotRunning, UsageError
from bot.jobs.schedule import SCHEDULE
from bot.jobs.scheduler import Report
from bot.service.control import ask_service

Name = Annotated[str, typer.Argument(help="Name from 'kith jobs'.")]
POLL_S = 0.5
"""How often a running service is asked how far it is."""

State = dict[str, Any]


def run_job(name: Name, *, data_dir: DataDir = None, config: ConfigFile = None) -> None:
    """Run a job now, in the running service if there is one; exit 1 when it fails."""

    async def work() -> State:
        settings = loaded(config, data_dir)
        with _progress() as progress:
            task = progress.add_task(name, total=None)

            def report(done: int, total: int) -> None:
                progress.update(task, completed=done, total=total or None)

            return await _run_now(settings, name, report)

    ended = run(work)
    seconds = ended["duration_ms"] / 1_000
    line = f"{name}: {ended['outcome']} in {seconds:.1f} s  {ended['detail']}"
    out.print(line.rstrip(), markup=False, highlight=False, soft_wrap=True)
    if ended["outcome"] != "done":
        raise typer.Exit(ExitCode.FAILED)


async def _run_now(settings: Loaded, name: str, report: Report) -> State:
    if name not in SCHEDULE:
        raise UsageError(f"there is no job {name!r}; jobs are: {', '.join(SCHEDULE)}")
    try:
        return await _run_in_service(settings.data_dir, name, report)
    except ServiceNotRunning:
        return await _run_here(settings, name, report)


async def _run_in_service(directory: Path, name: str, report: Report) -> State:
    """Let the service run it, and look on until it has ended."""
    answer = await ask_service(directory, "jobs.run", name=name)
    while True:
        states = {state["name"]: state for state in await ask_service(directory, "jobs")}
        state = states[name]
        last = state["last"]
        if last and last["began_at_ns"] >= answer["at_ns"] and last["outcome"]:
            return dict(last)
        report(*state["steps"])
        await asyncio.sleep(POLL_S)


async def _run_here(settings: Loaded, name: str, report: Report) -> State:
    provision = Provision(err, ask=False)
    async with open_app(settings, lambda: open_models(settings, provision)) as app:
        ended = await app.scheduler.run_now(name, report)
    return {"outcome": ended.outcome, "duration_ms": ended.duration_ms, "detail": ended.detail}


def _progress() -> Progress:
    """Shown on a terminal only; silent in a pipe."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,
    )
