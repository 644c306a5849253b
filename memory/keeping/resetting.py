"""Resets a conversation: what is cleared, what is kept, and what there is to clear."""

from dataclasses import dataclass
from enum import StrEnum

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import Reader, Unit
from memory.pools import entries_table, queue_table
from memory.pools.entry import Pool
from memory.pools.queue_table import PoolState
from memory.summary import summaries_table
from memory.values import NO_SEQ, Session, SessionId


class ResetEffect(StrEnum):
    """What a reset did to one kind of memory."""

    CLEARED = "cleared"
    KEPT = "kept"
    ABSENT = "absent"
    """There was nothing of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetReport:
    """What a reset did to each of the four memories."""

    messages: ResetEffect
    """The window and the archive behind it."""
    message_count: int
    """How many messages there were."""
    summary: ResetEffect
    short_pool: ResetEffect
    long_pool: ResetEffect


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFacts:
    """What an operator may know about a conversation: figures, no text."""

    session: Session
    messages: int
    summarised: bool
    """Whether a summary stands."""
    summary_saved_at_ns: int | None
    summary_covers_until_ns: int | None
    short_facts: int
    long_facts: int
    pools: PoolState
    """Whether people paused the pools, what waits to be distilled, and what was lost."""


async def reset(unit: Unit, session: SessionId, *, everything: bool, now_ns: int) -> ResetReport:
    """Clear a conversation; the summary and the long pool only if `everything` goes.

    Turns and passes that are under way come to nothing: the epoch grows.
    """
    await sessions_table.bump_epoch(unit, session, now_ns=now_ns)
    count = await messages_table.clear(unit, session)
    short = await entries_table.clear(unit, session, Pool.SHORT)
    if everything:
        effect = ResetEffect.CLEARED
        summary = await summaries_table.clear(unit, session)
        long = await entries_table.clear(unit, session, Pool.LONG)
    else:
        effect = ResetEffect.KEPT
        summary = await summaries_table.detach(unit, session)
        long = await entries_table.count(unit, session, Pool.LONG)
    return ResetReport(
        messages=ResetEffect.CLEARED if count else ResetEffect.ABSENT,
        message_count=count,
        summary=effect if summary else ResetEffect.ABSENT,
        short_pool=ResetEffect.CLEARED if short else ResetEffect.ABSENT,
        long_pool=effect if long else ResetEffect.ABSENT,
    )


async def conversations(reader: Reader) -> list[Session]:
    """All conversations, the last used first; also for who only reads the file."""
    return await sessions_table.every(reader)


async def facts(reader: Reader, session: SessionId) -> SessionFacts | None:
    """What is known about a conversation; None while nothing was ever stored for it."""
    known = await sessions_table.find(reader, session)
    if known is None:
        return None
    stored = await summaries_table.current(reader, session)
    covers = stored.cursor is not None and stored.cursor.seq != NO_SEQ
    return SessionFacts(
        session=known,
        messages=await messages_table.count(reader, session),
        summarised=stored.version > 0,
        summary_saved_at_ns=stored.saved_at_ns,
        summary_covers_until_ns=stored.cursor_sent_at_ns if covers else None,
        short_facts=await entries_table.count(reader, session, Pool.SHORT),
        long_facts=await entries_table.count(reader, session, Pool.LONG),
        pools=await queue_table.state(reader, session),
    )
