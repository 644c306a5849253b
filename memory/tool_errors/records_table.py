"""The tables `error_memory*`: records of failed tools, with their vectors and their words.

What has expired is never given out, whether or not it was swept already.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from memory.database.database import Reader, Row, Unit
from memory.language.segments import segments
from memory.tool_errors.record import ActionOutcome, ErrorClass, ErrorRecord

MOST_RECORDS = 20_000
"""Kept at most; past that, those that would expire first go. About 30 MB of vectors."""

_COLUMNS = (
    "number, id, tool, error_class, keywords, symptom, cause, action, outcome,"
    " written_at_ns, expires_at_ns"
)
_INSERT = """
INSERT INTO error_memory (id, tool, error_class, keywords, symptom, cause, action, outcome,
    written_at_ns, expires_at_ns, model, vector)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_WORDS = "INSERT INTO error_memory_words (rowid, words) VALUES (?, ?)"
_NEWEST = f"""
SELECT {_COLUMNS} FROM error_memory WHERE expires_at_ns > ? ORDER BY number DESC LIMIT ?
"""  # noqa: S608 - constants
_BY_ID = f"""
SELECT {_COLUMNS} FROM error_memory
WHERE expires_at_ns > ?1 AND id >= ?2 AND id < ?2 || 'g' ORDER BY number LIMIT 2
"""  # noqa: S608
_BY_NUMBERS = f"""
SELECT {_COLUMNS} FROM error_memory
WHERE expires_at_ns > ? AND number IN (SELECT value FROM json_each(?))
"""  # noqa: S608
_BY_WORDS = f"""
SELECT {_COLUMNS} FROM error_memory_words AS w JOIN error_memory AS e ON e.number = w.rowid
WHERE w.words MATCH ?1 AND e.expires_at_ns > ?2 AND (?3 IS NULL OR e.tool = ?3)
ORDER BY bm25(error_memory_words) LIMIT ?4
"""  # noqa: S608
_BY_CLASS = f"""
SELECT {_COLUMNS} FROM error_memory
WHERE tool = ? AND error_class = ? AND expires_at_ns > ? ORDER BY number DESC LIMIT ?
"""  # noqa: S608
_VECTORS = "SELECT number, tool, vector FROM error_memory WHERE model = ? ORDER BY number"
_CHANGES = "SELECT changes FROM error_memory_changes"
_RENEW = """
UPDATE error_memory SET expires_at_ns = max(expires_at_ns, ?)
WHERE number IN (SELECT value FROM json_each(?))
"""
_WAITING = f"""
SELECT {_COLUMNS} FROM error_memory
WHERE (model IS NULL OR model <> ?) AND expires_at_ns > ? ORDER BY number DESC LIMIT ?
"""  # noqa: S608
_SET_VECTOR = "UPDATE error_memory SET model = ?, vector = ? WHERE number = ?"
_REMOVE = "DELETE FROM error_memory WHERE id = ?"
_SWEEP = "DELETE FROM error_memory WHERE expires_at_ns <= ?"
_TRIM = """
DELETE FROM error_memory WHERE number IN (
    SELECT number FROM error_memory ORDER BY expires_at_ns DESC, number DESC LIMIT -1 OFFSET ?)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecord:
    """A record with its row number."""

    number: int
    record: ErrorRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorBlob:
    """A vector as it is stored."""

    model: str
    blob: bytes
    """Little-endian float32, of unit length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVector:
    """The vector of a record, for searching."""

    number: int
    tool: str
    blob: bytes


def _kept(row: Row) -> StoredRecord:
    record = ErrorRecord(
        id=row["id"],
        tool=row["tool"],
        error_class=ErrorClass(row["error_class"]),
        keywords=tuple(json.loads(row["keywords"])),
        symptom=row["symptom"],
        cause=row["cause"],
        action=row["action"],
        outcome=ActionOutcome(row["outcome"]),
        written_at_ns=row["written_at_ns"],
        expires_at_ns=row["expires_at_ns"],
    )
    return StoredRecord(number=row["number"], record=record)


