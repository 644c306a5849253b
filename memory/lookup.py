"""The archive as a reader asks for it: hits with what stands around them, for `/history` and tools."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from memory.database import Readable, Reader
from memory.recall import Recall, Wanted
from memory.segments import phrase, terms
from memory.stores import passages, words
from memory.stores.passages import Filter, Passage, Place
from memory.values import Message, Seq, SessionId

BEFORE_MESSAGES = 2
AFTER_MESSAGES = 1
"""A hit is read with what led to it and what was said to it (seed 1: 2 before, 1 after)."""
DEFAULT_LIMIT = 8
MOST_HITS = 32

_QUOTES = {'"': '"', "“": "”", "「": "」", "『": "』"}


class Match(StrEnum):
    """How to search."""

    SEMANTIC = "semantic"
    """By meaning and by any word, the best first."""
    KEYWORD = "keyword"
    """All words in any order, or a quoted phrase; the newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What a reader looks for."""

    session: SessionId
    text: str
    now_ns: int
    match: Match = Match.SEMANTIC
    limit: int = DEFAULT_LIMIT
    before: Seq | None = None
    """Only hits before this row: later ones stand in the window. None is no limit."""
    allowed: Filter = field(default_factory=Filter)


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

    async def search(self, sought: Sought) -> Excerpts:
        """Hits, widened and merged. A query that is only punctuation finds nothing.

        Raises:
            StoreError: the database could not be read.
        """
        limit = max(1, min(sought.limit, MOST_HITS))
        keyword_only = False
        if sought.match is Match.SEMANTIC:
            ranked = await self._recall.rank(
                Wanted(
                    session=sought.session,
                    text=sought.text,
                    now_ns=sought.now_ns,
                    before=sought.before,
                    allowed=sought.allowed,
                    whole=True,
                )
            )
            hits = [message.seq for message in ranked.messages[:limit]]
            keyword_only = ranked.keyword_only
        else:
            hits = await self._by_words(sought, limit)
        return await self._widened(sought.session, hits, keyword_only=keyword_only)

    async def _by_words(self, sought: Sought, limit: int) -> list[Seq]:
        async with self._database.reading() as reader:
            place = await passages.place(reader, sought.session)
            if place is None:
                return []
            found = await _all_words(reader, place, sought.text)
            if not sought.allowed.is_open:
                passing = set(
                    (await passages.within(reader, place.number, sought.allowed)).tolist()
                )
                found = [seq for seq in found if seq in passing]
        if sought.before is not None:
            found = [seq for seq in found if seq < sought.before]
        return found[:limit]

    async def _widened(
        self, session: SessionId, hits: Sequence[Seq], *, keyword_only: bool
    ) -> Excerpts:
        async with self._database.reading() as reader:
            place = await passages.place(reader, session)
            if place is None or not hits:
                return Excerpts(keyword_only=keyword_only)
            around = await passages.around(
                reader, place.number, hits, before=BEFORE_MESSAGES, after=AFTER_MESSAGES
            )
        return Excerpts(
            excerpts=tuple(_runs(around)), hits=frozenset(hits), keyword_only=keyword_only
        )


async def _all_words(reader: Reader, place: Place, text: str) -> list[Seq]:
    """The newest first. Hot messages are also matched letter by letter, as seed 1 does."""
    quoted = _quoted(text)
    phrases = [phrase(quoted)] if quoted else terms(text)
    found = set(await words.find_all(reader, place.number, phrases))
    literal = quoted or text.strip()
    if literal:
        found |= set(await passages.containing(reader, place, literal, limit=MOST_HITS))
    return sorted(found, reverse=True)


def _quoted(text: str) -> str:
    """What stands between the quotation marks round the whole query; empty without them."""
    stripped = text.strip()
    closing = _QUOTES.get(stripped[:1])
    if closing and len(stripped) > len(closing) + 1 and stripped.endswith(closing):
        return stripped[1:-1]
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
