"""Where work on the database is done: in the running service, else here, as the directory's owner."""

from collections.abc import Awaitable, Callable

from bot.app.clock import SystemClock
from bot.app.platforms import access_settings
from bot.app.schemas import SCHEMAS
from bot.config.config import Loaded
from bot.config.datadir import DATABASE, owned
from bot.errors import ServiceNotRunning, UsageError
from bot.service.control import ask_service
from bot.service.data_verbs import Ground, Result, wordless_prefixes
from memory.database.database import open_database

LONGEST_S = 24 * 3600.0
"""As long as the service may take: an import of years of talk has its time."""


async def service_or_here(
    settings: Loaded,
    verb: str,
    work: Callable[[Ground], Awaitable[Result]],
    *,
    new: bool = False,
    **arguments: object,
) -> Result:
    """What came of the work.

    Args:
        settings: whose data directory.
        verb: how the service calls the work.
        work: the same, done here when no service runs.
        new: whether a database may be made where there is none.
        **arguments: what the service must know.

    Raises:
        UsageError: there is no database.
        ControlRefused: the service refused; the text says why.
        KithError: as the work itself.
    """
    try:
        asked = await ask_service(settings.data_dir, verb, wait_s=LONGEST_S, **arguments)
        return dict(asked)
    except ServiceNotRunning:
        pass
    if not new and not (settings.data_dir / DATABASE).exists():
        raise UsageError(f"nothing is kept in {settings.data_dir} yet")
    with owned(settings.data_dir) as directory:
        async with open_database(directory / DATABASE, SCHEMAS) as database:
            ground = Ground(
                database=database,
                directory=directory,
                zone=settings.zone,
                clock=SystemClock(),
                wordless=wordless_prefixes(access_settings(settings.config)),
            )
            return await work(ground)
