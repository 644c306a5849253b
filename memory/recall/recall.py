"""Messages found again: by word and by meaning, within a session, the best first.

The way of a query: taken apart (`query_parts`), its words looked up (`words_table`), its meaning
compared (`nearest`), the best of both loaded with what stands around them (`passages`), scored
(`ranking`); meaning is searched once more from the best of them on. Filters apply before the best
are chosen.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, tzinfo
from functools import cache, partial

import numpy as np
import structlog
from numpy.typing import NDArray

from memory.archive import passages
from memory.archive.passages import Filter, Passage, SessionRow
from memory.database.database import Readable, Reader
from memory.errors import ModelError
from memory.language.dates import days_named
from memory.language.segments import segments
from memory.language.times import local
from memory.ports import Embedder, Vectors
from memory.recall import ranking, words_table
from memory.recall.candidates import Evidence, candidates, cosines
from memory.recall.index import NOTHING_NEAR, Ids, Near
from memory.recall.nearest import IndexKey, Nearest
from memory.recall.query import Query
from memory.recall.query_parts import QueryParts, take_apart
from memory.recall.ranking import Candidates, Comparable, Flags, Scored
from memory.recall.words_table import Term
from memory.settings import RecallSettings
from memory.values import Message, Seq

log = structlog.get_logger()

_DATED_LIMIT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """Messages that answer, the best first."""

    messages: tuple[Message, ...] = ()
    scores: tuple[float, ...] = ()
    keyword_only: bool = False
    """Whether meaning was left out, because no model could be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scope:
    """Which messages of a session may be found."""

    number: int
    before: Seq | None
    within: Ids | None
    """None when the filter is open."""
    whole: bool
    """Whether meaning is compared beyond the cutoff."""

    def passes(self, seqs: Ids) -> NDArray[np.bool_]:
        """Which of the messages may be found."""
        allowed = np.ones(len(seqs), dtype=np.bool_)
        if self.within is not None:
            allowed &= np.isin(seqs, self.within)
        if self.before is not None:
            allowed &= seqs < self.before
        return allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weighed:
    """Candidates with their scores; all arrays run along `loaded`."""

    loaded: Sequence[Passage]
    """In the order of the conversation."""
    vectors: Vectors
    rows: Candidates
    worth: Flags
    """Which may be found and reach the threshold."""
    scored: Scored

    @property
    def order(self) -> list[int]:
        """Places of those that are worth it, the best first."""
        ranked = np.argsort(-self.scored.total, kind="stable")
        return [int(at) for at in ranked if self.worth[at]]


