"""The past of one session for a reader that sees its newest part: a narrow door to the lookup."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory.archive.passages import Filter
from memory.recall.lookup import DEFAULT_LIMIT, Excerpts, Lookup, Match, Sought
from memory.values import Message, Seq, SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is looked for."""

    session: SessionId
    text: str
    now_ns: int
    by_words: bool = False
    """Every word must be there; else by meaning."""
    since_ns: int | None = None
    limit: int = DEFAULT_LIMIT
    shown_from: Seq | None = None
    """First message that the reader sees anyway; None when it sees none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Messages that follow each other."""

    messages: tuple[Message, ...]
    found: frozenset[Seq]
    """Those that answer; the others stand around them."""


class History:
    """Looks things up; reads only."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def search(self, asked: Asked) -> list[Stretch]:
        """What was found, widened and merged, in order of time; nothing that is shown anyway.

        Raises:
            StoreError: the database could not be read.
        """
        sought = Sought(
            session=asked.session,
            text=asked.text,
            now_ns=asked.now_ns,
            match=Match.KEYWORD if asked.by_words else Match.SEMANTIC,
            limit=asked.limit,
            before=asked.shown_from,
            allowed=Filter(since_ns=asked.since_ns),
        )
        return list(_unseen(await self._lookup.search(sought), asked.shown_from))


def _unseen(found: Excerpts, shown_from: Seq | None) -> Sequence[Stretch]:
    """Without the neighbours that reach into what the reader sees."""
    cut = (
        tuple(one for one in run if shown_from is None or one.seq < shown_from)
        for run in found.excerpts
    )
    return [Stretch(messages=run, found=found.hits) for run in cut if run]
