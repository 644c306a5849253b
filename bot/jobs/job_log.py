"""The table `jobs`: the last run of each job."""

from dataclasses import dataclass
from enum import StrEnum

from memory.database.database import Database, Reader, Row

_LAST = "SELECT name, began_at_ns, duration_ms, outcome, detail FROM jobs ORDER BY name"
_BEGAN = """
INSERT INTO jobs (name, began_at_ns) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET
    began_at_ns = excluded.began_at_ns, duration_ms = NULL, outcome = NULL, detail = ''
"""
_ENDED = "UPDATE jobs SET duration_ms = ?, outcome = ?, detail = ? WHERE name = ?"


class JobOutcome(StrEnum):
    """How a run of a job ended."""

    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """The last run of a job."""

    name: str
    began_at_ns: int
    duration_ms: int | None
    """None: it is running, or the process ended with it."""
    outcome: JobOutcome | None
    """None: as above."""
    detail: str
    """What it did, in numbers, or the kind of its failure."""


def _run(row: Row) -> JobRun:
    outcome = row["outcome"]
    return JobRun(
        name=row["name"],
        began_at_ns=row["began_at_ns"],
        duration_ms=row["duration_ms"],
        outcome=None if outcome is None else JobOutcome(outcome),
        detail=row["detail"],
    )


async def last_runs(reader: Reader) -> dict[str, JobRun]:
    """The last run of every job that ever ran, by name."""
    return {row["name"]: _run(row) for row in await reader.rows(_LAST)}


class JobLog:
    """Writes the last run of each job."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def last_runs(self) -> dict[str, JobRun]:
        """The last run of every job that ever ran, by name."""
        async with self._database.reading() as reader:
            return await last_runs(reader)

    async def began(self, name: str, *, at_ns: int) -> None:
        """A run begins."""
        async with self._database.unit() as unit:
            await unit.execute(_BEGAN, (name, at_ns))

    async def ended(self, name: str, outcome: JobOutcome, *, duration_ms: int, detail: str) -> None:
        """The run that began last is over."""
        async with self._database.unit() as unit:
            await unit.execute(_ENDED, (duration_ms, outcome, detail, name))
