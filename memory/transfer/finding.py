"""What a file or a directory holds that can be imported, recognised by names and first bytes alone."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path
from typing import Any

from memory.pools.entry import Pool
from memory.prompt.backdrop import BACKGROUND, SOUL
from memory.transfer.history_database import HistoryDatabase, cutoffs_in, sessions_in
from memory.transfer.history_file import HistoryFile
from memory.transfer.interface import Found, PoolFile, Problems, SessionFiles
from memory.transfer.json_values import values
from memory.values import TEMPORARY

HISTORY, SUMMARY, CURSOR = "history.json", "summary.json", ".summary_cursor"
SHORT_TERM, LONG_TERM, ARCHIVAL = "short_term.json", "long_term.json", "archival.jsonl"
DATABASES = ("history.db", ".store/history.db")

_SQLITE_MAGIC = b"SQLite format 3\0"
_POOLS = {
    SHORT_TERM: Pool.SHORT,
    LONG_TERM: Pool.LONG,
    ARCHIVAL: Pool.LONG,
    f"memory/{ARCHIVAL}": Pool.LONG,
}
_PAGES = (SOUL, BACKGROUND)


async def find(path: Path, zone: tzinfo | None, problems: Problems) -> Found:
    """What lies there: one session, many sessions, or pages; empty with a problem noted if nothing.

    A directory may be one session's, a directory of sessions, or all that a program kept.
    """
    looked = _looked(path, zone, problems)
    archived = [one for database in looked.databases for one in await _archived(database, problems)]
    named = _joined([*looked.sessions, *archived])
    kept = tuple(one for one in named if not one.name.startswith(TEMPORARY))
    temporary = tuple(one.name for one in named if one.name.startswith(TEMPORARY))
    if not (problems.count or named or looked.pages):
        problems.add(path, None, "holds nothing that Kith knows how to import")
    return Found(sessions=kept, pages=looked.pages, passed_over=temporary)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looked:
    sessions: tuple[SessionFiles, ...] = ()
    databases: tuple[Path, ...] = ()
    pages: tuple[Path, ...] = ()


def _looked(path: Path, zone: tzinfo | None, problems: Problems) -> _Looked:
    try:
        if path.is_dir():
            return _in_directory(path, zone)
        if path.is_file():
            return _in_file(path, zone)
    except OSError as error:
        problems.add(path, None, f"cannot be read: {error.strerror}")
        return _Looked()
    problems.add(path, None, "is not there")
    return _Looked()


def _in_directory(path: Path, zone: tzinfo | None) -> _Looked:
    sessions = (_session(place, zone) for place in _places(path))
    return _Looked(
        sessions=tuple(one for one in sessions if one),
        databases=tuple(path / name for name in DATABASES if (path / name).is_file()),
        pages=tuple(path / name for name in _PAGES if (path / name).is_file()),
    )


def _places(path: Path) -> list[Path]:
    """The directory itself, then those in it that may be a session's."""
    below = path / "sessions" if (path / "sessions").is_dir() else path
    return [path, *sorted(entry for entry in below.iterdir() if entry.is_dir())]


def _session(place: Path, zone: tzinfo | None) -> SessionFiles | None:
    history, summary, cursor = (place / name for name in (HISTORY, SUMMARY, CURSOR))
    files = SessionFiles(
        name=place.resolve().name,
        histories=(HistoryFile(path=history, zone=zone),) if history.is_file() else (),
        summary=summary if summary.is_file() else None,
        cursor=cursor if cursor.is_file() else None,
        pools=tuple(
            PoolFile(path=place / name, pool=pool)
            for name, pool in _POOLS.items()
            if (place / name).is_file()
        ),
    )
    return files if files.histories or files.summary or files.pools else None


async def _archived(path: Path, problems: Problems) -> list[SessionFiles]:
    names = await sessions_in(path, problems)
    cutoffs = await cutoffs_in(path, problems) if names else {}
    return [
        SessionFiles(
            name=name,
            histories=(HistoryDatabase(path=path, session=name),),
            hot_from_ns=cutoffs.get(name),
        )
        for name in names
    ]


def _joined(found: Iterable[SessionFiles]) -> list[SessionFiles]:
    """One entry a session; a database's messages come before a file's, which holds the newest."""
    by_name: dict[str, SessionFiles] = {}
    for one in found:
        known = by_name.get(one.name)
        by_name[one.name] = one if known is None else _completed(known, one)
    return list(by_name.values())


def _completed(known: SessionFiles, archived: SessionFiles) -> SessionFiles:
    histories = archived.histories + known.histories
    return replace(known, histories=histories, hot_from_ns=archived.hot_from_ns)


def _in_file(path: Path, zone: tzinfo | None) -> _Looked:
    if path.name in _PAGES:
        return _Looked(pages=(path,))
    if _is_sqlite(path):
        return _Looked(databases=(path,))
    files = _alone(path, zone)
    return _Looked(sessions=(files,) if files else ())


def _alone(path: Path, zone: tzinfo | None) -> SessionFiles | None:
    """A single file of a session, by its name or, of another name, by its first entry."""
    name = path.resolve().parent.name
    if path.name == SUMMARY:
        return SessionFiles(name=name, summary=path)
    first = _first(path)
    if path.name == HISTORY or "role" in first:
        return SessionFiles(name=name, histories=(HistoryFile(path=path, zone=zone),))
    if path.name in _POOLS or "content" in first:
        pool = _POOLS.get(path.name, Pool.LONG)
        return SessionFiles(name=name, pools=(PoolFile(path=path, pool=pool),))
    return None


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_SQLITE_MAGIC)) == _SQLITE_MAGIC


def _first(path: Path) -> dict[str, Any]:
    """The first object of a file of unknown name; empty when it does not begin with one."""
    _, value = next(values(path, Problems()), (0, None))
    return value if isinstance(value, dict) else {}
