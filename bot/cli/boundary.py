"""Where the command line meets the rest: exit codes, error texts, the two consoles."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any, TypeVar

import typer
from rich.console import Console

from bot.errors import ConfigError, LoginRefused, NoAdapterLeft, UsageError
from bot.service.logs import configure
from memory.errors import KithError

T = TypeVar("T")


class ExitCode(IntEnum):
    """What the process reports to its caller."""

    OK = 0
    FAILED = 1
    USAGE = 2
    CONFIG = 78
    """EX_CONFIG of sysexits(3): starting again does not help, so systemd must not."""
    INTERRUPTED = 130


out = Console()
"""What was asked for: tables, answers."""
err = Console(stderr=True)
"""What is going on: progress, warnings, errors."""


@contextmanager
def guarded() -> Iterator[None]:
    """Keep the log off standard output, and turn our errors into what to do next and an exit code.

    Raises:
        typer.Exit: for every one of them.
    """
    configure(level="warning", stream=sys.stderr, quiet=())
    try:
        yield
    except KithError as error:
        err.print(f"kith: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(_code(error)) from error
    except (KeyboardInterrupt, asyncio.CancelledError) as error:
        raise typer.Exit(ExitCode.INTERRUPTED) from error
    except BrokenPipeError as error:
        # Whoever read our output has left; say nothing more, not even at exit.
        sys.stdout = None
        raise typer.Exit(ExitCode.OK) from error


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a command's coroutine on an event loop of its own, guarded."""
    with guarded():
        return asyncio.run(work())


def _code(error: KithError) -> ExitCode:
    if isinstance(error, ConfigError | NoAdapterLeft | LoginRefused):
        return ExitCode.CONFIG
    return ExitCode.USAGE if isinstance(error, UsageError) else ExitCode.FAILED
