"""The tables `message_segments` and `message_words`: keyword search, kept by triggers alone."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory.database.database import Reader, Unit
from memory.language import segments
from memory.values import Seq

# One row a query: which of the session's messages answer it. Rows are read newest first, and a
# common word stops at the limit: what it would still find is worth next to nothing.
_POSTINGS = """
SELECT j.key AS number, (
    SELECT group_concat(rowid) FROM (
        SELECT rowid FROM message_words WHERE message_words MATCH j.value
        ORDER BY rowid DESC LIMIT ?2
    )
) AS seqs
FROM json_each(?1) AS j
"""
# The newest that hold all words, each with how well it fits: bm25() is negative, the best lowest
# (sqlite.org/fts5.html, 5.1.1).
_FITTING = """
SELECT rowid AS seq, -bm25(message_words) AS fit FROM message_words
WHERE message_words MATCH ? ORDER BY rowid DESC LIMIT ?
"""
_DRIFT = """
SELECT seq FROM messages WHERE seq NOT IN (SELECT seq FROM message_segments)
UNION ALL
SELECT seq FROM message_segments WHERE seq NOT IN (SELECT seq FROM messages)
"""
_STALE = """
SELECT m.seq FROM messages AS m JOIN message_segments AS w ON w.seq = m.seq
WHERE w.segments <> kith_segments(m.session, m.text)
"""
_CHECK = "INSERT INTO message_words (message_words, rank) VALUES ('integrity-check', 1)"
_OPTIMIZE = "INSERT INTO message_words (message_words) VALUES ('optimize')"
_EMPTY = "DELETE FROM message_segments"
_FROM_SEGMENTS = "INSERT INTO message_words (message_words) VALUES ('rebuild')"
_REFILL = """
INSERT INTO message_segments (seq, segments)
SELECT seq, kith_segments(session, text) FROM messages ORDER BY seq
"""

LONGEST_POSTINGS = 5_000
"""Messages read for one word of a question. Bounds a search in a session of any size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word of a question, with the messages that hold it."""

    word: str
    seqs: NDArray[np.int64]
    """Rising."""

    @property
    def is_common(self) -> bool:
        """Whether it stands in more messages than are read: then it barely distinguishes them."""
        return len(self.seqs) >= LONGEST_POSTINGS


async def find_each(reader: Reader, session_number: int, words: Sequence[str]) -> list[Term]:
    """For each word, the messages of the session that hold it; no other session is read.

    A common word is left out where a rarer one was found: there are too many to weigh it rightly.
    """
    queries = [segments.match_all([(word,)], scope=session_number) for word in words]
    found = await _postings(reader, queries)
    every = [Term(word=word, seqs=seqs) for word, seqs in zip(words, found, strict=True)]
    distinctive = [term for term in every if len(term.seqs) and not term.is_common]
    return [term for term in every if not term.is_common] if distinctive else every


async def find_all(
    reader: Reader, session_number: int, phrases: Sequence[tuple[str, ...]]
) -> dict[Seq, float]:
    """The messages of the session that hold all the phrases, newest first, with their BM25."""
    query = segments.match_all(phrases, scope=session_number)
    if not query:
        return {}
    rows = await reader.rows(_FITTING, (query, LONGEST_POSTINGS))
    return {Seq(row["seq"]): float(row["fit"]) for row in rows}


async def _postings(reader: Reader, queries: Sequence[str]) -> list[NDArray[np.int64]]:
    rows = await reader.rows(_POSTINGS, (json.dumps(list(queries)), LONGEST_POSTINGS))
    by_number = {int(row["number"]): row["seqs"] for row in rows}
    return [_parsed(by_number.get(number)) for number in range(len(queries))]


def _parsed(joined: str | None) -> NDArray[np.int64]:
    if not joined:
        return np.empty(0, np.int64)
    return np.sort(np.array(joined.split(","), dtype=np.int64))


async def drift(unit: Unit) -> list[Seq]:
    """Messages that keyword search lacks, or that it holds without a message: normally none.

    Raises:
        StorageCorrupt: the index itself contradicts its segments (`rebuild` repairs it).
    """
    await unit.execute(_CHECK)
    return [Seq(row["seq"]) for row in await unit.rows(_DRIFT)]


async def stale(unit: Unit) -> list[Seq]:
    """Messages that are indexed by other words than theirs: normally none.

    Reads and cuts every message. After the rules of cutting have changed it finds what was stored
    before, which `rebuild` then cuts anew.
    """
    return [Seq(row["seq"]) for row in await unit.rows(_STALE)]


async def rebuild(unit: Unit) -> None:
    """Cut every message anew and index it again."""
    await unit.execute(_FROM_SEGMENTS)  # FTS5 cannot forget rows that it does not know
    await unit.execute(_EMPTY)
    await unit.execute(_REFILL)


async def optimize(unit: Unit) -> None:
    """Merge the index into one piece, so that nothing deleted is left in it.

    Slow on a large database; to be followed by `Database.erase_traces`.
    """
    await unit.execute(_OPTIMIZE)
