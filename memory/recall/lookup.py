"""The archive as a reader asks for it: hits with what stands around them, for `/history` and tools."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memory.archive import passages
from memory.archive.passages import Passage, SessionRow
from memory.database.database import Readable, Reader
from memory.language.segments import phrase, terms
from memory.recall import words_table
from memory.recall.query import Match, Query
from memory.recall.recall import Recall
from memory.values import Message, Seq

BEFORE_MESSAGES = 2
AFTER_MESSAGES = 1
"""A hit is read with what led to it and what was said to it (seed 1: 2 before, 1 after)."""
MOST_HITS = 32
RECENCY_SHARE = 0.25
"""Of the best fit: the newest of all hits gains it on the oldest. Enough to decide between messages
alike, not between one about the words and one that names them among a hundred others."""

_QUOTES = {'"': '"', "“": "”", "「": "」", "『": "』"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpts:
    """What was found, in order of time."""

    excerpts: tuple[tuple[Message, ...], ...] = ()
    """Runs of messages that stood together; overlapping ones are merged."""
    hits: frozenset[Seq] = frozenset()
    """Which of the messages answer; the others stand around them."""
    keyword_only: bool = False
    """Whether meaning was asked for and could not be used."""


class Lookup:
    """Search for readers. Made of the recall that prompts use, so both find the same."""

    def __init__(self, *, database: Readable, recall: Recall) -> None:
        self._database = database
        self._recall = recall

    async def search(self, query: Query) -> Excerpts:
        """Hits, widened and merged. A query that is only punctuation finds nothing.

        Raises:
            StoreError: the database could not be read.
        """
        limit = max(1, min(query.limit, MOST_HITS))
        keyword_only = False
        if query.match is Match.SEMANTIC and not _quoted(query.text):
            ranked = await self._recall.rank(query)
            hits = [message.seq for message in ranked.messages[:limit]]
            keyword_only = ranked.keyword_only
        else:
            hits = await self._by_words(query, limit)
        return await self._widened(query, hits, keyword_only=keyword_only)

    async def _by_words(self, query: Query, limit: int) -> list[Seq]:
        async with self._database.reading() as reader:
            row = await passages.session_row(reader, query.session)
            if row is None:
                return []
            fits = await _all_words(reader, row, query.text)
            if not query.allowed.is_open:
                passing = set((await passages.within(reader, row.number, query.allowed)).tolist())
                fits = {seq: fit for seq, fit in fits.items() if seq in passing}
        if query.before is not None:
            fits = {seq: fit for seq, fit in fits.items() if seq < query.before}
        return _ranked(fits)[:limit]

    async def _widened(self, query: Query, hits: Sequence[Seq], *, keyword_only: bool) -> Excerpts:
        """The hits with their neighbours, but for those that whoever asks sees anyway."""
        async with self._database.reading() as reader:
            row = await passages.session_row(reader, query.session)
            if row is None or not hits:
                return Excerpts(keyword_only=keyword_only)
            around = await passages.around(
                reader, row.number, hits, before=BEFORE_MESSAGES, after=AFTER_MESSAGES
            )
        if query.before is not None:
            around = [one for one in around if one.message.seq < query.before]
        return Excerpts(
            excerpts=tuple(_runs(around)), hits=frozenset(hits), keyword_only=keyword_only
        )


async def _all_words(reader: Reader, row: SessionRow, text: str) -> dict[Seq, float]:
    """What holds the words, with its BM25. Hot messages also match letter by letter, as in seed 1.

    Those letters may be a part of a word, of which BM25 knows nothing: they fit by 0.
    """
    quoted = _quoted(text)
    phrases = [phrase(quoted)] if quoted else terms(text)
    fits = await words_table.find_all(reader, row.number, phrases)
    literal = quoted or text.strip()
    if literal:
        hot = await passages.containing(reader, row, literal, limit=MOST_HITS)
        fits |= {seq: fits.get(seq, 0.0) for seq in hot}
    return fits


def _ranked(fits: Mapping[Seq, float]) -> list[Seq]:
    """The best first: by the share of the best fit, and by place from oldest (0) to newest (1)."""
    oldest_first = sorted(fits)
    best = max(fits.values(), default=0.0)
    last = max(len(oldest_first) - 1, 1)
    scores = {
        seq: (fits[seq] / best if best > 0 else 0.0) + RECENCY_SHARE * at / last
        for at, seq in enumerate(oldest_first)
    }
    return sorted(scores, key=lambda seq: (scores[seq], seq), reverse=True)


def _quoted(text: str) -> str:
    """What stands between the quotation marks round the whole query; empty without them.

    Several quotations are none: `"green" or "black"` is not the phrase `green" or "black`.
    """
    stripped = text.strip()
    opening, inside = stripped[:1], stripped[1:-1]
    closing = _QUOTES.get(opening)
    if closing and stripped.endswith(closing) and not {opening, closing} & set(inside):
        return inside
    return ""


def _runs(around: Sequence[Passage]) -> Iterable[tuple[Message, ...]]:
    """Messages that stood next to each other in the session, together."""
    run: list[Message] = []
    for passage in around:
        if run and passage.previous != run[-1].seq:
            yield tuple(run)
            run = []
        run.append(passage.message)
    if run:
        yield tuple(run)
