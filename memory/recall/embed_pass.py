"""The pass that makes the vectors that are still missing; nothing waits for it and nothing is lost.

A message is stored before it has a vector, and keyword search finds it at once. The newest go
first. Each batch is saved by itself, so a run may end anywhere: what is left stays in the queue.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import structlog

from memory.database.database import Database
from memory.errors import ModelAnswerInvalid, ModelError
from memory.ports import Embedder, Priority, Vectors
from memory.recall import vectors_table
from memory.recall.vectors_table import QueuedMessage

log = structlog.get_logger()

ROUND_MESSAGES = 512
"""Read at a time and sorted by length, so that a batch holds texts of about one length: a model
pads a batch to its longest text."""
BATCH_MESSAGES = 32
LONGEST_TEXT_CHARS = 6_000
"""About 1,500 tokens; a longer message is embedded by its beginning."""
_UNIT_TOLERANCE = 1e-2


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedRun:
    """What a run did."""

    embedded: int = 0
    skipped: int = 0
    """Messages of which the model makes no vector; keyword search alone finds them."""
    waiting: int = 0
    """Still in the queue."""
    failure: str | None = None
    """Why it stopped early: the kind of error."""


class EmbedPass:
    """Works off the backlog. Not for two tasks at once."""

    def __init__(self, *, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder
        self._requeued = False

    async def run(self) -> EmbedRun:
        """Embed until nothing waits, or until the model fails.

        Raises:
            StoreError: the database could not be read or written.
        """
        await self._requeue()
        embedded = skipped = 0
        failure: str | None = None
        while failure is None and (batches := await self._round()):
            for batch in batches:
                try:
                    made = await self._embed(batch)
                except ModelError as error:
                    failure = type(error).__name__
                    break
                embedded += made
                skipped += len(batch) - made
        async with self._database.reading() as reader:
            waiting = await vectors_table.count_waiting(reader)
        run = EmbedRun(embedded=embedded, skipped=skipped, waiting=waiting, failure=failure)
        if embedded or skipped or failure:
            log.info("messages.embedded", embedded=embedded, skipped=skipped, failure=failure)
        return run

    async def _requeue(self) -> None:
        """Once: queue what another model embedded. Its vectors say nothing to this one."""
        if self._requeued:
            return
        async with self._database.unit() as unit:
            count = await vectors_table.requeue_others(unit, self._embedder.name)
        self._requeued = True
        if count:
            log.info("vectors.outdated", messages=count, model=self._embedder.name)

    async def _round(self) -> list[list[QueuedMessage]]:
        async with self._database.reading() as reader:
            waiting = await vectors_table.backlog(reader, limit=ROUND_MESSAGES)
        waiting.sort(key=lambda message: len(message.text))
        return list(_batches(waiting))

    async def _embed(self, batch: Sequence[QueuedMessage]) -> int:
        """Embed and save a batch; how many got a vector. The others leave the queue."""
        made, vectors = await self._vectors(batch)
        lost = [message for message in batch if message not in made]
        async with self._database.unit() as unit:
            if made:
                await vectors_table.save(unit, self._embedder.name, made, vectors)
            await vectors_table.skip(unit, lost)
        return len(made)

    async def _vectors(self, batch: Sequence[QueuedMessage]) -> tuple[list[QueuedMessage], Vectors]:
        """The vectors of those that have a usable one; a batch that fails is taken one by one."""
        try:
            vectors = await self._embedder.embed(
                [embedded_text(message) for message in batch], priority=Priority.BACKGROUND
            )
        except ModelAnswerInvalid:
            if len(batch) == 1:
                return [], np.empty((0, 0), np.float32)
            parts = [await self._vectors([message]) for message in batch]
            made = [message for messages, _ in parts for message in messages]
            usable = [vectors for messages, vectors in parts if messages]
            return made, np.concatenate(usable) if usable else np.empty((0, 0), np.float32)
        usable_rows = np.abs(np.linalg.norm(vectors, axis=1) - 1) < _UNIT_TOLERANCE
        made = [message for message, usable in zip(batch, usable_rows, strict=True) if usable]
        return made, vectors[usable_rows]


def embedded_text(message: QueuedMessage) -> str:
    """What is embedded of a message: with its speaker, whose words they are."""
    text = message.text[:LONGEST_TEXT_CHARS]
    return f"{message.name}: {text}" if message.name else text


def _batches(messages: Sequence[QueuedMessage]) -> Iterator[list[QueuedMessage]]:
    for start in range(0, len(messages), BATCH_MESSAGES):
        yield list(messages[start : start + BATCH_MESSAGES])
