"""A summary as people see it."""

from dataclasses import dataclass

from memory.database.database import Reader
from memory.summary import summaries_table
from memory.summary.value import Summary
from memory.values import NO_SEQ, SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryView:
    """A summary, with what people want to know about it."""

    known: bool
    """Whether there is such a conversation at all."""
    summary: Summary
    covered_until_ns: int | None
    """When the last message that it covers was sent; None when it covers none that is known."""
    saved_at_ns: int | None
    """None before the first one is saved."""


async def view_of(reader: Reader, session: SessionId) -> SummaryView:
    """The view of a session's summary, also for who only reads the file."""
    stored = await summaries_table.current(reader, session)
    covers = stored.cursor is not None and stored.cursor.seq != NO_SEQ
    return SummaryView(
        known=await summaries_table.state(reader, session) is not None,
        summary=stored.summary,
        covered_until_ns=stored.cursor_sent_at_ns if covers else None,
        saved_at_ns=stored.saved_at_ns,
    )
