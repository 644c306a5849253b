"""Commands that are imported when they are called: the list of them costs nothing."""

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


class LazyCommand(TyperCommand):
    """A command, or a group of them, in a module that is imported when it is called.

    Args:
        name: how it is called.
        target: where it is, as `module:attribute`; a function or a `typer.Typer`.
        line: what its group's help says of it: the first line of its own.
    """

    def __init__(self, name: str, target: str, line: str) -> None:
        super().__init__(name, help=line)
        self._target = target

    def load(self) -> Any:  # noqa: ANN401 - typer keeps the type of a command to itself
        """The command itself."""
        module, _, attribute = self._target.partition(":")
        found = getattr(import_module(module), attribute)
        if isinstance(found, typer.Typer):
            return typer.main.get_command(found)
        alone = typer.Typer(add_completion=False)
        alone.command(self.name)(found)
        return typer.main.get_command(alone)

    def make_context(self, *given: Any, **more: Any) -> Any:  # noqa: ANN401 - handed on as it comes
        """Begin the call of the command itself."""
        return self.load().make_context(*given, **more)


def group_of(*verbs: LazyCommand | TyperGroup) -> type[TyperGroup]:
    """The class of a group that has these commands."""

    class Group(TyperGroup):
        def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - handed on as they come
            super().__init__(**settings | {"commands": verbs})

    return Group
