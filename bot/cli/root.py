"""The verbs of `kith`, put together: where each is, and what the help says of it."""

import typer
from typer.core import TyperGroup

from bot.cli.lazy import Verb, holding

_MODEL = TyperGroup(
    name="model",
    help="Embedded models: list, get, path, remove.",
    no_args_is_help=True,
    commands=[
        Verb("list", "bot.cli.model:list_", "List the models, and which are here."),
        Verb(
            "get",
            "bot.cli.model:get",
            "Fetch a model, or go on where a fetch was cut; its checksum is verified.",
        ),
        Verb("path", "bot.cli.model:path", "Print where a model's file lies."),
        Verb("remove", "bot.cli.model:remove", "Delete a model's file and what a cut fetch left."),
    ],
)
_ERRORS = TyperGroup(
    name="errors",
    help="What went wrong with tools, and what helped.",
    no_args_is_help=True,
    commands=[
        Verb("list", "bot.cli.errors:list_", "List the records, newest first."),
        Verb("show", "bot.cli.errors:show", "Show one record in full."),
        Verb(
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
        Verb(
            "sessions",
            "bot.cli.memory:sessions",
            "List the conversations, the last used first.",
        ),
        Verb(
            "summary",
            "bot.cli.memory:summary",
            "Show the summary of a conversation, and how far it reaches.",
        ),
        Verb(
            "search",
            "bot.cli.search:search",
            "Look up what was said in a conversation, by words and by meaning.",
        ),
        Verb("list", "bot.cli.facts:list_", "List the facts of a conversation, oldest first."),
        Verb(
            "show",
            "bot.cli.facts:show",
            "Show a fact with what it came from and what it replaced.",
        ),
        Verb(
            "find",
            "bot.cli.facts:search",
            "Find facts by their words, best first; `search` looks at what was said.",
        ),
        Verb(
            "add",
            "bot.cli.facts:add",
            "Put a fact about the conversation into its long-term pool.",
        ),
        Verb("edit", "bot.cli.facts:edit", "Correct a fact."),
        Verb("delete", "bot.cli.facts:delete", "Delete a fact with what it replaced."),
    ],
)
_DATABASE = TyperGroup(
    name="db",
    help="The database: check it, repair what is derived, copy it.",
    no_args_is_help=True,
    commands=[
        Verb(
            "check",
            "bot.cli.database:check",
            "Compare everything derived with what it is derived from; exit 1 when something is wrong.",
        ),
        Verb(
            "repair",
            "bot.cli.database:repair",
            "Rebuild the keyword index and all else that is derived; no message is touched.",
        ),
        Verb(
            "backup",
            "bot.cli.database:backup",
            "Copy the database into a new file, while everything goes on.",
        ),
    ],
)

app = typer.Typer(
    cls=holding(
        Verb(
            "chat",
            "bot.cli.chat:chat",
            "Talk in the terminal; piped, answer one line for each line of input.",
        ),
        Verb(
            "init",
            "bot.cli.setup:init",
            "Write a commented configuration, and the persona files to edit.",
        ),
        Verb(
            "run",
            "bot.cli.run:serve_platforms",
            "Run the bot on every platform that there is a token for, until SIGTERM or Ctrl-C.",
        ),
        Verb(
            "status",
            "bot.cli.status:status",
            "Show what the running service does; exit 1 when none runs.",
        ),
        Verb(
            "doctor",
            "bot.cli.doctor:doctor",
            "Check configuration, tokens, model and database; exit 1 when something must be mended.",
        ),
        Verb("version", "bot.cli.version:version", "Print the version."),
        Verb(
            "import",
            "bot.cli.exchange:import_",
            "Import sessions: Agenvoy's or Chatmery's files, or what 'kith export' wrote.",
        ),
        Verb(
            "export",
            "bot.cli.exchange:export_",
            "Write a session out as JSON files; 'kith import' reads them back.",
        ),
        _MODEL,
        _ERRORS,
        Verb(
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
