"""`kith doctor`: looks at everything, and names the next step where something is wrong."""

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from bot.app.checkup import examine_all
from bot.app.clock import SystemClock
from bot.cli.boundary import ExitCode, out, run
from bot.cli.options import ConfigFile, DataDir, Json
from bot.cli.settings import loaded
from bot.errors import ConfigError
from bot.manifests import Finding, Level
from bot.service.doctor import config_refused

Offline = Annotated[bool, typer.Option("--offline", help="Ask neither platforms nor Ollama.")]
_COLOURS = {
    Level.OK: "green",
    Level.WARNING: "yellow",
    Level.FAILED: "red",
    Level.SKIPPED: "dim",
}


def doctor(
    *,
    as_json: Json = False,
    offline: Offline = False,
    data_dir: DataDir = None,
    config: ConfigFile = None,
) -> None:
    """Check configuration, tokens, model and database; exit 1 when something must be mended."""

    async def work() -> list[Finding]:
        try:
            settings = loaded(config, data_dir)
        except ConfigError as error:
            return config_refused(error)
        return await examine_all(settings, SystemClock(), offline=offline)

    findings = run(work)
    if as_json:
        out.print_json(json.dumps([asdict(one) for one in findings], ensure_ascii=False))
    else:
        _show(findings)
    if any(one.level is Level.FAILED for one in findings):
        raise typer.Exit(ExitCode.FAILED)


def _show(findings: list[Finding]) -> None:
    table = Table("check", "", "what was found", "next step", box=None, pad_edge=False)
    for one in findings:
        colour = _COLOURS[one.level]
        table.add_row(one.check, f"[{colour}]{one.level}[/{colour}]", one.what, one.fix)
    out.print(table, highlight=False)
