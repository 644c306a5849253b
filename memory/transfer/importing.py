"""An import that was checked, stored: batch by batch, each with a note of how far the file got.

A batch is one transaction. Whatever ends the process, the next run goes on behind the last batch,
and a message of the same role, time and text is never stored twice.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import Database, Unit
from memory.language.text import scrub
from memory.pools import entries_table
from memory.pools.entry import NewEntry, Owner, Pool, Scope
from memory.ports import Clock
from memory.prompt.backdrop import DEFAULT_SOUL
from memory.summary import summaries_table
from memory.summary.summaries_table import Cursor
from memory.transfer import imports_table
from memory.transfer.checking import Checked, CheckedHistory, CheckedSession, Progress
from memory.transfer.interface import ImportRefused, PoolRecord, Problems
from memory.values import NO_SEQ, NewMessage, Seq, SessionId

BATCH_MESSAGES = 1_000
"""About a tenth of a second: as long as others wait for the writer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of one session's files."""

    session: SessionId
    messages: int = 0
    """Stored now."""
    known: int = 0
    """Stored before."""
    entries: int = 0
    """Pool entries stored now."""
    summary: bool = False
    """Whether the summary was taken over; a session that has one keeps its own."""


async def store(
    checked: Checked, database: Database, clock: Clock, progress: Progress
) -> list[Imported]:
    """Store everything; what became of it.

    Raises:
        ImportRefused: a file has changed since it was checked. What was stored stays.
        StoreError: the database could not do it. What was stored stays.
    """
    return [await _session(one, database, clock, progress) for one in checked.sessions]


async def _session(
    checked: CheckedSession, database: Database, clock: Clock, progress: Progress
) -> Imported:
    async with database.unit() as unit:
        before = await messages_table.count(unit, checked.session)
    for history in checked.histories:
        await _history(checked.session, history, database, progress)
    async with database.unit() as unit:
        stored = await messages_table.count(unit, checked.session) - before
        done = Imported(session=checked.session, messages=stored, known=checked.records - stored)
        await sessions_table.touch(
            unit, checked.session, title="", now_ns=await _at(unit, checked, clock)
        )
        summary = await _summary(unit, checked, clock)
        await _cutoff(unit, checked)
        return replace(
            done,
            summary=summary,
            entries=sum(
                [
                    await _pool(unit, checked.session, pool, records, clock)
                    for pool, records in checked.pools
                ]
            ),
        )


async def _at(unit: Unit, checked: CheckedSession, clock: Clock) -> int:
    """When the session was last alive: at its last message, or now if it has none."""
    newest_ns = await messages_table.newest_time(unit, checked.session)
    return clock.now_ns() if newest_ns is None else newest_ns


async def _history(
    session: SessionId, history: CheckedHistory, database: Database, progress: Progress
) -> None:
    async with database.reading() as reader:
        done = await imports_table.done(reader, session, history.digest)
    number = 0
    async for batch in _batches(history):
        number += len(batch)
        if number > done:
            await _keep(session, history.digest, batch, number, database)
        progress(f"importing {session}", number, history.records)
    if number != history.records:
        problems = Problems()
        problems.add(history.source.path, None, "changed while it was being imported")
        raise ImportRefused(problems)


async def _keep(
    session: SessionId, digest: str, batch: Sequence[NewMessage], number: int, database: Database
) -> None:
    async with database.unit() as unit:
        row, _ = await sessions_table.touch(unit, session, title="", now_ns=batch[0].sent_at_ns)
        await messages_table.append_new(unit, row, batch)
        await imports_table.advance(unit, session, digest, records=number)


async def _batches(history: CheckedHistory) -> AsyncIterator[list[NewMessage]]:
    """The messages in batches whose borders are the same in every run."""
    batch: list[NewMessage] = []
    async for message in history.messages(Problems()):
        batch.append(message)
        if len(batch) == BATCH_MESSAGES:
            yield batch
            batch = []
    if batch:
        yield batch


async def _summary(unit: Unit, checked: CheckedSession, clock: Clock) -> bool:
    if not checked.summary:
        return False
    state = await summaries_table.state(unit, checked.session)
    if state is None or state.version:
        return False
    cursor = None
    if checked.covered_until_ns is not None:
        seq = await messages_table.last_before(
            unit, checked.session, at_ns=checked.covered_until_ns
        )
        cursor = Cursor(seq=seq)
    await summaries_table.save(
        unit,
        checked.session,
        summary=checked.summary,
        cursor=cursor,
        expected=state,
        now_ns=clock.now_ns(),
    )
    return True


async def _cutoff(unit: Unit, checked: CheckedSession) -> None:
    """Take the cutoff over, but never past what the summary covers."""
    known = await sessions_table.find(unit, checked.session)
    if known is None or checked.hot_from_ns is None:
        return
    cursor = (await summaries_table.current(unit, checked.session)).cursor
    before = await messages_table.last_before(unit, checked.session, at_ns=checked.hot_from_ns)
    seq = Seq(min(before, cursor.seq if cursor else NO_SEQ) + 1)
    if seq > known.start_seq and seq > 1:
        await sessions_table.move_start(unit, known, seq)


async def _pool(
    unit: Unit, session: SessionId, pool: Pool, records: Sequence[PoolRecord], clock: Clock
) -> int:
    """Store the entries that the pool does not hold; how many."""
    known = {(one.pool, one.content, one.owner) for one in await entries_table.every(unit, session)}
    numbers: dict[int, int] = {}
    added: list[tuple[int, PoolRecord]] = []
    for record in records:
        entry = NewEntry(
            content=record.content,
            pool=pool,
            tag=record.tag,
            scope=record.scope,
            speaker=record.speaker,
            said_at_ns=clock.now_ns() if record.said_at_ns is None else record.said_at_ns,
        )
        key = (pool, entry.content, _owner(record))
        if key in known:
            continue
        known.add(key)
        number = await entries_table.add(unit, session, entry)
        added.append((number, record))
        if record.number is not None:
            numbers[record.number] = number
    for number, record in added:
        if (heir := numbers.get(record.superseded_by or 0)) is not None and heir != number:
            await entries_table.supersede(unit, number, by=heir)
    return len(added)


def _owner(record: PoolRecord) -> Owner:
    return record.speaker.person if record.speaker and record.scope is Scope.PERSON else None


def take_pages(pages: Sequence[Path], directory: Path) -> tuple[list[str], list[str]]:
    """Put `SOUL.md` and `MEMORY.md` in place; names of those taken, names of those kept as they are.

    A page that is there with other words is a person's work and is never replaced.

    Raises:
        ImportRefused: a page cannot be read as UTF-8 text; none was taken.
    """
    taken: list[str] = []
    kept: list[str] = []
    for page, text in zip(pages, _read(pages), strict=True):
        target = directory / page.name
        if _words(target) in ("", DEFAULT_SOUL, text.strip()):
            target.write_text(text, encoding="utf-8")
            taken.append(page.name)
        else:
            kept.append(page.name)
    return taken, kept


def _words(page: Path) -> str:
    """What a page says; empty when it is not there."""
    return page.read_text(encoding="utf-8", errors="replace").strip() if page.exists() else ""


def _read(pages: Sequence[Path]) -> list[str]:
    problems = Problems()
    texts: list[str] = []
    for page in pages:
        try:
            texts.append(scrub(page.read_text(encoding="utf-8-sig")))
        except (OSError, UnicodeDecodeError):
            problems.add(page, None, "cannot be read as UTF-8 text")
    if problems.count:
        raise ImportRefused(problems)
    return texts
