"""The FAISS indexes: one a session, derived from vectors handed in, bounded by bytes.

This is the only user of FAISS, and the one thread that it runs in. FAISS itself takes a NaN, takes
an id twice, pads a short answer with -1 and reports a wrong dimension by an empty message: here
each of them is either refused or cannot be asked for. Nothing is ever written to disk: the truth
is the table, and an index in doubt is dropped and built again.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

import faiss
import numpy as np
from numpy.typing import NDArray

from memory.ports import Vectors

Ids = NDArray[np.int64]
"""Shape (n,), int64: row numbers of messages."""

BYTES_PER_COMPONENT = 2
"""Half precision: half the memory of float32 at the same speed, and the same hits (measured:
384 dimensions, 100,000 vectors, 6 ms a query, the first ten always equal). Exact search at every
size: at 100,000 vectors it costs less than embedding the question, HNSW cannot remove."""

_NO_LIMIT = 2**63 - 1
_SAMPLE_ROWS = 512
_UNIT_TOLERANCE = 1e-2

_P = ParamSpec("_P")
_T = TypeVar("_T")


class VectorsInvalid(ValueError):
    """Vectors that no index may hold: a bug or a broken model, never a user's fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """What lies nearest to a question."""

    seqs: Ids
    """Best first; fewer than asked for only when there are no more."""
    cosines: NDArray[np.float32]
    """One for each of `seqs`, falling."""
    typical: float
    """Median cosine between the question and everything in the index: what "unrelated" looks like
    to this model, for this question (squeezed models call nothing less than .8)."""


NOTHING_NEAR = Near(seqs=np.empty(0, np.int64), cosines=np.empty(0, np.float32), typical=0.0)


class VectorIndex:
    """The vectors of one session, searched exactly. Not for two threads at once."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        flat = faiss.IndexScalarQuantizer(
            dimension, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
        )
        self._index = faiss.IndexIDMap2(flat)
        self._ids: set[int] = set()

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def size_bytes(self) -> int:
        """About how much memory it takes: vectors, ids, and the map between them."""
        return len(self) * (self.dimension * BYTES_PER_COMPONENT + 150)

    def add(self, seqs: Ids, vectors: Vectors) -> None:
        """Take in vectors; `seqs` that are there already are replaced.

        Raises:
            VectorsInvalid: a wrong shape, a NaN, a row that is not of unit length, or an id twice.
                Nothing was taken in.
        """
        seqs = np.ascontiguousarray(seqs, dtype=np.int64)
        self._check(seqs, vectors)
        if len(seqs) == 0:
            return
        self.remove(seqs)
        self._index.add_with_ids(np.ascontiguousarray(vectors, dtype=np.float32), seqs)
        self._ids.update(seqs.tolist())

    def remove(self, seqs: Ids) -> None:
        """Drop vectors; unknown ids are no error."""
        present = self._ids.intersection(np.asarray(seqs).tolist())
        if present:
            removed = np.fromiter(present, dtype=np.int64, count=len(present))
            self._index.remove_ids(faiss.IDSelectorBatch(removed))
            self._ids -= present

    def keep_only(self, seqs: Ids) -> None:
        """Drop everything that is not among `seqs`."""
        removed = self._ids.difference(seqs.tolist())
        self.remove(np.fromiter(removed, dtype=np.int64, count=len(removed)))

    def search(
        self,
        question: Vectors,
        *,
        limit: int,
        before: int | None = None,
        among: Ids | None = None,
    ) -> Near:
        """The nearest vectors of those that may be found: below row `before`, and `among` these.

        `question` has shape (d,). A question that is not of this dimension, or not finite, finds
        nothing: it was embedded by another model than the index.
        """
        if len(self) == 0 or question.shape != (self.dimension,) or not np.isfinite(question).all():
            return NOTHING_NEAR
        row = np.ascontiguousarray(question[np.newaxis], dtype=np.float32)
        parameters = faiss.SearchParameters()
        selector = _selector(before, among)
        parameters.sel = selector
        cosines, seqs = self._index.search(row, min(limit, len(self)), params=parameters)
        real = seqs[0] >= 0
        return Near(seqs=seqs[0][real], cosines=cosines[0][real], typical=self._typical(row[0]))

    def vectors(self, seqs: Ids) -> Vectors:
        """The vectors of messages, in order; a row of NaN where there is none."""
        found = np.full((len(seqs), self.dimension), np.nan, dtype=np.float32)
        present = np.fromiter((int(seq) in self._ids for seq in seqs), dtype=bool, count=len(seqs))
        if present.any():
            found[present] = self._index.reconstruct_batch(
                np.ascontiguousarray(seqs[present], dtype=np.int64)
            )
        return found

    def _typical(self, question: NDArray[np.float32]) -> float:
        step = max(1, len(self) // _SAMPLE_ROWS)
        positions = np.arange(0, len(self), step, dtype=np.int64)
        sample = self._index.index.reconstruct_batch(positions)
        return float(np.median(sample @ question))

    def _check(self, seqs: Ids, vectors: Vectors) -> None:
        if vectors.shape != (len(seqs), self.dimension):
            raise VectorsInvalid(f"{vectors.shape} vectors for {(len(seqs), self.dimension)}")
        if len(np.unique(seqs)) != len(seqs):
            raise VectorsInvalid("the same row twice")
        lengths = np.linalg.norm(vectors, axis=1)
        if not np.all(np.abs(lengths - 1) < _UNIT_TOLERANCE):  # a NaN fails this comparison too
            raise VectorsInvalid("a vector that is not finite or not of unit length")


def _selector(before: int | None, among: Ids | None) -> faiss.IDSelector:
    """What may be found. It only points at the ids, which it must not outlive."""
    if among is not None:
        below = among if before is None else among[among < before]
        return faiss.IDSelectorBatch(np.ascontiguousarray(below, dtype=np.int64))
    return faiss.IDSelectorRange(0, _NO_LIMIT if before is None else before)


class VectorIndexes:
    """The resident indexes, the least recently used dropped first. Made by `open_indexes`."""

    def __init__(self, executor: ThreadPoolExecutor, limit_bytes: int) -> None:
        self._executor = executor
        self._limit_bytes = limit_bytes
        self._resident: OrderedDict[str, VectorIndex] = OrderedDict()

    async def run(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Do work on an index in the one thread that FAISS runs in."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, lambda: work(*args, **kwargs))

    def get(self, key: str) -> VectorIndex | None:
        """The resident index of that name, now the most recently used."""
        if key in self._resident:
            self._resident.move_to_end(key)
        return self._resident.get(key)

    def put(self, key: str, index: VectorIndex) -> None:
        """Keep an index, and drop the least recently used until all fit; the newest one always stays."""
        self._resident[key] = index
        self._resident.move_to_end(key)
        while len(self._resident) > 1 and self.size_bytes > self._limit_bytes:
            self._resident.popitem(last=False)

    @property
    def size_bytes(self) -> int:
        """Memory of all resident indexes together."""
        return sum(index.size_bytes for index in self._resident.values())


@asynccontextmanager
async def open_indexes(*, limit_bytes: int) -> AsyncIterator[VectorIndexes]:
    """Indexes with their thread, which ends with the context.

    One OpenMP thread: more of them wait for each other as soon as a core is busy (measured on two
    cores beside other work: 0.04 ms a query with one thread, 8 ms with two).
    """
    with ThreadPoolExecutor(
        max_workers=1,
        thread_name_prefix="index",
        initializer=faiss.omp_set_num_threads,
        initargs=(1,),
    ) as executor:
        yield VectorIndexes(executor, limit_bytes)
