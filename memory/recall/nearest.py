"""The resident index of a session, brought up to date with its table before every search."""

import asyncio
from dataclasses import dataclass, replace

import numpy as np

from memory.database.database import Readable
from memory.ports import Vectors
from memory.recall import vectors_table
from memory.recall.index import NOTHING_NEAR, Ids, Near, VectorIndex, VectorIndexes, VectorsInvalid
from memory.recall.vectors_table import VectorState
from memory.values import NO_SEQ

_LOAD_ROWS = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexKey:
    """Which of the indexes: of one session, by one model."""

    session_number: int
    model: str
    whole: bool = False
    """Whether also messages before the session's cutoff can be found: theirs is another index, which
    is seldom asked for and therefore seldom resident."""

    def __str__(self) -> str:
        return f"{self.session_number}:{self.model}:{'whole' if self.whole else 'hot'}"


class Nearest:
    """Semantic search over the stored vectors. It finds out by itself what changed.

    It asks the table for what came since the index was built, and whether anything went: so an
    index can hold nothing that the table does not, whoever wrote, and after any crash.
    """

    def __init__(self, database: Readable, indexes: VectorIndexes) -> None:
        self._database = database
        self._indexes = indexes
        self._refreshing = asyncio.Lock()
        self._states: dict[IndexKey, VectorState] = {}

    async def search(
        self, key: IndexKey, vector: Vectors, *, limit: int, among: Ids | None = None
    ) -> Near:
        """The messages that lie nearest to `vector`, of shape (d,), float32, of unit length.

        Only those `among` these rows are found; None is all.
        """
        index = await self._current(key)
        if index is None:
            return NOTHING_NEAR
        return await self._indexes.run(index.search, vector, limit=limit, among=among)

    async def vectors(self, key: IndexKey, seqs: Ids) -> Vectors:
        """The vectors of messages, in order; NaN where there is none (shape (n, 0) if none at all)."""
        index = self._indexes.get(str(key))
        if index is None:
            return np.full((len(seqs), 0), np.nan, dtype=np.float32)
        return await self._indexes.run(index.vectors, seqs)

    async def _current(self, key: IndexKey) -> VectorIndex | None:
        """The index with everything that is stored now; None when nothing is."""
        async with self._refreshing:
            async with self._database.reading() as reader:
                stored = await vectors_table.state(reader, key.session_number, key.model)
            if key.whole:
                stored = replace(stored, start_seq=NO_SEQ)
            index = self._indexes.get(str(key))
            known = self._states.get(key)
            if index is None or known is None:
                index, known = None, replace(stored, newest=0)
            if (known.removals, known.start_seq) != (stored.removals, stored.start_seq):
                index, known = await self._shrunk(key, index, stored, known)
            if known.newest < stored.newest:
                index, known = await self._grown(key, index, known)
                # What is left out, being archived, is not asked for again.
                known = replace(known, newest=max(known.newest, stored.newest))
            if index is not None:
                self._indexes.put(str(key), index)
                self._states[key] = known
            return index

    async def _shrunk(
        self, key: IndexKey, index: VectorIndex | None, stored: VectorState, known: VectorState
    ) -> tuple[VectorIndex | None, VectorState]:
        """The index without what was taken away since, or has left the hot history."""
        if index is None or stored.start_seq < known.start_seq:
            return None, replace(stored, newest=0)
        async with self._database.reading() as reader:
            kept = await vectors_table.seqs(
                reader, key.session_number, key.model, from_seq=stored.start_seq
            )
        await self._indexes.run(index.keep_only, kept)
        return index, replace(stored, newest=known.newest)

    async def _grown(
        self, key: IndexKey, index: VectorIndex | None, known: VectorState
    ) -> tuple[VectorIndex | None, VectorState]:
        """The index with all vectors that arrived since."""
        while True:
            async with self._database.reading() as reader:
                rows = await vectors_table.later_than(
                    reader,
                    key.session_number,
                    key.model,
                    number=known.newest,
                    limit=_LOAD_ROWS,
                    from_seq=known.start_seq,
                )
            if not rows.newest:
                return index, known
            dimension = rows.vectors.shape[1]
            if index is None or index.dimension != dimension:
                index = VectorIndex(dimension)
            try:
                await self._indexes.run(index.add, rows.seqs, rows.vectors)
            except VectorsInvalid:
                await self._indexes.run(_add_valid, index, rows.seqs, rows.vectors)
            known = replace(known, newest=rows.newest)


def _add_valid(index: VectorIndex, seqs: Ids, vectors: Vectors) -> None:
    """One by one, without those that no index may hold (a file that somebody changed)."""
    for place in range(len(seqs)):
        try:
            index.add(seqs[place : place + 1], vectors[place : place + 1])
        except VectorsInvalid:
            continue
