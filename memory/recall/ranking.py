"""Which of the candidate messages answer a question: pure scoring, no tables, no models.

Four terms, each with a reason; the same for every language and every conversation:

1. **Words**: the share of the question's information that a message holds, by inverse document
   frequency within the session. As a share it weighs less by itself in a long question, of which
   a single message never holds much.
2. **Meaning**: the cosine above what is typical for this question and this session, as a share of
   the best. Typical is taken off because small models call nothing less than .8.
3. **Context**: of both, a message also has what its neighbours of the same talk have, half as much
   a step: an answer rarely repeats the words of its question. What a talk means is averaged more
   than added up, so that a message that stands alone can win.
4. **What the question names**: messages of a person it names count half as much again, messages of
   a day it names come first.

A message that itself only asks counts less: evidence is a statement.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory.ports import Vectors
from memory.settings import RecallWeights

Scores = NDArray[np.float64]
"""Shape (n,): one for each candidate."""

Flags = NDArray[np.bool_]
"""Shape (n,): one for each candidate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What is known of the candidate messages, in the order of the conversation."""

    hits: NDArray[np.bool_]
    """Shape (terms, n): which term of the question stands in which message."""
    information: NDArray[np.float64]
    """Shape (terms,): how informative each term is; see `information`."""
    cosines: NDArray[np.float32]
    """Shape (n,): NaN for a message without a vector."""
    typical_cosine: float
    linked: Flags
    """Whether the message before stands right before it in the session, in the same talk."""
    of_named_speaker: Flags
    of_named_day: Scores
    """1 for a day that the question names, 0.5 for a month, else 0."""
    asks: Flags


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """The candidates' scores, and how far each stands out by itself."""

    total: Scores
    words: Scores
    """Share of the question's information, context included; 0 to 1."""
    meaning: Scores
    """Cosine above the typical one, context added; not normalised."""


def information(found_in: NDArray[np.int64], messages: int) -> NDArray[np.float64]:
    """How informative each term is (BM25's inverse document frequency); 0 for a term found nowhere."""
    rarity = np.log1p((messages - found_in + 0.5) / (found_in + 0.5))
    return np.where(found_in > 0, rarity, 0.0)


def score(candidates: Candidates, weights: RecallWeights) -> Scored:
    """Every candidate's score; higher is better."""
    words = _words(candidates, weights)
    meaning = _meaning(candidates, weights)
    total = words + _share(meaning / _breadth(candidates.linked, weights))
    total *= np.where(candidates.asks, weights.question, 1.0)
    total *= np.where(candidates.of_named_speaker, weights.named_speaker, 1.0)
    total += weights.named_day * candidates.of_named_day
    return Scored(total=total, words=words, meaning=meaning)


def _words(candidates: Candidates, weights: RecallWeights) -> Scores:
    """Each term counts once: the message lacks it only if it and its whole context do."""
    total = float(candidates.information.sum())
    if total <= 0:
        return np.zeros(len(candidates.linked))
    hits = candidates.hits.astype(np.float64)
    lacking = 1.0 - hits
    for share, neighbours in _context(hits, candidates.linked, weights):
        lacking *= 1.0 - share * neighbours
    return np.asarray(candidates.information @ (1.0 - lacking) / total)


def _meaning(candidates: Candidates, weights: RecallWeights) -> Scores:
    above = np.maximum(candidates.cosines.astype(np.float64) - candidates.typical_cosine, 0.0)
    above = np.nan_to_num(above)
    total = above.copy()
    for share, neighbours in _context(above, candidates.linked, weights):
        total += share * neighbours
    return total


def _breadth(linked: Flags, weights: RecallWeights) -> Scores:
    """How many messages' worth of meaning each one gathers from its context, evened out."""
    alone = np.ones(len(linked))
    gathered = alone + sum(
        (share * neighbours for share, neighbours in _context(alone, linked, weights)),
        np.zeros(len(linked)),
    )
    return np.asarray(gathered**weights.context_mean)


def _context(
    values: NDArray[np.float64], linked: Flags, weights: RecallWeights
) -> list[tuple[float, NDArray[np.float64]]]:
    """The values of the neighbours, nearest first, each with the share that counts.

    `values` has the messages as its last axis. Nothing passes from one talk into another.
    """
    before, after = values, values
    found = []
    for step in range(1, weights.context_steps + 1):
        before, after = _from_previous(before, linked), _from_next(after, linked)
        found.append((weights.previous_share**step, before))
        found.append((weights.next_share**step, after))
    return found


def _from_previous(values: NDArray[np.float64], linked: Flags) -> NDArray[np.float64]:
    moved = np.zeros_like(values)
    moved[..., 1:] = values[..., :-1] * linked[1:]
    return moved


def _from_next(values: NDArray[np.float64], linked: Flags) -> NDArray[np.float64]:
    moved = np.zeros_like(values)
    moved[..., :-1] = values[..., 1:] * linked[1:]
    return moved


def hopped(query_vector: Vectors, best: Vectors, weights: RecallWeights) -> Vectors:
    """What to look for next: the question moved towards the best messages, of unit length.

    `best` has shape (k, d) with k > 0; rows that are NaN count for nothing.
    """
    known = best[~np.isnan(best).any(axis=1)]
    if not len(known):
        return query_vector
    moved = query_vector + weights.hop_share * known.mean(axis=0)
    return np.asarray(moved / np.linalg.norm(moved), dtype=np.float32)


def _share(values: Scores) -> Scores:
    best = float(values.max(initial=0.0))
    return values / best if best > 0 else values


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparable:
    """What decides whether two messages say the same."""

    vector: Vectors
    """Shape (d,); NaN for a message without one, which is then like no other."""
    speaker: str
    words: Callable[[], frozenset[str]]
    """Asked only of messages that are close."""


def collapse(messages: Sequence[Comparable], weights: RecallWeights) -> list[int]:
    """Which of the messages, best first, say what no better one of the same speaker says."""
    if not messages:
        return []
    vectors = np.stack([message.vector for message in messages])
    near = vectors @ vectors.T >= weights.similar_cosine
    kept: list[int] = []
    for place, message in enumerate(messages):
        better = [other for other in kept if near[place, other]]
        if not any(_same(message, messages[other], weights) for other in better):
            kept.append(place)
    return kept


def _same(one: Comparable, other: Comparable, weights: RecallWeights) -> bool:
    """Whether two messages that are similar say the same."""
    cosine = float(one.vector @ other.vector)
    if one.speaker != other.speaker:
        return False
    shared, either = one.words() & other.words(), one.words() | other.words()
    if any(char.isdigit() for word in either - shared for char in word):
        return False
    return cosine >= weights.duplicate_cosine or len(shared) >= weights.similar_words * len(either)


def pack(
    order: Sequence[int], cost_tokens: Callable[[Sequence[int]], int], *, budget_tokens: int
) -> list[int]:
    """The best messages that fit the budget together; one too long gives way to shorter ones.

    `cost_tokens` prices a whole selection, since messages of one talk share a line of their own.
    """
    packed: list[int] = []
    misses = 0
    for place in order:
        if cost_tokens([*packed, place]) <= budget_tokens:
            packed.append(place)
        else:
            misses += 1
            if misses > _MISSES:
                break
    return packed


_MISSES = 8
"""So many that do not fit and the rest will not either."""
