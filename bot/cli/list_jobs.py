"""`kith jobs`: what runs by itself, and when it ran last."""

import asyncio
import json
from datetime import tzinfo
from pathlib import Path
from typing import Any

from rich.table import Table

from bot.app.clock import SystemClock
from bot.cli.boundary import out, run
from bot.cli.settings import loaded
from bot.config.config import Loaded
from bot.config.datadir import DATABASE
from bot.errors import ServiceNotRunning
from bot.jobs.job_log import JobRun, last_runs
from bot.jobs.job_state import as_object, state_of
from bot.jobs.schedule import SCHEDULE
from bot.service.control import ask_service
from memory.database.database import open_reader
from memory.language.times import format_second

State = dict[str, Any]


def list_jobs(*, as_json: bool, data_dir: Path | None, config: Path | None) -> None:
    """Print the jobs: next run, last run, outcome, duration."""

    async def work() -> tuple[list[State], tzinfo | None]:
        settings = loaded(config, data_dir)
        return await _states(settings), settings.zone

    states, zone = run(work)
    if as_json:
        out.print_json(json.dumps(states))
    else:
        _show(states, zone)


async def _states(settings: Loaded) -> list[State]:
    """From the running service, else from the file that it left."""
    try:
        return list(await ask_service(settings.data_dir, "jobs"))
    except ServiceNotRunning:
        last = await _last_runs(settings.data_dir / DATABASE)
    now_ns = SystemClock().now_ns()
    return [
        as_object(state_of(name, schedule, last=last.get(name), now_ns=now_ns, zone=settings.zone))
        for name, schedule in SCHEDULE.items()
    ]


async def _last_runs(path: Path) -> dict[str, JobRun]:
    if not await asyncio.to_thread(path.exists):
        return {}
    async with open_reader(path) as reader:
        return await last_runs(reader)


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
