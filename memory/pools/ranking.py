"""Which pool entries a message brings up: who may see them comes first, then how well they fit.

Every entry is scored, by its words and, where there are vectors, by meaning: 2 to 4 ms for 500
of them, 30 to 50 ms for 5,000 (measured on two shared cores), the reading of the rows 10 and 80 ms.
Nothing caps the long pool but what refining drops.
There is no threshold: the best few are always given, the newer ones first where the fit is the same.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import numpy as np

from memory.language.likeness import characters
from memory.language.segments import keywords, segments
from memory.pools.entry import Entry, Owner, Pool, Scope
from memory.ports import Vectors

_WORDS_WEIGHT = 1.0
_MEANING_WEIGHT = 1.0
_DECIMALS = 3

_FIRST = re.compile(
    r"\b(?:at first|first|originally|initially|in the beginning|at the start|earliest|to begin with)\b"
    r"|一開始|最初|最早|起初|原先|原本|本來|原來|はじめ|元々|もともと",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"\b(?:before|used to|previous(?:ly)?|earlier|formerly|last time|back then|in the past)\b"
    r"|以前|之前|先前|從前|過去|上次|曾經|以往|前は|昔|かつて",
    re.IGNORECASE,
)
_TIME = re.compile(
    rf"{_FIRST.pattern}|{_BEFORE.pattern}"
    r"|\b(?:now|currently|these days|at the moment|nowadays|today)\b|現在|目前|如今|今は|最近",
    re.IGNORECASE,
)
"""Words that say when, not what: nearly every changed fact holds one of them."""


class Period(StrEnum):
    """Which moment a message asks about."""

    NOW = "now"
    BEFORE = "before"
    """What was true before something changed."""
    FIRST = "first"
    """What was true at the beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryQuery:
    """What entries are looked for with."""

    text: str
    vector: Vectors | None = None
    """Shape (1, d); None for a search by words alone."""
    model: str | None = None
    """Whose vector it is: others are not comparable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryHit:
    """An entry that is to be shown."""

    entry: Entry
    score: float


def period_of(text: str) -> Period:
    """Which moment a message asks about, by its words."""
    if _FIRST.search(text):
        return Period.FIRST
    return Period.BEFORE if _BEFORE.search(text) else Period.NOW


def visible(entries: Iterable[Entry], person: Owner) -> list[Entry]:
    """What may be shown when this person speaks: the group's entries and their own."""
    return [one for one in entries if one.scope is Scope.GROUP or one.owner == person]


def rank(entries: Sequence[Entry], query: EntryQuery) -> list[EntryHit]:
    """All entries that may answer, best first; `entries` is what may be shown (`visible`).

    What was superseded is left out, unless the query is about the past: then an entry brings up
    what it superseded, and for the beginning the oldest stands first.
    """
    scores = _scores(entries, query)
    period = period_of(query.text)
    if period is not Period.NOW:
        scores = _through_time(entries, scores, period)
    order = sorted(
        (one for one in entries if one.live or period is not Period.NOW),
        key=lambda one: (round(scores[one.id], _DECIMALS), one.said_at_ns, one.id),
        reverse=True,
    )
    return [EntryHit(entry=one, score=scores[one.id]) for one in order]


def best(
    entries: Sequence[Entry], query: EntryQuery, *, long: int, short: int
) -> tuple[EntryHit, ...]:
    """The entries to show: at most `long` lasting, then `short` recent ones, best first in each."""
    order = rank(entries, query)
    counts = ((Pool.LONG, long), (Pool.SHORT, short))
    return tuple(
        hit
        for pool, count in counts
        for hit in [one for one in order if one.entry.pool is pool][:count]
    )


def _scores(entries: Sequence[Entry], query: EntryQuery) -> dict[int, float]:
    subject = _TIME.sub(" ", query.text)
    words = [*keywords(subject), *sorted(characters(subject))]
    distinct = frozenset(words)
    hits = {one.id: _words(one.content) & distinct for one in entries}
    spread = Counter(word for found in hits.values() for word in found)
    weights = {word: math.log(1 + len(entries) / (1 + spread[word])) for word in words}
    whole = sum(weights.values()) or 1.0
    by_words = {
        entry: sum(weights[word] for word in words if word in found) / whole if found else 0.0
        for entry, found in hits.items()
    }
    by_meaning = _by_meaning(entries, query)
    return {
        entry: _WORDS_WEIGHT * score + _MEANING_WEIGHT * by_meaning.get(entry, 0.0)
        for entry, score in by_words.items()
    }


@lru_cache(maxsize=16_384)
def _words(content: str) -> frozenset[str]:
    return frozenset(segments(content)) | characters(content)


def _by_meaning(entries: Sequence[Entry], query: EntryQuery) -> dict[int, float]:
    """Cosines spread over 0 to 1, above their median: squeezed models call nothing unrelated."""
    if query.vector is None:
        return {}
    size = query.vector.shape[1]
    known = {
        one.id: np.frombuffer(one.vector, dtype="<f4")
        for one in entries
        if one.vector is not None and one.vector_model == query.model
    }
    known = {entry: vector for entry, vector in known.items() if len(vector) == size}
    if not known:
        return {}
    cosines = np.stack(list(known.values())) @ query.vector[0]
    middle, top = float(np.median(cosines)), float(cosines.max())
    spread = (top - middle) or 1.0
    return {
        entry: max((float(cosine) - middle) / spread, 0.0)
        for entry, cosine in zip(known, cosines, strict=True)
    }


def _through_time(
    entries: Sequence[Entry], scores: dict[int, float], period: Period
) -> dict[int, float]:
    """Let everything that took each other's place share its best score, in the order asked for."""
    known = {one.id: one for one in entries}

    def now(one: Entry) -> Entry:
        while one.superseded_by in known:
            one = known[one.superseded_by]
        return one

    chains: dict[int, list[Entry]] = {}
    for one in entries:
        chains.setdefault(now(one).id, []).append(one)
    shared: dict[int, float] = {}
    for chain in chains.values():
        chain.sort(key=lambda one: (one.said_at_ns, one.id), reverse=period is Period.FIRST)
        best_score = max(scores[one.id] for one in chain)
        # The order within a chain must outlast the rounding of the score.
        step = 10.0**-_DECIMALS * 2
        if period is Period.BEFORE and len(chain) > 1:
            chain = [*chain[:-2], chain[-1], chain[-2]]  # noqa: PLW2901 - the last but one first
        shared |= {one.id: best_score + step * place for place, one in enumerate(chain)}
    return shared
