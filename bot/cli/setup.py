"""`kith init`: the first verb."""

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import platformdirs
import typer

from bot.cli.boundary import guarded, out
from bot.cli.options import DataDir
from bot.cli.settings import loaded
from bot.config.config import APP, FILE
from bot.config.datadir import owned
from bot.errors import UsageError
from memory.prompt.backdrop import BACKGROUND, DEFAULT_SOUL, SOUL

EXAMPLE = files("bot.config") / "config.example.toml"

Where = Annotated[
    Path | None,
    typer.Option("--config", help="Where to write it.", show_default="your config directory"),
]
Force = Annotated[bool, typer.Option("--force", help="Replace a configuration that is there.")]


def init(*, config: Where = None, data_dir: DataDir = None, force: Force = False) -> None:
    """Write a commented configuration, and the persona files to edit."""
    with guarded():
        target = config or Path(platformdirs.user_config_dir(APP)) / FILE
        if target.exists() and not force:
            raise UsageError(f"{target} is there already; edit it, or replace it with --force")
        text = EXAMPLE.read_text(encoding="utf-8")
        if data_dir is not None:
            line = f'data_dir = "{data_dir.expanduser().resolve()}"'
            text = text.replace('# data_dir = ""', line, 1)
        _write(target, text)
        with owned(loaded(target).data_dir) as directory:
            pages = [(directory / SOUL, DEFAULT_SOUL + "\n"), (directory / BACKGROUND, "")]
            for page, content in pages:
                if not page.exists():
                    _write(page, content)
        out.print(f"Wrote {target}", highlight=False, soft_wrap=True)
        out.print(f"Persona: {directory / SOUL}", highlight=False, soft_wrap=True)
        out.print("Next: kith chat", highlight=False)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
