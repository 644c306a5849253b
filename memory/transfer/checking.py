"""An import before it begins: every file read to its end, every problem noted, nothing stored."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path

from memory.archive import messages_table
from memory.database.database import Reader
from memory.pools.entry import Pool
from memory.summary.value import Summary
from memory.transfer import imports_table
from memory.transfer.finding import find
from memory.transfer.interface import (
    Found,
    HistorySource,
    ImportRefused,
    PoolRecord,
    Problems,
    Record,
    SessionFiles,
)
from memory.transfer.pool_file import entries_in
from memory.transfer.summary_file import cursor_in, summary_in
from memory.values import NewMessage, SessionId

LONGEST_NAME_CHARS = 200
_REPORT_EVERY = 250
"""Records between two reports, and between two turns for others: reading a file waits for nothing."""

Progress = Callable[[str, int, int], None]
"""Called now and then with what is being done, how much of it is done, and of how much (0: not
known)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedHistory:
    """A file of messages that was found sound."""

    source: HistorySource
    records: int
    digest: str
    """SHA-256 of what was read; the same messages have the same, whatever file they lie in."""
    start_ns: int
    """What messages without a time at the file's start are counted from."""

    async def messages(self, problems: Problems) -> AsyncIterator[NewMessage]:
        """The messages, each with a time: one without comes 1 ns after the one before it."""
        last_ns = self.start_ns
        number = 0
        async for record in self.source.records(problems):
            number += 1
            if number % _REPORT_EVERY == 0:
                await asyncio.sleep(0)
            last_ns = last_ns + 1 if record.sent_at_ns is None else record.sent_at_ns
            yield NewMessage(
                role=record.role,
                text=record.text,
                sent_at_ns=last_ns,
                speaker=record.speaker,
                platform_id=record.platform_id,
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSession:
    """Everything of one session, found sound."""

    session: SessionId
    histories: tuple[CheckedHistory, ...] = ()
    summary: Summary | None = None
    covered_until_ns: int | None = None
    """Messages before this time are covered by the summary."""
    pools: tuple[tuple[Pool, tuple[PoolRecord, ...]], ...] = ()
    hot_from_ns: int | None = None
    """Messages before this time were archive only in the other program."""

    @property
    def records(self) -> int:
        """How many messages its files hold."""
        return sum(history.records for history in self.histories)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """An import that may begin."""

    sessions: tuple[CheckedSession, ...]
    pages: tuple[Path, ...]
    passed_over: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class _Scan:
    """What a first reading of a history learns."""

    records: int = 0
    untimed: int = 0
    first_ns: int | None = None
    digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    def take(self, record: Record) -> None:
        self.records += 1
        if self.first_ns is None:
            self.first_ns = record.sent_at_ns
            self.untimed += record.sent_at_ns is None
        speaker = record.speaker.person if record.speaker else None
        known = (record.role, record.text, record.sent_at_ns, speaker, record.platform_id)
        self.digest.update(json.dumps(known).encode())

    @property
    def start_ns(self) -> int:
        return 0 if self.first_ns is None else self.first_ns - self.untimed - 1


async def check(
    path: Path,
    reader: Reader | None,
    *,
    session: SessionId | None,
    zone: tzinfo | None,
    progress: Progress,
    prefixes: tuple[str, ...],
    wordless: tuple[str, ...] = (),
) -> Checked:
    """Read everything that is to be imported, into `session` or into sessions named as it is.

    `reader` sees what is stored already; None where there is no database yet. `prefixes` as in
    `session_named`; `wordless` are those of sessions that may keep no transcript by configuration.

    Raises:
        ImportRefused: something is wrong with a file, or does not fit what is stored already.
        StoreError: the database cannot be read.
    """
    problems = Problems()
    found = await find(path, zone, problems)
    if session is not None and len(found.sessions) > 1:
        names = ", ".join(one.name for one in found.sessions[:10])
        problems.add(path, None, f"holds several sessions ({names}); import one without the others")
    checked = [
        await _checked(
            files, session or session_named(files.name, prefixes), zone, problems, progress
        )
        for files in found.sessions
    ]
    for one in checked:
        await _fit(reader, one, wordless, problems)
    if problems.count:
        raise ImportRefused(problems)
    return _summed(found, checked)


def session_named(name: str, prefixes: tuple[str, ...]) -> SessionId:
    """The session that another program's session becomes: of the same name, else a local one.

    `prefixes` are all that a session's id may begin with, the local one first.
    """
    plain = "".join(char for char in name if char.isprintable()).strip()[:LONGEST_NAME_CHARS]
    return SessionId(plain if plain.startswith(prefixes) else f"{prefixes[0]}{plain or 'imported'}")


def _summed(found: Found, checked: list[CheckedSession]) -> Checked:
    return Checked(sessions=tuple(checked), pages=found.pages, passed_over=found.passed_over)


async def _checked(
    files: SessionFiles,
    session: SessionId,
    zone: tzinfo | None,
    problems: Problems,
    progress: Progress,
) -> CheckedSession:
    return CheckedSession(
        session=session,
        histories=tuple([await _scanned(source, problems, progress) for source in files.histories]),
        summary=summary_in(files.summary, problems) if files.summary else None,
        covered_until_ns=cursor_in(files.cursor, zone, problems) if files.cursor else None,
        hot_from_ns=files.hot_from_ns,
        pools=tuple((one.pool, tuple(entries_in(one.path, zone, problems))) for one in files.pools),
    )


async def _scanned(source: HistorySource, problems: Problems, progress: Progress) -> CheckedHistory:
    scan = _Scan()
    async for record in source.records(problems):
        scan.take(record)
        if scan.records % _REPORT_EVERY == 0:
            await asyncio.sleep(0)
            progress(f"checking {source.path.name}", scan.records, 0)
    return CheckedHistory(
        source=source,
        records=scan.records,
        digest=scan.digest.hexdigest(),
        start_ns=scan.start_ns,
    )


async def _fit(
    reader: Reader | None, checked: CheckedSession, wordless: tuple[str, ...], problems: Problems
) -> None:
    """Note what does not fit the session as it is stored.

    Rows are numbered as they come, so a message from before others cannot be put in between.
    """
    session = checked.session
    if checked.records and await _keeps_none(reader, session, wordless):
        problems.add(
            checked.histories[0].source.path,
            None,
            f"holds messages, and {session} keeps none (its memory is, or may be, 'pools');"
            " choose another for it first, or import into another session with --session NAME",
        )
        return
    newest_ns = await messages_table.newest_time(reader, session) if reader else None
    if reader is None or newest_ns is None:
        return
    for history in checked.histories:
        if not await imports_table.done(reader, session, history.digest):
            await _follows(reader, session, history, newest_ns, problems)


async def _keeps_none(reader: Reader | None, session: SessionId, wordless: tuple[str, ...]) -> bool:
    if reader is None:
        return session.startswith(wordless)
    return await imports_table.keeps_no_transcript(reader, session, prefixes=wordless)


async def _follows(
    reader: Reader, session: SessionId, history: CheckedHistory, newest_ns: int, problems: Problems
) -> None:
    path = history.source.path
    number = 0
    async for message in history.messages(Problems()):
        number += 1
        if message.sent_at_ns < newest_ns and not await messages_table.holds(
            reader, session, message
        ):
            what = f"message {number} is older than what {session} holds already"
            problems.add(path, None, f"{what}; import into a new one with --session NAME")
            return
