"""The verbs of `kith`, put together: where each is, and what the help says of it."""

import typer
from typer.core import TyperGroup

from bot.cli.lazy import LazyCommand, group_of

_MODEL = TyperGroup(
    name="model",
    help="Embedded models: list, get, path, remove.",
    no_args_is_help=True,
    commands=[
        LazyCommand("list", "bot.cli.model:list_", "List the models, and which are here."),
        LazyCommand(
            "get",
            "bot.cli.model:get",
            "Fetch a model, or go on where a fetch was cut; its checksum is verified.",
        ),
        LazyCommand("path", "bot.cli.model:path", "Print where a model's file lies."),
        LazyCommand(
            "remove", "bot.cli.model:remove", "Delete a model's file and what a cut fetch left."
        ),
    ],
)
_ERRORS = TyperGroup(
    name="errors",
    help="What went wrong with tools, and what helped.",
    no_args_is_help=True,
    commands=[
        LazyCommand("list", "bot.cli.errors:list_", "List the records, newest first."),
        LazyCommand("show", "bot.cli.errors:show", "Show one record in full."),
        LazyCommand(
            "remove",
            "bot.cli.errors:remove",
            "Delete one record, in the running service if there is one.",
        ),
    ],
)
_MEMORY = TyperGroup(
    name="memory",
    help="What is remembered.",
    no_args_is_help=True,
    commands=[
        LazyCommand(
            "sessions",
            "bot.cli.memory:sessions",
            "List the conversations, the last used first.",
        ),
        LazyCommand(
            "summary",
            "bot.cli.memory:summary",
            "Show the summary of a conversation, and how far it reaches.",
        ),
        LazyCommand(
            "search",
            "bot.cli.search:search",
            "Look up what was said in a conversation, by words and by meaning.",
        ),
        LazyCommand(
            "list", "bot.cli.facts:list_", "List the facts of a conversation, oldest first."
        ),
        LazyCommand(
            "show",
            "bot.cli.facts:show",
            "Show a fact with what it came from and what it replaced.",
        ),
        LazyCommand(
            "find",
            "bot.cli.facts:search",
            "Find facts by their words, best first; `search` looks at what was said.",
        ),
        LazyCommand(
            "add",
            "bot.cli.facts:add",
            "Put a fact about the conversation into its long-term pool.",
        ),
        LazyCommand("edit", "bot.cli.facts:edit", "Correct a fact."),
        LazyCommand("delete", "bot.cli.facts:delete", "Delete a fact with what it replaced."),
    ],
)
_DATABASE = TyperGroup(
    name="db",
    help="The database: check it, repair what is derived, copy it.",
    no_args_is_help=True,
    commands=[
        LazyCommand(
            "check",
            "bot.cli.database:check",
            "Compare everything derived with what it is derived from; exit 1 when something is wrong.",
        ),
        LazyCommand(
            "repair",
            "bot.cli.database:repair",
            "Rebuild the keyword index and all else that is derived; no message is touched.",
        ),
        LazyCommand(
            "backup",
            "bot.cli.database:backup",
            "Copy the database into a new file, while everything goes on.",
        ),
    ],
)

app = typer.Typer(
    cls=group_of(
        LazyCommand(
            "chat",
            "bot.cli.chat:chat",
            "Talk in the terminal; piped, answer one line for each line of input.",
        ),
        LazyCommand(
            "init",
            "bot.cli.setup:init",
            "Write a commented configuration, and the persona files to edit.",
        ),
        LazyCommand(
            "run",
            "bot.cli.run:serve_platforms",
            "Run the bot on every platform that there is a token for, until SIGTERM or Ctrl-C.",
        ),
        LazyCommand(
            "status",
            "bot.cli.status:status",
            "Show what the running service does; exit 1 when none runs.",
        ),
        LazyCommand(
            "doctor",
            "bot.cli.doctor:doctor",
            "Check configuration, tokens, model and database; exit 1 when something must be mended.",
        ),
        LazyCommand("version", "bot.cli.version:version", "Print the version."),
        LazyCommand(
            "import",
            "bot.cli.exchange:import_",
            "Import sessions: Agenvoy's or Chatmery's files, or what 'kith export' wrote.",
        ),
        LazyCommand(
            "export",
            "bot.cli.exchange:export_",
            "Write a session out as JSON files; 'kith import' reads them back.",
        ),
        _MODEL,
        _ERRORS,
        LazyCommand(
            "jobs",
            "bot.cli.jobs:jobs",
            "Background jobs: when they run, how the last run went; run one now.",
        ),
        _MEMORY,
        _DATABASE,
    ),
    no_args_is_help=True,
    add_completion=False,
    # Local variables hold what people said.
    pretty_exceptions_show_locals=False,
)


@app.callback()
def kith() -> None:
    """A chat bot for Discord and Telegram that remembers the people it talks with."""
