"""`kith chat`: talk in the terminal, or through a pipe."""

import getpass
import sys
from collections.abc import Coroutine
from typing import Annotated, Any

import typer

from adapters.console import pipe, terminal
from bot.app.app import App, open_app
from bot.app.model_choice import open_models
from bot.cli.boundary import ExitCode, err, out, run
from bot.cli.options import ConfigFile, DataDir
from bot.cli.provision import Provision
from bot.cli.settings import loaded
from bot.config.config import Loaded
from bot.console.talk import ConsoleTalk
from bot.jobs.jobs import alongside, follow_backlog, follow_queue
from bot.service.logs import configure
from memory.values import Mode

Model = Annotated[
    str,
    typer.Option("--model", help="auto, ollama:NAME, embedded:NAME, or a name from 'model list'."),
]
SessionName = Annotated[str, typer.Option("--session", help="Which conversation to go on with.")]
MemoryMode = Annotated[
    Mode,
    typer.Option("--mode", help="Memory: full, window, or pools (no transcript on disk)."),
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Show what happens, on stderr.")]


def chat(
    *,
    model: Model = "",
    session: SessionName = "main",
    mode: MemoryMode = Mode.FULL,
    data_dir: DataDir = None,
    config: ConfigFile = None,
    verbose: Verbose = False,
) -> None:
    """Talk in the terminal; piped, answer one line for each line of input."""

    async def work() -> bool:
        settings = loaded(config, data_dir, model=model)
        configure(
            level="debug" if verbose else "warning",
            stream=sys.stderr,
            quiet=settings.manifests.loggers,
        )
        return await _talk(settings, session, mode)

    if not run(work):
        raise typer.Exit(ExitCode.FAILED)


async def _talk(settings: Loaded, session: str, mode: Mode) -> bool:
    """Whether every line got its answer."""
    # A stream that whoever started us has closed is None.
    interactive = all(end is not None and end.isatty() for end in (sys.stdin, sys.stdout))
    provision = Provision(err, ask=interactive)
    name = _own_name()
    async with open_app(settings, lambda: open_models(settings, provision)) as app:
        talk = ConsoleTalk(app, session=session, name=name, mode=mode)
        if interactive:
            out.print(f"[dim]model: {app.models.chat.name}[/dim]")
            person = terminal.converse(talk, console=out, name=name)
            await alongside(person, app.scheduler.run(), *_behind(app))
            return True
        piped = pipe.converse(talk, lines=pipe.standard_input(), output=sys.stdout)
        return await alongside(piped, *_behind(app))


def _behind(app: App) -> tuple[Coroutine[Any, Any, None], ...]:
    """What is done behind the replies."""
    return follow_queue(app.engine.summaries), follow_backlog(app.engine.search)


def _own_name() -> str:
    """The person at the console, by the name of their account."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "me"
