"""`kith jobs`: the group, whose own options list what runs by itself."""

import typer

from bot.cli.lazy import LazyCommand, group_of
from bot.cli.options import ConfigFile, DataDir, Json

jobs = typer.Typer(
    cls=group_of(
        LazyCommand(
            "run",
            "bot.cli.run_job:run_job",
            "Run a job now, in the running service if there is one; exit 1 when it fails.",
        )
    ),
    help="Background jobs: when they run, how the last run went; run one now.",
    add_completion=False,
)


@jobs.callback(invoke_without_command=True)
def list_(
    context: typer.Context,
    *,
    as_json: Json = False,
    data_dir: DataDir = None,
    config: ConfigFile = None,
) -> None:
    """List the jobs: next run, last run, outcome, duration."""
    if context.invoked_subcommand is None:
        from bot.cli.list_jobs import list_jobs  # noqa: PLC0415 - the help of the group does without

        list_jobs(as_json=as_json, data_dir=data_dir, config=config)
