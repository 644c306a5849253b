"""Agenvoy's `history.db`: the archive of all its sessions, opened read-only, never written.

Tables: spec, seed 1, "stores and layout". The cutoffs stand in `message_meta`, which early versions
called `session_meta`.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from memory.database.database import Row, open_reader
from memory.errors import StoreError
from memory.transfer.history_file import record_of
from memory.transfer.interface import BadValue, Problems, Record

PAGE_ROWS = 1_000
_CUTOFF_TABLES = ("message_meta", "session_meta")

_SESSIONS = "SELECT session_id AS id FROM messages GROUP BY session_id ORDER BY min(id)"
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"
_PAGE = """
SELECT id, role, content, send_at, sender FROM messages
WHERE session_id = ? AND id > ? ORDER BY id LIMIT ?
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryDatabase:
    """The rows of one session in a `history.db`."""

    path: Path
    """Absolute."""
    session: str

    async def records(self, problems: Problems) -> AsyncIterator[Record]:
        """The messages in the order in which they were stored."""
        try:
            async with open_reader(self.path) as reader:
                last = -1
                while rows := await reader.rows(_PAGE, (self.session, last, PAGE_ROWS)):
                    for row in rows:
                        last = row["id"]
                        if (record := self._record(row, problems)) is not None:
                            yield record
        except StoreError as error:
            problems.add(self.path, None, str(error))

    def _record(self, row: Row, problems: Problems) -> Record | None:
        value = {
            "role": row["role"],
            "content": row["content"],
            "sendAt": row["send_at"],
            "sender": row["sender"],
        }
        try:
            return record_of(value, row["id"], None)
        except BadValue as error:
            problems.add(self.path, row["id"], str(error))
            return None


async def sessions_in(path: Path, problems: Problems) -> list[str]:
    """The sessions that have messages in a `history.db`, the oldest first."""
    try:
        async with open_reader(path) as reader:
            found = [row["id"] for row in await reader.rows(_SESSIONS)]
    except StoreError as error:
        problems.add(path, None, str(error))
        return []
    for row in found:
        if not isinstance(row, str):
            problems.add(path, None, "has a session_id that is not text")
    return [row for row in found if isinstance(row, str)]


async def cutoffs_in(path: Path, problems: Problems) -> dict[str, int]:
    """Since when each compacted session's history was hot, in nanoseconds."""
    found: dict[str, int] = {}
    try:
        async with open_reader(path) as reader:
            there = {row["name"] for row in await reader.rows(_TABLES)}
            for table in there.intersection(_CUTOFF_TABLES):
                sql = f"SELECT session_id, start_at FROM {table}"  # noqa: S608 - one of two names
                for row in await reader.rows(sql):
                    if isinstance(row["session_id"], str) and isinstance(row["start_at"], int):
                        found[row["session_id"]] = row["start_at"]
    except StoreError as error:
        problems.add(path, None, str(error))
    return found
