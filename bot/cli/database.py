"""`kith db`: check, repair, back up."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from bot.cli.boundary import ExitCode, out, run
from bot.cli.data import LONGEST_S, service_or_here
from bot.cli.options import ConfigFile, DataDir, Json
from bot.cli.settings import loaded
from bot.service.data_verbs import BACKUP, CHECK, REPAIR, database_verbs

Target = Annotated[Path, typer.Argument(help="A new file.")]

Object = dict[str, object]

_PARTS = {
    "links": "rows that belong to nothing",
    "keywords": "messages that keyword search has wrong",
    "keyword_index": "keyword index contradicts itself",
    "meanings": "vectors that cannot be used",
    "sizes": "sessions whose running size is wrong",
    "summaries": "summaries broken or forgotten",
    "pools": "links of facts that lead astray",
}


def check(*, as_json: Json = False, data_dir: DataDir = None, config: ConfigFile = None) -> None:
    """Compare everything derived with what it is derived from; exit 1 when something is wrong."""
    _show(_done(CHECK, data_dir, config, {}), as_json=as_json)


def repair(*, as_json: Json = False, data_dir: DataDir = None, config: ConfigFile = None) -> None:
    """Rebuild the keyword index and all else that is derived; no message is touched."""
    _show(_done(REPAIR, data_dir, config, {}), as_json=as_json)


def backup(
    target: Target, *, as_json: Json = False, data_dir: DataDir = None, config: ConfigFile = None
) -> None:
    """Copy the database into a new file, while everything goes on."""
    place = target.expanduser().absolute()
    copied = _done(BACKUP, data_dir, config, {"target": str(place)})
    if as_json:
        out.print_json(json.dumps(copied))
    else:
        line = f"{copied['bytes']:,} bytes written to {copied['file']}"
        out.print(line, markup=False, highlight=False, soft_wrap=True)


def _done(verb: str, data_dir: Path | None, config: Path | None, arguments: Object) -> Object:
    async def work() -> Object:
        settings = loaded(config, data_dir)
        answer = service_or_here(settings, verb, arguments, database_verbs, wait_s=LONGEST_S)
        return dict(await answer)

    return run(work)


def _show(found: Object, *, as_json: bool) -> None:
    if as_json:
        out.print_json(json.dumps(found))
    else:
        table = Table("what", "count", box=None, pad_edge=False)
        for key in ("messages", "vectors", "waiting"):
            table.add_row(key, str(found[key]))
        for key, words in _PARTS.items():
            if found[key]:
                table.add_row(words, str(found[key]), style="red")
        out.print(table, highlight=False)
        for line in _lines(found["file"]):
            out.print(line, style="red", markup=False, highlight=False, soft_wrap=True)
        out.print("sound" if found["sound"] else "not sound; see: kith db repair", highlight=False)
    if not found["sound"]:
        raise typer.Exit(ExitCode.FAILED)


def _lines(value: object) -> list[str]:
    return [str(line) for line in value] if isinstance(value, list | tuple) else []
