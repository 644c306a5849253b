"""Where a command finds the data: with the running service, else in the directory itself."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bot.app.schemas import SCHEMAS
from bot.config.config import Loaded
from bot.config.datadir import DATABASE, owned
from bot.errors import ServiceNotRunning, UsageError
from bot.service.control import ANSWER_S, Arguments, Verb, ask_service
from memory.database.database import Database, Reader, open_database, open_reader

LONGEST_S = 24 * 3600.0
"""As long as the service may take for work on the whole database: years of talk have their time."""


async def service_or_here(
    settings: Loaded,
    verb: str,
    arguments: Arguments,
    verbs: Callable[[Database], Mapping[str, Verb]],
    *,
    new: bool = False,
    wait_s: float = ANSWER_S,
) -> Any:  # noqa: ANN401 - JSON
    """What comes of a verb in the running service, else here, as the directory's owner.

    Args:
        settings: whose data directory.
        verb: what is to be done.
        arguments: its arguments.
        verbs: the service's own verbs, made over the database when no service runs.
        new: whether a database may be made where there is none.
        wait_s: how long the service may take.

    Raises:
        UsageError: there is no database.
        ControlRefused: the service refused; the text says why.
        KithError: as the verb itself.
    """
    try:
        return await ask_service(settings.data_dir, verb, wait_s=wait_s, **arguments)
    except ServiceNotRunning:
        if not new:
            _existing(settings)
    with owned(settings.data_dir) as directory:
        async with open_database(directory / DATABASE, SCHEMAS) as database:
            return await verbs(database)[verb](arguments)


@asynccontextmanager
async def reading(settings: Loaded) -> AsyncIterator[Reader]:
    """The database, read without changing it; a running service is not disturbed.

    Raises:
        UsageError: there is none.
    """
    async with open_reader(_existing(settings)) as reader:
        yield reader


def _existing(settings: Loaded) -> Path:
    path = (settings.data_dir / DATABASE).absolute()
    if not path.exists():
        raise UsageError(f"nothing is remembered in {settings.data_dir} yet")
    return path
