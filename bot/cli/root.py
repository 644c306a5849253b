"""The verbs of `kith`, put together."""

import sys

import typer

from bot.cli.chat import chat
from bot.cli.database import database
from bot.cli.doctor import doctor
from bot.cli.errors import errors
from bot.cli.exchange import export_, import_
from bot.cli.facts import facts
from bot.cli.jobs import jobs
from bot.cli.memory import memory
from bot.cli.model import model
from bot.cli.run import serve_platforms
from bot.cli.setup import init, version
from bot.cli.status import status
from bot.service.logs import configure

app = typer.Typer(
    help="A chat bot for Discord and Telegram that remembers the people it talks with.",
    no_args_is_help=True,
    add_completion=False,
    # Local variables hold what people said.
    pretty_exceptions_show_locals=False,
)


@app.callback()
def everywhere() -> None:
    """Keep the log off standard output, whatever the verb."""
    configure(level="warning", stream=sys.stderr)


app.command()(chat)
app.command()(init)
app.command("run")(serve_platforms)
app.command()(status)
app.command()(doctor)
app.command()(version)
app.command("import")(import_)
app.command("export")(export_)
app.add_typer(model, name="model")
app.add_typer(errors, name="errors")
app.add_typer(jobs, name="jobs")
memory.add_typer(facts)
app.add_typer(memory, name="memory")
app.add_typer(database, name="db")
