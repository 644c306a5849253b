"""`kith status`: how the running service does."""

import json
from datetime import tzinfo
from typing import Any

import typer
from rich.table import Table

from bot.cli.boundary import ExitCode, guarded, out, run
from bot.cli.options import ConfigFile, DataDir, Json
from bot.cli.settings import loaded
from bot.config.config import Loaded
from bot.errors import ServiceNotRunning
from bot.service.control import ask_service
from memory.language.times import format_second

_COLOURS = {"up": "green", "starting": "yellow", "down": "yellow", "given up": "red"}


def status(*, as_json: Json = False, data_dir: DataDir = None, config: ConfigFile = None) -> None:
    """Show what the running service does; exit 1 when none runs."""
    with guarded():
        settings = loaded(config, data_dir)
    found = run(lambda: _ask(settings, as_json=as_json))
    if as_json:
        out.print_json(json.dumps(found))
    elif found["running"]:
        _show(found, settings.zone)
    if not found["running"]:
        raise typer.Exit(ExitCode.FAILED)


async def _ask(settings: Loaded, *, as_json: bool) -> dict[str, Any]:
    try:
        answer = await ask_service(settings.data_dir, "status")
    except ServiceNotRunning:
        if not as_json:
            raise
        return {"running": False}
    return {"running": True, **answer}


def _show(found: dict[str, Any], zone: tzinfo | None) -> None:
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    table.add_row("kith", f"{found['version']}, process {found['pid']}")
    table.add_row("running since", format_second(found["started_at_ns"], zone))
    for adapter in found["adapters"]:
        table.add_row(adapter["platform"], _adapter(adapter, zone))
    table.add_row("model", found["chat_model"])
    table.add_row("search", found["search"])
    table.add_row("conversations", f"{found['lanes']} under way")
    table.add_row("to answer", str(found["inbox_open"]))
    table.add_row("to send", str(found["outbox_open"]))
    if found["perhaps_delivered"]:
        table.add_row("perhaps sent", str(found["perhaps_delivered"]))
    if found["quarantined"]:
        table.add_row("not understood", f"{found['quarantined']} updates")
    for trouble in found["troubles"]:
        line = f"{format_second(trouble['at_ns'], zone)}  {trouble['event']} {trouble['error']}"
        table.add_row("trouble", line.rstrip())
    out.print(table, highlight=False)


def _adapter(adapter: dict[str, Any], zone: tzinfo | None) -> str:
    standing = adapter["standing"]
    colour = _COLOURS.get(standing, "white")
    text = f"[{colour}]{standing}[/{colour}] since {format_second(adapter['since_ns'], zone)}"
    if standing != "up" and adapter["error"]:
        text += f"\n{adapter['error']}"
    return text
