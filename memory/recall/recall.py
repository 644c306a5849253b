"""Messages found again: by word and by meaning, within a session, for a prompt or for a reader.

The way of a question: taken apart (`question`), its words looked up (`stores.words`), its meaning
compared (`nearest`), the best of both loaded with what stands around them (`stores.passages`),
scored (`ranking`); meaning is searched once more from the best of them on, and the whole packed
into the budget (`snippets`). Filters apply before the best are chosen.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, tzinfo
from functools import cache, partial

import numpy as np
import structlog
from numpy.typing import NDArray

from memory.archive import passages
from memory.archive.passages import Filter, Passage, Place
from memory.database.database import Readable, Reader
from memory.errors import ModelError
from memory.language.dates import days_named
from memory.language.segments import segments
from memory.language.times import local
from memory.ports import Embedder, Vectors
from memory.recall import ranking, words_table
from memory.recall.candidates import Evidence, candidates, cosines
from memory.recall.index import NOTHING_NEAR, Ids, Near
from memory.recall.nearest import Ask, Nearest
from memory.recall.question import Question, take_apart
from memory.recall.ranking import Candidates, Flags, Saying, Scored
from memory.recall.snippets import Snippet, Snippets, cost_tokens
from memory.recall.words_table import Term
from memory.settings import RecallSettings
from memory.values import Message, Seq, SessionId

log = structlog.get_logger()

_DATED_LIMIT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to look for, and where."""

    session: SessionId
    text: str
    now_ns: int
    before: Seq | None = None
    """Only messages before this row: what comes later, the window shows. None is no limit."""
    allowed: Filter = field(default_factory=Filter)
    whole: bool = False
    """Whether a reader asks: then archived messages are found by their meaning too. A prompt finds
    them by their words alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """Messages that answer, the best first."""

    messages: tuple[Message, ...] = ()
    scores: tuple[float, ...] = ()
    keyword_only: bool = False
    """Whether meaning was left out, because no model could be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What goes into the prompt."""

    snippets: Snippets
    keyword_only: bool


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
    """Which may be found and stand above the floor."""
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

    async def find(self, wanted: Wanted, *, budget_tokens: int) -> Recalled:
        """The best messages that fit the budget together, in order of time.

        Raises:
            StoreError: the database could not be read.
        """
        ranked = await self.rank(wanted)
        chosen = pack(ranked, budget_tokens=budget_tokens, zone=self._zone)
        return Recalled(
            snippets=Snippets(snippets=chosen, zone=self._zone), keyword_only=ranked.keyword_only
        )

    async def rank(self, wanted: Wanted) -> Ranked:
        """All messages that answer, the best first, near-duplicates collapsed.

        Raises:
            StoreError: the database could not be read.
        """
        async with self._database.reading() as reader:
            place = await passages.place(reader, wanted.session)
            speakers = await passages.names(reader, place.number) if place else []
        if place is None:
            return Ranked()
        question = take_apart(wanted.text, speakers, self._today(wanted.now_ns))
        asked = await self._embedded(question.bare)
        async with self._database.reading() as reader:
            scope = await _scope(reader, place, wanted)
            terms = await self._terms(reader, scope, question)
            messages = await passages.count(reader, place.number)
            dated = await self._dated(reader, scope, question, self._today(wanted.now_ns))
        near = await self._near(scope, asked)
        best = self._best_words(terms, messages)
        evidence = Evidence(
            question=question,
            terms=terms,
            messages=messages,
            vectors=np.empty((0, 0), np.float32),
            asked=asked,
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
            keyword_only=evidence.asked is None,
        )

    async def _weighed(
        self, scope: _Scope, known: Sequence[Passage], seqs: Ids, evidence: Evidence
    ) -> _Weighed:
        """What is known, the found messages and their neighbours; all of them are candidates."""
        weights = self._settings.weights
        loaded = await self._around(scope, known, seqs)
        all_seqs = np.array([passage.message.seq for passage in loaded], dtype=np.int64)
        model = self._embedder.name if self._embedder else ""
        vectors = await self._nearest.vectors(scope.number, model, all_seqs, whole=scope.whole)
        rows = candidates(
            loaded,
            replace(evidence, vectors=vectors),
            talk_gap_s=weights.talk_gap_s,
            zone=self._zone,
        )
        scored = ranking.score(rows, weights)
        worth = scope.passes(all_seqs) & self._above_floor(rows, scored)
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

        What is worth being found still hangs on the question alone: else small talk, which finds
        nothing, would lead from nothing to something.
        """
        weights, asked = self._settings.weights, evidence.asked
        best = first.order[: weights.hop_messages]
        if asked is None or first.vectors.shape[1:] != asked.shape or not best:
            return first
        if not weights.hop_share:
            return first
        onward = ranking.hopped(asked, first.vectors[best], weights)
        near = await self._near(scope, onward)
        wider = await self._weighed(scope, first.loaded, near.seqs, evidence)
        rows = replace(
            wider.rows, cosines=cosines(wider.vectors, onward), typical_cosine=near.typical
        )
        return replace(wider, scored=ranking.score(rows, weights))

    def _above_floor(self, rows: Candidates, scored: Scored) -> Flags:
        settings = self._settings
        above = (scored.meaning >= settings.floor_cosine) | (scored.words >= settings.floor_words)
        return np.asarray(above | (rows.of_named_day > 0))

    def _collapsed(self, weighed: _Weighed) -> list[int]:
        """Places of those that say what no better one says, the best first."""
        order = weighed.order
        best = order[: self._settings.collapsed]
        sayings = [
            Saying(
                vector=weighed.vectors[at],
                speaker=_speaker(weighed.loaded[at]),
                words=cache(partial(_words_of, weighed.loaded[at].message.text)),
            )
            for at in best
        ]
        kept = ranking.collapse(sayings, self._settings.weights)
        return [best[place] for place in kept] + order[len(best) :]

    async def _embedded(self, text: str) -> Vectors | None:
        """The question's vector; None when there is no model, or none that answers in time."""
        if self._embedder is None:
            return None
        try:
            async with asyncio.timeout(self._settings.embed_wait_s):
                [vector] = await self._embedder.embed([text])
                return np.asarray(vector, dtype=np.float32)
        except (ModelError, TimeoutError) as error:
            log.warning("recall.narrowed", reason=type(error).__name__)
            return None

    async def _near(self, scope: _Scope, asked: Vectors | None) -> Near:
        if asked is None or self._embedder is None:
            return NOTHING_NEAR
        return await self._nearest.search(
            Ask(
                session_number=scope.number,
                model=self._embedder.name,
                question=asked,
                limit=self._settings.candidates,
                before=scope.before,
                among=scope.within,
                whole=scope.whole,
            )
        )

    async def _terms(self, reader: Reader, scope: _Scope, question: Question) -> list[Term]:
        """The question's words with the messages that hold them and may be found."""
        found = await words_table.find_each(
            reader, scope.number, question.words[: self._settings.terms]
        )
        return [replace(term, seqs=term.seqs[scope.passes(term.seqs)]) for term in found]

    def _best_words(self, terms: Sequence[Term], messages: int) -> Ids:
        """The messages that hold the most of what the question's words tell."""
        found_in = np.array([len(term.seqs) for term in terms], dtype=np.int64)
        told = ranking.information(found_in, messages)
        if not found_in.sum():
            return np.empty(0, np.int64)
        seqs, places = np.unique(np.concatenate([term.seqs for term in terms]), return_inverse=True)
        scores = np.bincount(places, weights=np.repeat(told, found_in))
        return seqs[np.argsort(-scores, kind="stable")[: self._settings.candidates]]

    async def _dated(self, reader: Reader, scope: _Scope, question: Question, today: date) -> Ids:
        """Messages of the days that the question names, whatever their words."""
        found = [
            await passages.within(
                reader, scope.number, Filter(since_ns=since_ns, until_ns=until_ns)
            )
            for since_ns, until_ns in days_named(question.dates, today, self._zone)
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


async def _scope(reader: Reader, place: Place, wanted: Wanted) -> _Scope:
    within = None
    if not wanted.allowed.is_open:
        within = await passages.within(reader, place.number, wanted.allowed)
    reached = 0 if within is None else int(within.min(initial=place.start_seq))
    return _Scope(
        number=place.number,
        before=wanted.before,
        within=within,
        whole=wanted.whole and reached < place.start_seq,
    )


def pack(ranked: Ranked, *, budget_tokens: int, zone: tzinfo | None) -> tuple[Snippet, ...]:
    """The best messages that fit together, in order of time, each with its score as weight."""
    chosen = ranking.pack(
        range(len(ranked.messages)),
        lambda places: cost_tokens([ranked.messages[place] for place in places], zone),
        budget_tokens=budget_tokens,
    )
    return tuple(
        Snippet(message=ranked.messages[place], weight=ranked.scores[place])
        for place in sorted(chosen, key=lambda place: ranked.messages[place].seq)
    )
