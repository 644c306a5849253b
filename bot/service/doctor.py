"""What can be found out about an installation on this machine alone, as a list of findings.

It changes nothing. Each finding that is not good names the next step.
"""

import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from bot.access.access import Access
from bot.config.config import CREDENTIALS, Loaded, secret_files
from bot.config.datadir import DATABASE
from bot.errors import ConfigError
from bot.manifests import Finding, Level
from memory.database.check import DatabaseFacts, examine
from memory.ports import Clock

UNITS = (
    Path("/etc/systemd/system/kith.service"),
    Path("/usr/lib/systemd/system/kith.service"),
    Path("~/.config/systemd/user/kith.service"),
)
END_MARGIN_S = 35.0
"""What a stop needs beyond the drain: 5 s for sending, 30 s for noting what is in memory alone."""
_SPARE_S = 10.0
_YEAR_2024_NS = 1_704_067_200 * 1_000_000_000
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def config_refused(error: ConfigError) -> list[Finding]:
    """The problems of a configuration that cannot be used."""
    return [
        Finding(
            check="config",
            level=Level.FAILED,
            what=f"{problem.key}: {problem.what}" if problem.key else problem.what,
            fix=f"edit {error.source}",
        )
        for problem in error.problems
    ]


def config_used(loaded: Loaded) -> Finding:
    """Which configuration is used."""
    what = str(loaded.source) if loaded.source else "no file; everything has its default"
    fix = "" if loaded.source else "write one with: kith init"
    return Finding(check="config", level=Level.OK, what=what, fix=fix)


def access_findings(access: Access, *, speaks: Iterable[str]) -> Iterator[Finding]:
    """What is odd about who may speak; `speaks` names the platforms that let somebody in."""
    for problem in access.warnings():
        yield Finding(check="access", level=Level.WARNING, what=f"{problem.key}: {problem.what}")
    for platform in speaks:
        yield Finding(check="access", level=Level.OK, what=f"{platform}: somebody may speak")


def nobody_may_speak(platform: str) -> Finding:
    """A platform whose allow lists are all empty."""
    return Finding(
        check="access",
        level=Level.WARNING,
        what=f"{platform}: nobody may speak, as every allow list is empty",
        fix=f"put your own id into [{platform}.allow] users",
    )


def file_findings(loaded: Loaded) -> Iterator[Finding]:
    """Whether others on this machine can read what is remembered, or the secrets."""
    directory = loaded.data_dir
    if not directory.exists():
        yield Finding(
            check="files", level=Level.OK, what=f"{directory} is not there yet; it will be made"
        )
        return
    places = [(directory, "700"), *((path, "600") for path in _private(directory, loaded))]
    open_ones = [(path, mode) for path, mode in places if path.stat().st_mode & _OTHERS]
    for path, mode in open_ones:
        # What lies in a closed directory is out of reach all the same.
        if path == directory or directory not in path.parents:
            yield Finding(
                check="files",
                level=Level.WARNING,
                what=f"others on this machine can read {path}",
                fix=f"chmod {mode} {path}",
            )
    if not open_ones:
        yield Finding(check="files", level=Level.OK, what=f"{directory} is private")


def _private(directory: Path, loaded: Loaded) -> list[Path]:
    """Files that hold secrets or what people said."""
    credentials = loaded.environment.get(CREDENTIALS)
    secrets = [
        path for path in secret_files(loaded.environment, loaded.manifests.secrets) if path.exists()
    ]
    inside = [path for path in secrets if not credentials or Path(credentials) not in path.parents]
    database = directory / DATABASE
    return [*inside, *([database] if database.exists() else [])]


async def database_findings(directory: Path) -> list[Finding]:
    """Whether the database is sound, and SQLite able."""
    facts = await examine(directory / DATABASE)
    return [_sound(facts, directory), _able(facts)]


def _sound(facts: DatabaseFacts, directory: Path) -> Finding:
    if facts.problems:
        return Finding(
            check="database",
            level=Level.FAILED,
            what=f"{directory / DATABASE} is damaged: {facts.problems[0]}",
            fix="stop Kith and put a backup in its place",
        )
    what = "sound" if facts.exists else "not there yet; it will be made"
    return Finding(check="database", level=Level.OK, what=what)


def _able(facts: DatabaseFacts) -> Finding:
    if facts.has_fts5:
        return Finding(check="sqlite", level=Level.OK, what=f"{facts.sqlite_version} with FTS5")
    return Finding(
        check="sqlite",
        level=Level.FAILED,
        what=f"{facts.sqlite_version} cannot search text (no FTS5)",
        fix="use a Python whose SQLite has FTS5, such as Debian's or python.org's",
    )


def clock_finding(clock: Clock, zone: str) -> Finding:
    """Whether the clock is set; what people see depends on the time zone."""
    if clock.now_ns() < _YEAR_2024_NS:
        return Finding(
            check="clock",
            level=Level.FAILED,
            what="the machine's clock is years behind",
            fix="timedatectl set-ntp true",
        )
    return Finding(check="clock", level=Level.OK, what=f"set; time zone {zone}")


def unit_findings(loaded: Loaded, units: Iterable[Path] = UNITS) -> Iterator[Finding]:
    """Whether systemd gives a stop enough time."""
    needed_s = loaded.config.limits.drain_s + END_MARGIN_S
    for unit in units:
        path = unit.expanduser()
        if not path.is_file():
            continue
        given_s = stop_timeout_s(path.read_text(encoding="utf-8", errors="replace"))
        if given_s is not None and given_s < needed_s:
            yield Finding(
                check="systemd",
                level=Level.FAILED,
                what=f"{path}: TimeoutStopSec={given_s:.0f} kills before a stop has ended",
                fix=f"set TimeoutStopSec={needed_s + _SPARE_S:.0f}, or lower limits.drain_s",
            )
        else:
            yield Finding(check="systemd", level=Level.OK, what=f"{path} fits limits.drain_s")


def stop_timeout_s(unit: str) -> float | None:
    """What a unit file says, the last one counting; None if it does not or says it in words."""
    found = re.findall(r"^TimeoutStopSec=(\d+)(s?|min)\s*$", unit, re.MULTILINE)
    if not found:
        return None
    number, factor = found[-1]
    return float(number) * (60 if factor == "min" else 1)
