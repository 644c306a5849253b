"""`kith jobs`: what runs by itself, when it ran last, and running it now."""

import asyncio
import json
import sys
from datetime import tzinfo
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from bot.app.app import SystemClock, open_app
from bot.app.model_choice import open_models
from bot.cli.boundary import ExitCode, err, out, run
from bot.cli.options import ConfigFile, DataDir, Json, loaded
from bot.cli.provision import Provision
from bot.config.config import Loaded
from bot.config.datadir import DATABASE
from bot.errors import ServiceNotRunning, UsageError
from bot.jobs.job_log import JobRun, last_runs
from bot.jobs.job_state import as_object, state_of
from bot.jobs.schedule import SCHEDULE
from bot.jobs.scheduler import Report
from bot.service.control import ask_service
from bot.service.logs import configure
from memory.database.database import open_reader
from memory.language.times import format_second

jobs = typer.Typer(help="Background jobs: when they run, how the last run went; run one now.")

Name = Annotated[str, typer.Argument(help="Name from 'kith jobs'.")]
POLL_S = 0.5
"""How often a running service is asked how far it is."""

State = dict[str, Any]


@jobs.callback(invoke_without_command=True)
def list_(
    context: typer.Context,
    *,
    as_json: Json = False,
    data_dir: DataDir = None,
    config: ConfigFile = None,
) -> None:
    """List the jobs: next run, last run, outcome, duration."""
    if context.invoked_subcommand is not None:
        return

    async def work() -> tuple[list[State], tzinfo | None]:
        settings = loaded(config, data_dir)
        return await _states(settings), settings.zone

    states, zone = run(work)
    if as_json:
        out.print_json(json.dumps(states))
    else:
        _show(states, zone)


@jobs.command("run")
def run_(name: Name, *, data_dir: DataDir = None, config: ConfigFile = None) -> None:
    """Run a job now, in the running service if there is one; exit 1 when it fails."""

    async def work() -> State:
        settings = loaded(config, data_dir)
        configure(level="warning", stream=sys.stderr)
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


async def _states(settings: Loaded) -> list[State]:
    """From the running service, else from the file that it left."""
    try:
        return list(await ask_service(settings.data_dir, "jobs"))
    except ServiceNotRunning:
        last = await _last_runs(settings.data_dir / DATABASE)
    now_ns = SystemClock().now_ns()
    return [
        as_object(
            state_of(name, schedule, last=last.get(name), now_ns=now_ns, zone=settings.zone)
        )
        for name, schedule in SCHEDULE.items()
    ]


async def _last_runs(path: Path) -> dict[str, JobRun]:
    if not await asyncio.to_thread(path.exists):
        return {}
    async with open_reader(path) as reader:
        return await last_runs(reader)


async def _run_now(settings: Loaded, name: str, report: Report) -> State:
    if name not in SCHEDULE:
        raise UsageError(f"there is no job {name!r}; jobs are: {', '.join(SCHEDULE)}")
    try:
        return await _run_in_service(settings.data_dir, name, report)
    except ServiceNotRunning:
        return await _run_here(settings, name, report)


async def _run_in_service(directory: Path, name: str, report: Report) -> State:
    """Let the service run it, and look on until it has ended."""
    asked = await ask_service(directory, "jobs.run", name=name)
    while True:
        states = {state["name"]: state for state in await ask_service(directory, "jobs")}
        state = states[name]
        last = state["last"]
        if last and last["began_at_ns"] >= asked["at_ns"] and last["outcome"]:
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


def _show(states: list[State], zone: tzinfo | None) -> None:
    table = Table("job", box=None)
    for head in ("next run", "last run", "outcome", "took"):
        table.add_column(head, no_wrap=True)
    table.add_column("what it did")
    for state in states:
        last = state["last"] or {}
        began = format_second(last["began_at_ns"], zone) if last else "never"
        took = "" if last.get("duration_ms") is None else f"{last['duration_ms'] / 1_000:.1f} s"
        outcome = (
            "running" if state["running"] else last.get("outcome") or ("cut off" if last else "")
        )
        due = format_second(state["next_at_ns"], zone)
        detail = last.get("detail", "")
        table.add_row(state["name"], due, began, outcome, took, detail)
    out.print(table, highlight=False)
