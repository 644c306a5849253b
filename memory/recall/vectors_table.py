"""The tables `message_vectors` and `message_backlog`: one vector a message, or a place in the queue."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory.database.database import Reader, Unit
from memory.ports import Vectors
from memory.values import NO_SEQ, Seq

_STATE = """
SELECT coalesce((SELECT start_seq FROM sessions WHERE number = ?1), 0) AS start_seq,
    coalesce((SELECT max(number) FROM message_vectors WHERE session = ?1 AND model = ?2), 0)
        AS newest,
    coalesce((SELECT removals FROM vector_removals WHERE session = ?1), 0) AS removals
"""
_LATER = """
SELECT number, seq, dimension, vector FROM message_vectors
WHERE session = ?1 AND model = ?2 AND number > ?3 AND seq >= ?5 ORDER BY number LIMIT ?4
"""
_SEQS = "SELECT seq FROM message_vectors WHERE session = ?1 AND model = ?2 AND seq >= ?3"
_BACKLOG = """
SELECT m.seq, m.text, m.name FROM message_backlog AS b JOIN messages AS m ON m.seq = b.seq
ORDER BY b.seq DESC LIMIT ?
"""
_WAITING = "SELECT count(*) AS waiting FROM message_backlog"
_REPLACE = "DELETE FROM message_vectors WHERE seq = ?"
_SAVE = """
INSERT INTO message_vectors (seq, session, model, dimension, vector)
SELECT seq, session, ?3, ?4, ?5 FROM messages WHERE seq = ?1 AND text = ?2
"""
_SKIP = """
DELETE FROM message_backlog
WHERE seq = ?1 AND EXISTS (SELECT 1 FROM messages WHERE seq = ?1 AND text = ?2)
"""
_WAIT_AGAIN = """
INSERT OR IGNORE INTO message_backlog (seq)
SELECT seq FROM message_vectors WHERE model <> ?
"""
_DRIFT = """
SELECT seq FROM message_vectors WHERE seq NOT IN (SELECT seq FROM messages)
UNION
SELECT v.seq FROM message_vectors AS v JOIN messages AS m ON m.seq = v.seq
WHERE m.session <> v.session
"""
_ODD = """
WITH newest AS (SELECT model, dimension, max(number) FROM message_vectors GROUP BY model)
SELECT v.seq FROM message_vectors AS v JOIN newest USING (model)
WHERE v.dimension <> newest.dimension
"""
_PAGE = """
SELECT number, seq, vector FROM message_vectors WHERE number > ? ORDER BY number LIMIT ?
"""
_PAGE_ROWS = 4_096
_QUEUE_MISSING = """
INSERT OR IGNORE INTO message_backlog (seq)
SELECT seq FROM messages WHERE seq NOT IN (SELECT seq FROM message_vectors)
"""
_COUNT = "SELECT count(*) AS vectors FROM message_vectors"
_UNIT_TOLERANCE = 1e-2


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorState:
    """Where a session's vectors stand; an index that was built at the same state is current."""

    newest: int
    """Number of the last vector; it only grows."""
    removals: int
    """How many were ever taken away."""
    start_seq: Seq = NO_SEQ
    """Where the session's hot history begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRows:
    """Some vectors of a session, in the order in which they arrived."""

    newest: int
    """Number of the last one; 0 when there are none."""
    seqs: NDArray[np.int64]
    vectors: Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedMessage:
    """A message whose vector is still to be made."""

    seq: Seq
    text: str
    name: str | None


async def state(reader: Reader, session_number: int, model: str) -> VectorState:
    """Where the vectors of a session stand, of those that the model made."""
    [row] = await reader.rows(_STATE, (session_number, model))
    return VectorState(
        newest=row["newest"], removals=row["removals"], start_seq=Seq(row["start_seq"])
    )


async def later_than(
    reader: Reader,
    session_number: int,
    model: str,
    *,
    number: int,
    limit: int,
    from_seq: Seq = NO_SEQ,
) -> VectorRows:
    """The first `limit` vectors after the given number, of messages from `from_seq` on.

    Of one dimension: that of the newest.
    """
    rows = await reader.rows(_LATER, (session_number, model, number, limit, from_seq))
    dimension = int(rows[-1]["dimension"]) if rows else 0
    fitting = [row for row in rows if row["dimension"] == dimension]
    joined = b"".join(row["vector"] for row in fitting)
    return VectorRows(
        newest=int(rows[-1]["number"]) if rows else 0,
        seqs=np.array([row["seq"] for row in fitting], dtype=np.int64),
        vectors=np.frombuffer(joined, dtype="<f4").reshape(len(fitting), dimension),
    )


async def seqs(
    reader: Reader, session_number: int, model: str, *, from_seq: Seq = NO_SEQ
) -> NDArray[np.int64]:
    """Which messages of a session, from `from_seq` on, have a vector of that model."""
    rows = await reader.rows(_SEQS, (session_number, model, from_seq))
    return np.array([row["seq"] for row in rows], dtype=np.int64)


async def backlog(reader: Reader, *, limit: int) -> list[QueuedMessage]:
    """Messages that wait for a vector, the newest first: they are asked for soonest."""
    rows = await reader.rows(_BACKLOG, (limit,))
    return [QueuedMessage(seq=Seq(row["seq"]), text=row["text"], name=row["name"]) for row in rows]


async def count_waiting(reader: Reader) -> int:
    """How many messages wait for a vector."""
    [row] = await reader.rows(_WAITING)
    return int(row["waiting"])


async def save(unit: Unit, model: str, made: Sequence[QueuedMessage], vectors: Vectors) -> None:
    """Keep vectors. One of a message that was edited or deleted meanwhile is dropped."""
    await unit.execute_many(_REPLACE, [(message.seq,) for message in made])
    await unit.execute_many(
        _SAVE,
        [
            (message.seq, message.text, model, vectors.shape[1], vector.astype("<f4").tobytes())
            for message, vector in zip(made, vectors, strict=True)
        ],
    )


async def skip(unit: Unit, messages: Sequence[QueuedMessage]) -> None:
    """Take messages out of the queue, since the model makes no usable vector of this text."""
    await unit.execute_many(_SKIP, [(message.seq, message.text) for message in messages])


async def requeue_others(unit: Unit, model: str) -> int:
    """Queue every message whose vector is of another model; how many there were."""
    return await unit.execute(_WAIT_AGAIN, (model,))


async def drift(reader: Reader) -> list[Seq]:
    """Vectors without their message, or under another session than it: normally none."""
    return [Seq(row["seq"]) for row in await reader.rows(_DRIFT)]


async def unusable(reader: Reader) -> list[Seq]:
    """Vectors of another dimension than the newest of their model, or not of unit length.

    Reads every vector.
    """
    found = {Seq(row["seq"]) for row in await reader.rows(_ODD)}
    last = 0
    while rows := await reader.rows(_PAGE, (last, _PAGE_ROWS)):
        last = rows[-1]["number"]
        lengths = [np.linalg.norm(np.frombuffer(row["vector"], dtype="<f4")) for row in rows]
        wrong = ~(np.abs(np.array(lengths) - 1) < _UNIT_TOLERANCE)  # a NaN is wrong too
        found |= {Seq(rows[place]["seq"]) for place in np.flatnonzero(wrong)}
    return sorted(found)


async def count(reader: Reader) -> int:
    """How many messages have a vector."""
    [row] = await reader.rows(_COUNT)
    return int(row["vectors"])


async def drop(unit: Unit, seqs: Sequence[Seq]) -> None:
    """Give vectors up."""
    await unit.execute_many(_REPLACE, [(seq,) for seq in seqs])


async def queue_missing(unit: Unit) -> int:
    """Queue every message without a vector, those that were skipped too; how many were not queued."""
    return await unit.execute(_QUEUE_MISSING)
