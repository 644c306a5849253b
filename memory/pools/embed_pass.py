"""The pass that gives pool entries their vectors; what has none is found by words until then."""

import numpy as np

from memory.database.database import Database
from memory.pools import entries_table
from memory.ports import Embedder, Priority
from memory.values import SessionId

ENTRIES_AT_ONCE = 32
"""Entries embedded in one call."""


async def embed_pools(database: Database, embedder: Embedder, session: SessionId) -> int:
    """Embed every entry of a session that has no vector of this model; how many.

    Raises:
        ModelError: the embedder could not do it; what was done before stands.
        StoreError: the database could not do it.
    """
    done = 0
    while True:
        async with database.reading() as reader:
            entries = await entries_table.unembedded(
                reader, session, model=embedder.name, limit=ENTRIES_AT_ONCE
            )
        if not entries:
            return done
        vectors = await embedder.embed(
            [one.content for one in entries], priority=Priority.BACKGROUND
        )
        async with database.unit() as unit:
            for one, vector in zip(entries, vectors, strict=True):
                blob = np.ascontiguousarray(vector, dtype="<f4").tobytes()
                await entries_table.keep_vector(unit, one, blob, model=embedder.name)
        done += len(entries)
