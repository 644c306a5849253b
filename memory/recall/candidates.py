"""Loaded messages as the arrays that ranking works on."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

import numpy as np
from numpy.typing import NDArray

from memory.archive.passages import Passage
from memory.language.dates import NamedDate
from memory.language.times import local
from memory.ports import Vectors
from memory.recall.query_parts import QueryParts
from memory.recall.ranking import Candidates, Flags, Scores, information
from memory.recall.words_table import Term

_NS = 1_000_000_000
_MONTH_SHARE = 0.5
_QUESTION_MARKS = ("?", "？")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the searches say about the loaded messages."""

    parts: QueryParts
    """Of the query."""
    terms: Sequence[Term]
    messages: int
    """In the whole session, for how rare a word is there."""
    vectors: Vectors
    """Shape (n, d), a row for each loaded message, NaN where it has none; d is 0 without any."""
    query_vector: Vectors | None
    """The query's own vector, shape (d,)."""
    typical_cosine: float


def candidates(
    loaded: Sequence[Passage], evidence: Evidence, *, talk_gap_s: int, zone: tzinfo | None
) -> Candidates:
    """The loaded messages, which are in the order of the conversation, for scoring."""
    seqs = np.array([passage.message.seq for passage in loaded], dtype=np.int64)
    found_in = np.array([len(term.seqs) for term in evidence.terms], dtype=np.int64)
    hits = [np.isin(seqs, term.seqs) for term in evidence.terms]
    names = evidence.parts.names
    return Candidates(
        hits=np.array(hits, dtype=np.bool_).reshape(len(hits), len(seqs)),
        information=information(found_in, evidence.messages),
        cosines=cosines(evidence.vectors, evidence.query_vector),
        typical_cosine=evidence.typical_cosine,
        linked=_linked(loaded, talk_gap_s),
        of_named_speaker=np.array([_name(passage) in names for passage in loaded], dtype=np.bool_),
        of_named_day=_named_day(loaded, evidence.parts.dates, zone),
        asks=np.array(
            [passage.message.text.rstrip().endswith(_QUESTION_MARKS) for passage in loaded],
            dtype=np.bool_,
        ),
    )


def cosines(vectors: Vectors, query_vector: Vectors | None) -> NDArray[np.float32]:
    """Of each row with what is asked; NaN where either is missing."""
    if query_vector is None or vectors.shape[1:] != query_vector.shape:
        return np.full(len(vectors), np.nan, dtype=np.float32)
    # Not `@`: for so small a product, BLAS threads cost more than they save on a busy machine.
    return np.asarray(np.einsum("nd,d->n", vectors, query_vector), dtype=np.float32)


def _name(passage: Passage) -> str:
    speaker = passage.message.speaker
    return speaker.name if speaker else ""


def _linked(loaded: Sequence[Passage], talk_gap_s: int) -> Flags:
    linked = np.zeros(len(loaded), dtype=np.bool_)
    for place in range(1, len(loaded)):
        before, here = loaded[place - 1].message, loaded[place].message
        silence_ns = abs(here.sent_at_ns - before.sent_at_ns)
        adjacent = loaded[place].previous == before.seq
        linked[place] = adjacent and silence_ns <= talk_gap_s * _NS
    return linked


def _named_day(
    loaded: Sequence[Passage], dates: Sequence[NamedDate], zone: tzinfo | None
) -> Scores:
    found = np.zeros(len(loaded))
    if not dates:
        return found
    for place, passage in enumerate(loaded):
        day = local(passage.message.sent_at_ns, zone).date()
        shares = [1.0 if named.day else _MONTH_SHARE for named in dates if named.covers(day)]
        found[place] = max(shares, default=0.0)
    return found
