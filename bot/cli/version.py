"""`kith version`: the smallest verb."""

from importlib.metadata import version as installed_version

from bot.cli.boundary import out


def version() -> None:
    """Print the version."""
    out.print(installed_version("kithbot"), highlight=False)
