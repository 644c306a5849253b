"""What a search over the past is asked for: one value from whoever asks to the ranking."""

from dataclasses import dataclass, field
from enum import StrEnum

from memory.archive.passages import Filter
from memory.values import Seq, SessionId

DEFAULT_LIMIT = 8


class Match(StrEnum):
    """How to search."""

    SEMANTIC = "semantic"
    """By meaning and by any word, the best first; a text in quotation marks as by KEYWORD."""
    KEYWORD = "keyword"
    """All words in any order, or a quoted phrase; the best first by BM25 and recency."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What to look for, and where."""

    session: SessionId
    text: str
    now_ns: int
    match: Match = Match.SEMANTIC
    limit: int = DEFAULT_LIMIT
    """Most hits of a lookup. What a prompt recalls is limited by tokens instead."""
    before: Seq | None = None
    """Only messages before this row: whoever asks sees the later ones anyway. None is no limit."""
    allowed: Filter = field(default_factory=Filter)
    whole: bool = True
    """Whether archived messages are found by their meaning too. A prompt finds them by their words
    alone."""
