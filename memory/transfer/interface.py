"""What every foreign format is read into: frozen values, with a list of what is wrong.

Reading is apart from storing: nothing here knows a table. A reader never raises for what stands
in a file; it notes a problem with its line and goes on where it can.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from memory.errors import KithError
from memory.pools.entry import Pool, Scope, Tag
from memory.values import PersonId, Role, Speaker

MOST_LISTED = 1_000
"""Problems listed one by one; the rest is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProblem:
    """Something in a file that cannot be imported. Never holds what a person said."""

    file: Path
    line: int | None
    """Counted from 1; the row's number in a database; None for the file as a whole."""
    what: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else str(self.file)
        return f"{where}: {self.what}"


class Problems:
    """Collects what is wrong with the files of one import."""

    def __init__(self) -> None:
        self.listed: list[ImportProblem] = []
        self.count = 0

    def add(self, file: Path, line: int | None, what: str) -> None:
        """Note a problem."""
        self.count += 1
        if len(self.listed) < MOST_LISTED:
            self.listed.append(ImportProblem(file=file, line=line, what=what))


class ImportRefused(KithError):
    """Something is wrong with the files, so nothing of them was imported."""

    def __init__(self, problems: Problems) -> None:
        lines = [str(problem) for problem in problems.listed]
        if more := problems.count - len(lines):
            lines.append(f"and {more} more")
        noun = "problem" if problems.count == 1 else "problems"
        super().__init__(f"nothing was imported: {problems.count} {noun}\n" + "\n".join(lines))
        self.problems = problems


class BadValue(Exception):
    """A value is not what its format has there; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A message as a file holds it."""

    line: int
    role: Role
    text: str
    """Scrubbed; never blank."""
    sent_at_ns: int | None
    """None where the file gives no time."""
    speaker: Speaker | None = None
    platform_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRecord:
    """A pool entry as a file holds it."""

    line: int
    content: str
    tag: Tag
    scope: Scope
    said_at_ns: int | None
    speaker: Speaker | None = None
    number: int | None = None
    """Its number in the file, by which others name it as their successor."""
    superseded_by: int | None = None


class HistorySource(Protocol):
    """A file that messages of one session are read from, as often as needed."""

    @property
    def path(self) -> Path:
        """Where it lies."""
        ...

    def records(self, problems: Problems) -> AsyncIterator[Record]:
        """The messages in the file's order, read piece by piece."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolFile:
    """A file of pool entries."""

    path: Path
    pool: Pool


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFiles:
    """Everything that was found of one session."""

    name: str
    """What the other program calls it."""
    histories: tuple[HistorySource, ...] = ()
    """The most complete one first."""
    summary: Path | None = None
    cursor: Path | None = None
    pools: tuple[PoolFile, ...] = ()
    hot_from_ns: int | None = None
    """Messages before this time were archive only; None when none were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Everything that was found in a place."""

    sessions: tuple[SessionFiles, ...] = ()
    pages: tuple[Path, ...] = ()
    """`SOUL.md`, `MEMORY.md`."""
    passed_over: tuple[str, ...] = ()
    """Temporary sessions: they are never kept."""


def imported_speaker(name: str, person: str = "") -> Speaker:
    """A speaker of whom a file may give no more than a name."""
    shown = name or "user"
    return Speaker(person=PersonId(person or f"imported:{shown}"), name=shown)