async def add(unit: Unit, record: ErrorRecord, embedded: VectorBlob | None) -> None:
    """Keep a record; at the limit, the one that would expire first goes."""
    number = await unit.insert(
        _INSERT,
        (
            record.id,
            record.tool,
            record.error_class,
            json.dumps(record.keywords, ensure_ascii=False),
            record.symptom,
            record.cause,
            record.action,
            record.outcome,
            record.written_at_ns,
            record.expires_at_ns,
            embedded.model if embedded else None,
            embedded.blob if embedded else None,
        ),
    )
    await unit.execute(_INSERT_WORDS, (number, " ".join(segments(record.searched))))
    await unit.execute(_TRIM, (MOST_RECORDS,))


async def newest(reader: Reader, *, now_ns: int, limit: int) -> list[ErrorRecord]:
    """The last written records, newest first."""
    return [_kept(row).record for row in await reader.rows(_NEWEST, (now_ns, limit))]


async def beginning_with(reader: Reader, prefix: str, *, now_ns: int) -> list[ErrorRecord]:
    """At most two records whose id begins so; `prefix` is hexadecimal, lower case."""
    return [_kept(row).record for row in await reader.rows(_BY_ID, (now_ns, prefix))]


async def numbered(reader: Reader, numbers: Sequence[int], *, now_ns: int) -> list[StoredRecord]:
    """The records of these rows, in no order."""
    rows = await reader.rows(_BY_NUMBERS, (now_ns, json.dumps(list(numbers))))
    return [_kept(row) for row in rows]


async def matching(
    reader: Reader, words: Sequence[str], *, tool: str | None, now_ns: int, limit: int
) -> list[StoredRecord]:
    """The records that hold one of the segments, the best first by BM25."""
    match = " OR ".join(_quoted(word) for word in words)
    return [_kept(row) for row in await reader.rows(_BY_WORDS, (match, now_ns, tool, limit))]


def _quoted(word: str) -> str:
    """One FTS5 string; a lone CJK character may be the beginning of a pair, so it is a prefix."""
    return f'"{word}"*' if len(word) == 1 and not word.isascii() else f'"{word}"'


async def of_class(
    reader: Reader, tool: str, kind: ErrorClass, *, now_ns: int, limit: int
) -> list[StoredRecord]:
    """A tool's records of one class, newest first."""
    return [_kept(row) for row in await reader.rows(_BY_CLASS, (tool, kind, now_ns, limit))]


async def changes(reader: Reader) -> int:
    """A number that differs as soon as any vector came, changed or went."""
    row = await reader.row(_CHANGES)
    return int(row["changes"]) if row else 0


async def vectors(reader: Reader, model: str) -> list[StoredVector]:
    """All vectors of a model, by row number."""
    return [
        StoredVector(number=row["number"], tool=row["tool"], blob=row["vector"])
        for row in await reader.rows(_VECTORS, (model,))
    ]


async def renew(unit: Unit, numbers: Sequence[int], *, expires_at_ns: int) -> None:
    """Let records live until then; none gets a shorter life."""
    await unit.execute(_RENEW, (expires_at_ns, json.dumps(list(numbers))))


async def without_vector(
    reader: Reader, model: str, *, now_ns: int, limit: int
) -> list[StoredRecord]:
    """Records that have no vector of this model, newest first."""
    return [_kept(row) for row in await reader.rows(_WAITING, (model, now_ns, limit))]


async def set_vector(unit: Unit, number: int, embedded: VectorBlob) -> None:
    """Give a record its vector."""
    await unit.execute(_SET_VECTOR, (embedded.model, embedded.blob, number))


async def remove(unit: Unit, id_: str) -> bool:
    """Delete a record; whether there was one."""
    return await unit.execute(_REMOVE, (id_,)) > 0


async def sweep(unit: Unit, *, now_ns: int) -> int:
    """Delete what has expired; how many records."""
    return await unit.execute(_SWEEP, (now_ns,))
