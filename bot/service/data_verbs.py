"""Work on the whole database: done by the running service where there is one, else by the command.

Paths in the arguments are absolute; what is answered is what JSON can say, in numbers.
"""

from collections.abc import Mapping
from dataclasses import asdict
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

IMPORT, CHECK, REPAIR, BACKUP = "import", "db.check", "db.repair", "db.backup"


def _unwatched(_what: str, _done: int, _total: int) -> None:
    """Nobody watches."""


def wordless_prefixes(
    access: Mapping[Platform, AccessSettings], manifests: Manifests
) -> tuple[str, ...]:
    """Where the configuration lets any place of a platform keep distilled facts alone.

    A session's id does not name its server, so that single places cannot be distinguished here.
    """
    return tuple(
        f"{manifests.platforms[platform].prefix}-"
        for platform, settings in access.items()
        if Mode.POOLS in {settings.mode, settings.direct_mode, *settings.modes.values()}
    )


def import_verbs(
    *,
    database: Database,
    directory: Path,
    zone: tzinfo | None,
    clock: Clock,
    prefixes: tuple[str, ...],
    wordless: tuple[str, ...],
    progress: Progress = _unwatched,
) -> Mapping[str, Verb]:
    """`import` takes in everything that lies in `source`, into `session` or under its own names.

    `prefixes` begin the ids of sessions, the local ones' first; `wordless` those of sessions that
    may keep no transcript by configuration.
    """

    async def import_(arguments: Arguments) -> object:
        session = str(arguments.get("session", ""))
        async with database.reading() as reader:
            checked = await check(
                Path(str(arguments["source"])),
                reader,
                session=session_named(session, prefixes) if session else None,
                zone=zone,
                progress=progress,
                prefixes=prefixes,
                wordless=wordless,
            )
        taken, kept = take_pages(checked.pages, directory)
        done = await store(checked, database, clock, progress)
        return {
            "dry_run": False,
            "sessions": [asdict(one) for one in done],
            "pages": taken,
            "pages_kept": kept,
            "passed_over": list(checked.passed_over),
        }

    return {IMPORT: import_}


def database_verbs(database: Database) -> Mapping[str, Verb]:
    """`db.check` and `db.repair` answer what a check finds; `db.backup` copies into `target`."""

    async def check_(_arguments: Arguments) -> object:
        return _object(await check_soundness(database))

    async def repair_(_arguments: Arguments) -> object:
        return _object(await repair(database))

    async def backup(arguments: Arguments) -> object:
        target = Path(str(arguments["target"]))
        _make_private(target)
        await database.back_up(target)
        return {"file": str(target), "bytes": _size_bytes(target)}

    return {CHECK: check_, REPAIR: repair_, BACKUP: backup}


def _object(found: Soundness) -> dict[str, object]:
    """A check as plain data."""
    return {"sound": found.sound, **asdict(found)}


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
