"""Options that several verbs share."""

from pathlib import Path
from typing import Annotated

import typer

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
