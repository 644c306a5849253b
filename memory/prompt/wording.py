"""The prompt texts, each a file beside the code that sends it; what people wrote is put in as data."""

from importlib.resources import files
from string import Template


def wording(package: str, name: str) -> Template:
    """The text `name.md` of a package; its blanks are `$name`."""
    path = files(package) / f"{name}.md"
    return Template(path.read_text(encoding="utf-8").strip())