class Recall:
    """Search over what was said. Opens nothing and keeps nothing."""

    def __init__(
        self,
        *,
        database: Readable,
        nearest: Nearest,
        embedder: Embedder | None,
        settings: RecallSettings,
        zone: tzinfo | None = None,
    ) -> None:
        self._database = database
        self._nearest = nearest
        self._embedder = embedder
        self._settings = settings
        self._zone = zone

    async def rank(self, query: Query) -> Ranked:
        """All messages that answer, the best first, near-duplicates collapsed.

        Raises:
            StoreError: the database could not be read.
        """
        async with self._database.reading() as reader:
            row = await passages.session_row(reader, query.session)
            speakers = await passages.names(reader, row.number) if row else []
        if row is None:
            return Ranked()
        parts = take_apart(query.text, speakers, self._today(query.now_ns))
        query_vector = await self._embedded(parts.bare)
        async with self._database.reading() as reader:
            scope = await _scope(reader, row, query)
            terms = await self._terms(reader, scope, parts)
            messages = await passages.count(reader, row.number)
            dated = await self._dated(reader, scope, parts, self._today(query.now_ns))
        near = await self._near(scope, query_vector)
        best = self._best_words(terms, messages)
        evidence = Evidence(
            parts=parts,
            terms=terms,
            messages=messages,
            vectors=np.empty((0, 0), np.float32),
            query_vector=query_vector,
            typical_cosine=near.typical,
        )
        return await self._scored(scope, np.concatenate([near.seqs, best, dated]), evidence)

    async def _scored(self, scope: _Scope, seqs: Ids, evidence: Evidence) -> Ranked:
        """The found messages and what they lead to, scored."""
        first = await self._weighed(scope, (), seqs, evidence)
        weighed = await self._second_look(scope, first, evidence)
        kept = self._collapsed(weighed)
        return Ranked(
            messages=tuple(weighed.loaded[at].message for at in kept),
            scores=tuple(float(weighed.scored.total[at]) for at in kept),
            keyword_only=evidence.query_vector is None,
        )

    async def _weighed(
        self, scope: _Scope, known: Sequence[Passage], seqs: Ids, evidence: Evidence
    ) -> _Weighed:
        """What is known, the found messages and their neighbours; all of them are candidates."""
        weights = self._settings.weights
        loaded = await self._around(scope, known, seqs)
        all_seqs = np.array([passage.message.seq for passage in loaded], dtype=np.int64)
        vectors = await self._nearest.vectors(self._index_key(scope), all_seqs)
        rows = candidates(
            loaded,
            replace(evidence, vectors=vectors),
            talk_gap_s=weights.talk_gap_s,
            zone=self._zone,
        )
        scored = ranking.score(rows, weights)
        worth = scope.passes(all_seqs) & self._above_threshold(rows, scored)
        return _Weighed(loaded=loaded, vectors=vectors, rows=rows, worth=worth, scored=scored)

    async def _around(
        self, scope: _Scope, known: Sequence[Passage], seqs: Ids
    ) -> Sequence[Passage]:
        """What is known, and the other messages with their neighbours, in order."""
        passage_of = {passage.message.seq: passage for passage in known}
        steps = self._settings.weights.context_steps
        async with self._database.reading() as reader:
            new = [seq for seq in seqs.tolist() if seq not in passage_of]
            loaded = await passages.around(reader, scope.number, new, before=steps, after=steps)
        passage_of.update((passage.message.seq, passage) for passage in loaded)
        return [passage_of[seq] for seq in sorted(passage_of)]

    async def _second_look(self, scope: _Scope, first: _Weighed, evidence: Evidence) -> _Weighed:
        """Searched by meaning once more, from the best messages on.

        What is worth being found still hangs on the query alone: else small talk, which finds
        nothing, would lead from nothing to something.
        """
        weights, query_vector = self._settings.weights, evidence.query_vector
        best = first.order[: weights.hop_messages]
        if query_vector is None or first.vectors.shape[1:] != query_vector.shape or not best:
            return first
        if not weights.hop_share:
            return first
        onward = ranking.hopped(query_vector, first.vectors[best], weights)
        near = await self._near(scope, onward)
        wider = await self._weighed(scope, first.loaded, near.seqs, evidence)
        rows = replace(
            wider.rows, cosines=cosines(wider.vectors, onward), typical_cosine=near.typical
        )
        return replace(wider, scored=ranking.score(rows, weights))

    def _above_threshold(self, rows: Candidates, scored: Scored) -> Flags:
        settings = self._settings
        above = (scored.meaning >= settings.floor_cosine) | (scored.words >= settings.floor_words)
        return np.asarray(above | (rows.of_named_day > 0))

    def _collapsed(self, weighed: _Weighed) -> list[int]:
        """Places of those that say what no better one says, the best first."""
        order = weighed.order
        best = order[: self._settings.collapsed]
        comparables = [
            Comparable(
                vector=weighed.vectors[at],
                speaker=_speaker(weighed.loaded[at]),
                words=cache(partial(_words_of, weighed.loaded[at].message.text)),
            )
            for at in best
        ]
        kept = ranking.collapse(comparables, self._settings.weights)
        return [best[place] for place in kept] + order[len(best) :]

    async def _embedded(self, text: str) -> Vectors | None:
        """The query's vector; None when there is no model, or none that answers in time."""
        if self._embedder is None:
            return None
        try:
            async with asyncio.timeout(self._settings.embed_wait_s):
                [vector] = await self._embedder.embed([text])
                return np.asarray(vector, dtype=np.float32)
        except (ModelError, TimeoutError) as error:
            log.warning("recall.narrowed", reason=type(error).__name__)
            return None

    async def _near(self, scope: _Scope, query_vector: Vectors | None) -> Near:
        if query_vector is None:
            return NOTHING_NEAR
        return await self._nearest.search(
            self._index_key(scope),
            query_vector,
            limit=self._settings.candidates,
            among=scope.within,
        )

    def _index_key(self, scope: _Scope) -> IndexKey:
        model = self._embedder.name if self._embedder else ""
        return IndexKey(session_number=scope.number, model=model, whole=scope.whole)

    async def _terms(self, reader: Reader, scope: _Scope, parts: QueryParts) -> list[Term]:
        """The query's words with the messages that hold them and may be found."""
        found = await words_table.find_each(
            reader, scope.number, parts.words[: self._settings.terms]
        )
        return [replace(term, seqs=term.seqs[scope.passes(term.seqs)]) for term in found]

    def _best_words(self, terms: Sequence[Term], messages: int) -> Ids:
        """The messages that hold the most informative of the query's words."""
        found_in = np.array([len(term.seqs) for term in terms], dtype=np.int64)
        information = ranking.information(found_in, messages)
        if not found_in.sum():
            return np.empty(0, np.int64)
        seqs, places = np.unique(np.concatenate([term.seqs for term in terms]), return_inverse=True)
        scores = np.bincount(places, weights=np.repeat(information, found_in))
        return seqs[np.argsort(-scores, kind="stable")[: self._settings.candidates]]

    async def _dated(self, reader: Reader, scope: _Scope, parts: QueryParts, today: date) -> Ids:
        """Messages of the days that the query names, whatever their words."""
        found = [
            await passages.within(
                reader, scope.number, Filter(since_ns=since_ns, until_ns=until_ns)
            )
            for since_ns, until_ns in days_named(parts.dates, today, self._zone)
        ]
        seqs = np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)
        return seqs[scope.passes(seqs)][-_DATED_LIMIT:]

    def _today(self, now_ns: int) -> date:
        return local(now_ns, self._zone).date()


def _speaker(passage: Passage) -> str:
    """Whoever said it; the bot is nobody."""
    speaker = passage.message.speaker
    return speaker.person if speaker else ""


def _words_of(text: str) -> frozenset[str]:
    return frozenset(segments(text))


async def _scope(reader: Reader, row: SessionRow, query: Query) -> _Scope:
    within = None
    if not query.allowed.is_open:
        within = await passages.within(reader, row.number, query.allowed)
    reached = 0 if within is None else int(within.min(initial=row.start_seq))
    return _Scope(
        number=row.number,
        before=query.before,
        within=within,
        whole=query.whole and reached < row.start_seq,
    )
