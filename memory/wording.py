"""The prompt texts, read from `memory/prompts/`; they are ours alone, and what people wrote is put in as data."""

from importlib.resources import files
from string import Template


def wording(name: str) -> Template:
    """The prompt text of that name; its blanks are `$name`."""
    path = files("memory") / "prompts" / f"{name}.md"
    return Template(path.read_text(encoding="utf-8").strip())
