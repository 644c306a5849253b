"""Options that several verbs share, and the configuration that they lead to."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from bot.config.config import Loaded, load

ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", help="Configuration file.", show_default="the search order"),
]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Where everything that is remembered lies."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
SessionName = Annotated[
    str, typer.Argument(help="Conversation, as 'kith memory sessions' shows it.")
]


def loaded(config: Path | None, data_dir: Path | None = None, *, model: str = "") -> Loaded:
    """The configuration, with what the command line says put over it.

    Raises:
        ConfigError: it cannot be used.
    """
    from adapters.registry import MANIFESTS

    found = load(MANIFESTS, config)
    changed = found.config
    if data_dir is not None:
        changed = replace(changed, data_dir=str(data_dir.expanduser().resolve()))
    if model:
        changed = replace(changed, models=replace(changed.models, chat=model))
    return replace(found, config=changed)
