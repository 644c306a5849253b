"""The error memory: what went wrong with tools, found again by meaning and by words.

It is shared by all sessions. It never fails for lack of an embedding model: then words alone count.
"""

import asyncio
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import structlog

from memory.database.database import Database, Reader
from memory.errors import ModelError, NoSuchRecord
from memory.language.text import clip, scrub
from memory.ports import Clock, Embedder, Priority, Vectors
from memory.tool_errors import records_table
from memory.tool_errors.ranking import (
    ANCHORS,
    MEANING_THRESHOLD,
    WORDS_THRESHOLD,
    ErrorQuery,
    error_query,
    fit_by_meaning,
    fit_by_words,
)
from memory.tool_errors.record import LIFETIME_NS, ErrorRecord, NewErrorRecord, finished
from memory.tool_errors.records_table import StoredRecord, VectorBlob

log = structlog.get_logger()

MOST_HINTS = 3
EMBED_LIMIT_S = 3.0
"""A hint is not worth a longer wait; words find most of it."""
_QUERY_CHARS = 2_000
_CANDIDATES = 32
_QUERY_WORDS = 40
_BATCH = 64
_ID_PREFIX = re.compile(r"[0-9a-f]{4,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matrix:
    """The vectors of one model, kept in memory until any of them changes."""

    changes: int
    model: str
    numbers: tuple[int, ...]
    tools: "np.ndarray[tuple[int], np.dtype[np.str_]]"
    rows: Vectors


class ErrorMemory:
    """Writes, finds, lists and forgets error records."""

    def __init__(self, *, database: Database, embedder: Embedder | None, clock: Clock) -> None:
        self._database = database
        self._embedder = embedder
        self._clock = clock
        self._matrix: _Matrix | None = None
        self._anchors: tuple[str, Vectors] | None = None

    async def write(self, new: NewErrorRecord) -> ErrorRecord:
        """Keep a record. It is found by words at once; by meaning as soon as it can be embedded.

        Raises:
            StoreError: it was not kept.
        """
        now_ns = self._clock.now_ns()
        record = finished(new, id_=_new_id(new, now_ns), now_ns=now_ns)
        rows = await self._embed([record.meaning])
        embedded = self._stored(rows[0]) if rows is not None else None
        async with self._database.unit() as unit:
            await records_table.add(unit, record, embedded)
        return record

    async def search(
        self, text: str, *, tool: str | None = None, limit: int = 4
    ) -> list[ErrorRecord]:
        """The records that fit at least so well, at most `limit`, newest first; their lives renewed.

        Of records that say the same it is the best; the others are not renewed. Nothing found is
        an empty list.

        Raises:
            StoreError: the records cannot be read.
        """
        query = error_query(scrub(clip(text, _QUERY_CHARS)), tool)
        rows = await self._embed([query.text])
        anchors = await self._unrelated() if rows is not None else None
        async with self._database.reading() as reader:
            fits = await self._by_words(reader, query)
            if rows is not None and anchors is not None:
                fits = await self._with_meaning(reader, query, fits, rows[0], anchors)
        ranked = sorted(fits, key=lambda one: (one[0], one[1].number), reverse=True)
        best = _distinct(kept for _, kept in ranked)[:limit]
        await self._renew([kept.number for kept in best])
        newest = sorted(best, key=lambda kept: kept.number, reverse=True)
        return [kept.record for kept in newest]

    async def hints(self, tool: str, said: str) -> list[ErrorRecord]:
        """What is known about a failure like this one of the tool, at most three records."""
        return await self.search(said, tool=tool, limit=MOST_HINTS)

    async def read(self, id_: str) -> ErrorRecord:
        """The record of an id, or of a beginning of one that is unique (4 digits or more).

        Raises:
            NoSuchRecord: there is none, or more than one.
        """
        async with self._database.reading() as reader:
            return await read_from(reader, id_, now_ns=self._clock.now_ns())

    async def newest(self, *, limit: int = 50) -> list[ErrorRecord]:
        """The last written records, newest first."""
        async with self._database.reading() as reader:
            return await newest_in(reader, now_ns=self._clock.now_ns(), limit=limit)

    async def remove(self, id_: str) -> ErrorRecord:
        """Delete a record, named as in `read`.

        Raises:
            NoSuchRecord: as `read`.
        """
        record = await self.read(id_)
        async with self._database.unit() as unit:
            await records_table.remove(unit, record.id)
        return record

    async def sweep(self) -> int:
        """Delete what has expired; how many records."""
        async with self._database.unit() as unit:
            return await records_table.sweep(unit, now_ns=self._clock.now_ns())

    async def catch_up(self) -> int:
        """Embed a batch of records that have no vector of this model yet, newest first; how many.

        Raises:
            ModelError: the embedder cannot be had; what was embedded before is kept.
        """
        if self._embedder is None:
            return 0
        now_ns = self._clock.now_ns()
        async with self._database.reading() as reader:
            waiting = await records_table.without_vector(
                reader, self._embedder.name, now_ns=now_ns, limit=_BATCH
            )
        texts = [kept.record.meaning for kept in waiting]
        rows = await self._embedder.embed(texts, priority=Priority.BACKGROUND) if texts else ()
        async with self._database.unit() as unit:
            for kept, row in zip(waiting, rows, strict=True):
                await records_table.set_vector(unit, kept.number, self._stored(row))
        return len(waiting)

    async def _by_words(
        self, reader: Reader, query: ErrorQuery
    ) -> list[tuple[float, StoredRecord]]:
        now_ns = self._clock.now_ns()
        found: dict[int, StoredRecord] = {}
        if words := query.words[:_QUERY_WORDS]:
            for kept in await records_table.matching(
                reader, words, tool=query.tool, now_ns=now_ns, limit=_CANDIDATES
            ):
                found[kept.number] = kept
        kind = query.telling_class
        if query.tool is not None and kind is not None:
            for kept in await records_table.of_class(
                reader, query.tool, kind, now_ns=now_ns, limit=_CANDIDATES
            ):
                found[kept.number] = kept
        fits = [(fit_by_words(kept.record, query), kept) for kept in found.values()]
        return [one for one in fits if one[0] >= WORDS_THRESHOLD]

    async def _with_meaning(
        self,
        reader: Reader,
        query: ErrorQuery,
        by_words: Sequence[tuple[float, StoredRecord]],
        row: Vectors,
        anchors: Vectors,
    ) -> list[tuple[float, StoredRecord]]:
        """The finds by words, with those by meaning; what is both counts twice."""
        fits = {kept.number: (fit, kept) for fit, kept in by_words}
        near = await self._near(reader, query, row, anchors)
        for kept in await records_table.numbered(reader, list(near), now_ns=self._clock.now_ns()):
            known = fits.get(kept.number, (0.0, kept))[0]
            fits[kept.number] = (known + near[kept.number], kept)
        return list(fits.values())

    async def _near(
        self, reader: Reader, query: ErrorQuery, row: Vectors, anchors: Vectors
    ) -> dict[int, float]:
        """Rows that reach the threshold of meaning, the best of them, with their fit."""
        matrix = await self._vectors(reader, len(row))
        if matrix is None:
            return {}
        among = np.arange(len(matrix.numbers))
        if query.tool is not None:
            among = np.flatnonzero(matrix.tools == query.tool)
        fits = fit_by_meaning(matrix.rows[among], row, anchors)
        best = np.argsort(-fits, kind="stable")[:_CANDIDATES]
        return {
            matrix.numbers[among[at]]: float(fits[at])
            for at in best.tolist()
            if fits[at] >= MEANING_THRESHOLD
        }

    async def _vectors(self, reader: Reader, size: int) -> _Matrix | None:
        """The vectors of the embedder's model; None while there are none."""
        name = self._embedder.name if self._embedder else ""
        changes = await records_table.changes(reader)
        known = self._matrix
        if known is None or (known.changes, known.model) != (changes, name):
            stored = await records_table.vectors(reader, name)
            stored = [one for one in stored if len(one.blob) == size * 4]
            joined = b"".join(one.blob for one in stored)
            known = self._matrix = _Matrix(
                changes=changes,
                model=name,
                numbers=tuple(one.number for one in stored),
                tools=np.array([one.tool for one in stored], dtype=np.str_),
                rows=np.frombuffer(joined, dtype="<f4").reshape(len(stored), size),
            )
        return known if known.numbers and known.rows.shape[1] == size else None

    async def _renew(self, numbers: Sequence[int]) -> None:
        if numbers:
            expires_at_ns = self._clock.now_ns() + LIFETIME_NS
            async with self._database.unit() as unit:
                await records_table.renew(unit, numbers, expires_at_ns=expires_at_ns)

    async def _unrelated(self) -> Vectors | None:
        """The anchors' vectors, embedded once."""
        name = self._embedder.name if self._embedder else ""
        if self._anchors is None or self._anchors[0] != name:
            rows = await self._embed(ANCHORS)
            self._anchors = (name, rows) if rows is not None else None
        return self._anchors[1] if self._anchors else None

    async def _embed(self, texts: Sequence[str]) -> Vectors | None:
        """Vectors; None when there is no embedder, or not in time."""
        if self._embedder is None:
            return None
        try:
            async with asyncio.timeout(EMBED_LIMIT_S):
                return await self._embedder.embed(texts)
        except (ModelError, TimeoutError) as error:
            log.warning("errors.not_embedded", error=type(error).__name__)
            return None

    def _stored(self, row: Vectors) -> VectorBlob:
        name = self._embedder.name if self._embedder else ""
        return VectorBlob(model=name, blob=row.astype("<f4").tobytes())


async def read_from(reader: Reader, id_: str, *, now_ns: int) -> ErrorRecord:
    """As `ErrorMemory.read`, for whoever only has the file.

    Raises:
        NoSuchRecord: there is none, or more than one.
    """
    prefix = id_.strip().lower()
    if not _ID_PREFIX.fullmatch(prefix):
        raise NoSuchRecord("an id is 4 to 64 hexadecimal digits")
    found = await records_table.beginning_with(reader, prefix, now_ns=now_ns)
    if len(found) > 1:
        raise NoSuchRecord(f"several records begin with {prefix}: give more digits")
    if not found:
        raise NoSuchRecord(f"there is no record {prefix}")
    return found[0]


async def newest_in(reader: Reader, *, now_ns: int, limit: int) -> list[ErrorRecord]:
    """As `ErrorMemory.newest`, for whoever only has the file."""
    return await records_table.newest(reader, now_ns=now_ns, limit=limit)


def _distinct(ranked: Iterable[StoredRecord]) -> list[StoredRecord]:
    """Of records that say the same the best only: a model notes one failure many times."""
    first: dict[tuple[str, ...], StoredRecord] = {}
    for kept in ranked:
        one = kept.record
        content = (one.tool, one.symptom, one.cause or "", one.action, one.outcome)
        first.setdefault(tuple(text.casefold() for text in content), kept)
    return list(first.values())


def _new_id(new: NewErrorRecord, now_ns: int) -> str:
    """Of tool, time and content, so that two of one moment differ."""
    identity = "\0".join((new.tool, str(now_ns), new.symptom, new.action))
    return hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()
