"""Work on the whole database: done by the running service where there is one, else by the command.

Each piece of work is one function of `Ground`; what it answers is what JSON can say, in numbers.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import tzinfo
from pathlib import Path

from bot.config.access_settings import AccessSettings
from bot.errors import UsageError
from bot.manifests import Manifests
from bot.ports import Platform
from bot.service.control import Arguments, Verb
from memory.database.database import Database
from memory.keeping.soundness import Soundness, repair
from memory.keeping.soundness import check as check_soundness
from memory.ports import Clock
from memory.transfer.checking import Progress, check, session_named
from memory.transfer.importing import store, take_pages
from memory.values import Mode

Result = dict[str, object]

IMPORT, CHECK, REPAIR, BACKUP = "import", "db.check", "db.repair", "db.backup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What the work is done on."""

    database: Database
    directory: Path
    zone: tzinfo | None
    clock: Clock
    prefixes: tuple[str, ...]
    """Beginnings of session ids; the first is given to a name that has none."""
    wordless: tuple[str, ...] = ()
    """Those that may keep no transcript by configuration."""


def wordless_prefixes(
    access: Mapping[Platform, AccessSettings], manifests: Manifests
) -> tuple[str, ...]:
    """Where the configuration lets any place of a platform keep distilled facts alone.

    A session's id does not tell its server, so that single places cannot be told apart here.
    """
    return tuple(
        f"{manifests.platforms[platform].prefix}-"
        for platform, settings in access.items()
        if Mode.POOLS in {settings.mode, settings.direct_mode, *settings.modes.values()}
    )


async def bring_in(ground: Ground, source: Path, *, session: str, progress: Progress) -> Result:
    """Import everything that lies in `source`, into `session` or, if empty, under its own names.

    Raises:
        ImportRefused: something is wrong with the files; nothing was imported.
        StoreError: the database could not do it; asked again, the import goes on where it was.
    """
    async with ground.database.reading() as reader:
        checked = await check(
            source,
            reader,
            session=session_named(session, ground.prefixes) if session else None,
            zone=ground.zone,
            progress=progress,
            prefixes=ground.prefixes,
            wordless=ground.wordless,
        )
    taken, kept = take_pages(checked.pages, ground.directory)
    done = await store(checked, ground.database, ground.clock, progress)
    return {
        "dry_run": False,
        "sessions": [asdict(one) for one in done],
        "pages": taken,
        "pages_kept": kept,
        "passed_over": list(checked.passed_over),
    }


async def examine(ground: Ground) -> Result:
    """What a check finds."""
    return as_object(await check_soundness(ground.database))


async def mend(ground: Ground) -> Result:
    """What a check finds after everything derived was rebuilt."""
    return as_object(await repair(ground.database))


async def back_up(ground: Ground, target: Path) -> Result:
    """Copy the database into a new file.

    Raises:
        UsageError: the file is there already, or its directory is not.
        StoreError: it cannot be written.
    """
    _make_private(target)
    await ground.database.back_up(target)
    return {"file": str(target), "bytes": _size_bytes(target)}


def _size_bytes(file: Path) -> int:
    return file.stat().st_size


def _make_private(target: Path) -> None:
    """Make a new, empty file that only its owner can read.

    Raises:
        UsageError: it is there already, or cannot be made.
    """
    try:
        target.touch(mode=0o600, exist_ok=False)
    except FileExistsError as error:
        raise UsageError(f"{target} is there already; choose another name") from error
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}") from error


def as_object(found: Soundness) -> Result:
    """A check as plain data."""
    return {"sound": found.sound, **asdict(found)}


def data_verbs(ground: Ground) -> Mapping[str, Verb]:
    """The same for a service that is asked through its control socket; paths are absolute."""

    async def bringing_in(arguments: Arguments) -> object:
        source, session = Path(str(arguments["source"])), str(arguments.get("session", ""))
        return await bring_in(ground, source, session=session, progress=_unwatched)

    async def examining(_arguments: Arguments) -> object:
        return await examine(ground)

    async def mending(_arguments: Arguments) -> object:
        return await mend(ground)

    async def backing_up(arguments: Arguments) -> object:
        return await back_up(ground, Path(str(arguments["target"])))

    return {IMPORT: bringing_in, CHECK: examining, REPAIR: mending, BACKUP: backing_up}


def _unwatched(_what: str, _done: int, _total: int) -> None:
    """Nobody watches."""
