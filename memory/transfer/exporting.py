"""A session written out in the seeds' form, to be read by a person, the old programs, or an import."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import IO, Self

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import Reader
from memory.errors import KithError
from memory.pools import entries_table
from memory.pools.entry import Pool
from memory.prompt.backdrop import BACKGROUND, SOUL
from memory.summary import summaries_table
from memory.summary.summaries_table import StoredSummary
from memory.summary.value import to_json
from memory.transfer import history_file, pool_file
from memory.transfer.checking import Progress
from memory.transfer.finding import CURSOR, HISTORY, LONG_TERM, SHORT_TERM, SUMMARY
from memory.transfer.times import NS, to_local
from memory.values import NO_SEQ, Message, Seq, SessionId

PAGE_MESSAGES = 1_000


class ExportRefused(KithError):
    """The session cannot be written out there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What was written."""

    directory: Path
    messages: int
    entries: int
    files: tuple[str, ...]


async def export(
    reader: Reader,
    session: SessionId,
    target: Path,
    *,
    pages_from: Path,
    zone: tzinfo | None,
    progress: Progress,
) -> Exported:
    """Write everything of a session, as of one moment, into a directory that does not hold it yet.

    Raises:
        ExportRefused: there is no such session, or the directory cannot take it.
        StoreError: the database cannot be read.
    """
    if await sessions_table.find(reader, session) is None:
        raise ExportRefused(f"there is no session {session}")
    try:
        with _Files(target) as files:
            return await _written(reader, session, files, pages_from, zone, progress)
    except OSError as error:
        raise ExportRefused(f"{target} cannot be written: {error.strerror}") from error


async def _written(
    reader: Reader,
    session: SessionId,
    files: "_Files",
    pages_from: Path,
    zone: tzinfo | None,
    progress: Progress,
) -> Exported:
    total = await messages_table.count(reader, session)
    messages = 0
    with files.new(HISTORY) as file:
        file.write("[")
        async for message in _messages(reader, session):
            file.write(",\n" if messages else "")
            file.write(history_file.to_line(message))
            messages += 1
            if messages % PAGE_MESSAGES == 0:
                progress(f"exporting {session}", messages, total)
        file.write("]\n")
    entries = await entries_table.every(reader, session)
    for name, pool in ((SHORT_TERM, Pool.SHORT), (LONG_TERM, Pool.LONG)):
        files.write(name, pool_file.to_json([one for one in entries if one.pool is pool]))
    await _summary(reader, session, files, zone)
    for name in (SOUL, BACKGROUND):
        if (page := pages_from / name).is_file():
            files.write(name, page.read_text(encoding="utf-8", errors="replace"))
    return Exported(
        directory=files.directory,
        messages=messages,
        entries=len(entries),
        files=files.keep(),
    )


async def _messages(reader: Reader, session: SessionId) -> AsyncIterator[Message]:
    last = NO_SEQ
    while page := await messages_table.after(reader, session, seq=last, limit=PAGE_MESSAGES):
        for message in page:
            yield message
        last = page[-1].seq


async def _summary(
    reader: Reader, session: SessionId, files: "_Files", zone: tzinfo | None
) -> None:
    stored = await summaries_table.current(reader, session)
    if not stored.version:
        return
    files.write(SUMMARY, to_json(stored.summary) + "\n")
    if stored.cursor and (covered_ns := await _covered_until(reader, session, stored)):
        files.write(CURSOR, to_local(covered_ns, zone) + "\n")


async def _covered_until(reader: Reader, session: SessionId, stored: StoredSummary) -> int:
    """A time in the last second of which every message is covered; 0 without one.

    The file can say a second only. Where that second holds an uncovered message too, the one
    before it is said: to summarise a message again does no harm, to pass one over does.
    """
    cursor = stored.cursor.seq if stored.cursor else NO_SEQ
    covered_ns = stored.cursor_sent_at_ns or 0
    behind = await messages_table.after(reader, session, seq=Seq(cursor), limit=PAGE_MESSAGES)
    first_ns = min((message.sent_at_ns for message in behind), default=None)
    if first_ns is not None and first_ns // NS <= covered_ns // NS:
        return (first_ns // NS) * NS - 1
    return covered_ns


class _Files:
    """New files in a directory, put in place all together at the end, or not at all."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._names: list[str] = []

    def __enter__(self) -> Self:
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if (self.directory / HISTORY).exists():
            raise ExportRefused(
                f"{self.directory} holds an export already; choose another directory with --to"
            )
        return self

    def __exit__(self, *_: object) -> None:
        for part in self._parts():
            part.unlink(missing_ok=True)

    def new(self, name: str) -> IO[str]:
        """Open a file to be written."""
        self._names.append(name)
        part = self._part(name)
        part.touch(mode=0o600)
        return part.open("w", encoding="utf-8")

    def write(self, name: str, text: str) -> None:
        """Write a whole file."""
        with self.new(name) as file:
            file.write(text)

    def keep(self) -> tuple[str, ...]:
        """Put all files in place; their names. The history, by which an export is known, is last."""
        for name in sorted(self._names, key=lambda name: name == HISTORY):
            self._part(name).replace(self.directory / name)
        return tuple(self._names)

    def _part(self, name: str) -> Path:
        return self.directory / f"{name}.part"

    def _parts(self) -> Iterator[Path]:
        return (self._part(name) for name in self._names)
