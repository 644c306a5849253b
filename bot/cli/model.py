"""`kith model`: the embedded models that this machine has or can have."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from adapters.embedded.manifest import SCHEME, models_dir
from adapters.embedded.store import Held, Store
from adapters.embedded.weights import DEFAULT, find
from bot.cli.boundary import err, guarded, out, run
from bot.cli.options import ConfigFile, Json
from bot.cli.provision import fetch_shown
from bot.cli.settings import loaded

Name = Annotated[str, typer.Argument(help="Short name from 'kith model list'.")]
From = Annotated[Path | None, typer.Option("--from", help="Take this GGUF file, fetch nothing.")]

_MB = 1_000_000


def _store(config: Path | None) -> Store:
    settings = loaded(config)
    return Store(models_dir=models_dir(settings.config.server(SCHEME), settings.path))


def list_(*, as_json: Json = False, config: ConfigFile = None) -> None:
    """List the models, and which are here."""
    with guarded():
        held = _store(config).listing()
        if as_json:
            out.print_json(json.dumps([_row(one) for one in held]))
            return
        table = Table("name", "model", "size", "languages", "licence", "here")
        for one in held:
            weights = one.weights
            here = "yes" if one.present else f"{one.partial_bytes * 100 // weights.size_bytes} %"
            size = f"{weights.size_bytes / _MB:,.0f} MB"
            languages = ", ".join(weights.languages)
            table.add_row(weights.name, weights.title, size, languages, weights.licence, here)
        out.print(table)


def _row(one: Held) -> dict[str, object]:
    return {
        "name": one.weights.name,
        "title": one.weights.title,
        "size_bytes": one.weights.size_bytes,
        "sha256": one.weights.sha256,
        "licence": one.weights.licence,
        "languages": list(one.weights.languages),
        "present": one.present,
        "partial_bytes": one.partial_bytes,
        "path": str(one.path),
    }


def get(name: Name = DEFAULT, *, given: From = None, config: ConfigFile = None) -> None:
    """Fetch a model, or go on where a fetch was cut; its checksum is verified."""

    async def work() -> Path:
        weights = find(name)
        return await fetch_shown(weights, _store(config), err, given=given)

    out.print(str(run(work)), soft_wrap=True, highlight=False)


def path(name: Name = DEFAULT, *, config: ConfigFile = None) -> None:
    """Print where a model's file lies."""
    with guarded():
        out.print(str(_store(config).need(find(name))), soft_wrap=True, highlight=False)


def remove(name: Name, *, config: ConfigFile = None) -> None:
    """Delete a model's file and what a cut fetch left."""
    with guarded():
        freed = _store(config).remove(find(name))
        out.print(f"{freed / _MB:,.0f} MB freed", highlight=False)
