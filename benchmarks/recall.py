"""How much of the evidence recall brings back, beside keyword search alone and vectors alone.

    python benchmarks/recall.py DATA.jsonl [DATA.jsonl ...] [--json] [--cache DIRECTORY]

It runs the product itself: its database, its triggers, its embedding pass, its index, its scoring
and its packing, with the settings that the product ships. A data set is JSON Lines, one
conversation a line: `{"conversation", "language", "turns": [{"id", "speaker", "text", "time",
"session"}], "questions": [{"question", "gold": [[turn ids], ...], "category"}]}`. Each element of
`gold` is one piece of evidence, met by any turn of its list. R@Bt is the share of the evidence
among what is printed into a budget of B tokens. `--cache` keeps vectors between runs.
The extra `embedded` holds the embedding model.
"""

import argparse
import asyncio
import hashlib
import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import structlog

sys.path.insert(0, str(Path(__file__).parent.parent))

from adapters.calls import CallScheduler
from adapters.embedded.embed import open_embedder
from memory.archive import messages_table, passages
from memory.database import sessions_table
from memory.database.database import Database, open_database
from memory.language.segments import keywords, segments
from memory.ports import Embedder, Priority, Vectors
from memory.recall import words_table
from memory.recall.embed_pass import EmbedPass
from memory.recall.index import open_indexes
from memory.recall.nearest import IndexKey, Nearest
from memory.recall.query import Query
from memory.recall.ranking import information
from memory.recall.recall import Ranked, Recall
from memory.recall.slot import pack
from memory.settings import RecallSettings
from memory.values import (
    Message,
    NewMessage,
    PersonId,
    Role,
    SessionId,
    Speaker,
)

BUDGETS = (250, 500, 1000)
DEEP = 150
ADVERSARIAL = "adversarial"
METHODS = ("kith", "bm25", "dense")
_NS = 1_000_000_000
_K1, _B = 1.2, 0.75


class CachedEmbedder:
    """An embedder that asks once for each text, and remembers between runs when told where."""

    def __init__(self, inner: Embedder, directory: Path | None) -> None:
        self._inner = inner
        self._directory = directory
        self.name = inner.name

    async def embed(
        self, texts: Sequence[str], *, priority: Priority = Priority.INTERACTIVE
    ) -> Vectors:
        """One row a text."""
        if self._directory is None:
            return await self._inner.embed(texts, priority=priority)
        keys = [hashlib.sha256(f"{self.name}\n{text}".encode()).hexdigest() for text in texts]
        paths = [self._directory / f"{key}.npy" for key in keys]
        missing = [at for at, path in enumerate(paths) if not path.exists()]
        if missing:
            made = await self._inner.embed([texts[at] for at in missing], priority=priority)
            for at, vector in zip(missing, made, strict=True):
                np.save(paths[at], vector)
        return np.stack([np.load(path) for path in paths])


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A conversation in the database."""

    session: SessionId
    number: int
    now_ns: int
    turn_of: dict[int, str]
    """Turn id by row number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What is measured."""

    database: Database
    nearest: Nearest
    embedder: Embedder
    recall: Recall


def time_ns(written: str) -> int:
    """A turn's time in nanoseconds; the data sets write it in two ways."""
    for form in ("%I:%M %p on %d %B, %Y", "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"):
        try:
            return int(datetime.strptime(written, form).replace(tzinfo=UTC).timestamp()) * _NS
        except ValueError:
            continue
    digits = re.findall(r"\d+", written)
    year, month, day = (int(digit) for digit in digits[:3])
    return int(datetime(year, month, day, tzinfo=UTC).timestamp()) * _NS


async def load(bench: Bench, conversation: dict[str, Any]) -> Loaded:
    """Store a conversation as the product would, one message a turn."""
    session = SessionId(conversation["conversation"])
    turns = conversation["turns"]
    messages = [
        NewMessage(
            role=Role.USER,
            text=turn["text"],
            sent_at_ns=time_ns(turn["time"]),
            speaker=Speaker(person=PersonId(f"data:{turn['speaker']}"), name=turn["speaker"]),
        )
        for turn in turns
    ]
    now_ns = max(message.sent_at_ns for message in messages)
    async with bench.database.unit() as unit:
        number, _ = await sessions_table.touch(unit, session, title="", now_ns=now_ns)
        seqs = await messages_table.append(unit, number, messages)
    turn_of = {seq: turn["id"] for seq, turn in zip(seqs, turns, strict=True)}
    return Loaded(session=session, number=number, now_ns=now_ns, turn_of=turn_of)


async def bm25_only(bench: Bench, loaded: Loaded, question: str) -> Ranked:
    """Plain BM25 over the messages: no context, no names, no dates."""
    async with bench.database.reading() as reader:
        terms = await words_table.find_each(reader, loaded.number, keywords(question))
        everything = await passages.around(reader, loaded.number, loaded.turn_of, before=0, after=0)
    row = {passage.message.seq: at for at, passage in enumerate(everything)}
    lengths = np.array([max(len(segments(p.message.text)), 1) for p in everything], dtype=float)
    found_in = np.array([len(term.seqs) for term in terms], dtype=np.int64)
    weights = information(found_in, len(everything))
    scores = np.zeros(len(everything))
    norm = _K1 * (1 - _B + _B * lengths / lengths.mean())
    for term, weight in zip(terms, weights, strict=True):
        at = np.array([row[seq] for seq in term.seqs.tolist()], dtype=np.int64)
        scores[at] += weight * (_K1 + 1) / (1 + norm[at])
    order = [int(at) for at in np.argsort(-scores, kind="stable") if scores[at] > 0]
    return _ranked([everything[at].message for at in order])


async def dense_only(bench: Bench, loaded: Loaded, question: str) -> Ranked:
    """Plain cosine: what a vector store alone finds."""
    [vector] = await bench.embedder.embed([question])
    key = IndexKey(session_number=loaded.number, model=bench.embedder.name)
    near = await bench.nearest.search(key, vector, limit=DEEP)
    async with bench.database.reading() as reader:
        found = await passages.around(reader, loaded.number, near.seqs.tolist(), before=0, after=0)
    by_seq = {passage.message.seq: passage.message for passage in found}
    return _ranked([by_seq[seq] for seq in near.seqs.tolist()])


def _ranked(messages: Sequence[Message]) -> Ranked:
    return Ranked(messages=tuple(messages), scores=tuple(float(-at) for at in range(len(messages))))


def measure(ranked: Ranked, loaded: Loaded, gold: Sequence[Sequence[str]]) -> dict[str, float]:
    """The figures of one question."""
    order = [loaded.turn_of[message.seq] for message in ranked.messages]
    place = {turn: at for at, turn in enumerate(order)}
    best = [min((place.get(turn, 10**9) for turn in piece), default=10**9) for piece in gold]
    figures = {
        "r@5": float(np.mean([at < 5 for at in best])),
        "r@10": float(np.mean([at < 10 for at in best])),
        "all@10": float(all(at < 10 for at in best)),
        "MRR": 1 / (1 + min(best)),
    }
    for budget in BUDGETS:
        printed = {
            loaded.turn_of[snippet.message.seq]
            for snippet in pack(ranked, budget_tokens=budget, zone=UTC).snippets
        }
        figures[f"R@{budget}t"] = float(
            np.mean([any(turn in printed for turn in piece) for piece in gold])
        )
    return figures


async def ask(bench: Bench, loaded: Loaded, question: str) -> dict[str, Ranked]:
    """What each method finds."""
    query = Query(session=loaded.session, text=question, now_ns=loaded.now_ns, whole=False)
    return {
        "kith": await bench.recall.rank(query),
        "bm25": await bm25_only(bench, loaded, question),
        "dense": await dense_only(bench, loaded, question),
    }


async def run(paths: Sequence[Path], cache: Path | None) -> dict[str, dict[str, dict[str, float]]]:
    """The averages: by method, then by category, language and data set."""
    figures: dict[tuple[str, str], list[dict[str, float]]] = defaultdict(list)
    for path in paths:
        with tempfile.TemporaryDirectory() as directory:
            async with opened(Path(directory) / "kith.db", cache) as bench:
                conversations = [json.loads(line) for line in path.read_text().splitlines() if line]
                places = [await load(bench, conversation) for conversation in conversations]
                await EmbedPass(database=bench.database, embedder=bench.embedder).run()
                for conversation, loaded in zip(conversations, places, strict=True):
                    for question in questions(conversation, loaded):
                        found = await ask(bench, loaded, question["question"])
                        groups = groups_of(question, conversation, path, alone=len(paths) == 1)
                        for method, ranked in found.items():
                            measured = measure(ranked, loaded, question["gold"])
                            for group in groups:
                                figures[method, group].append(measured)
    return {
        method: {
            group: {name: float(np.mean([one[name] for one in rows])) for name in rows[0]}
            for (of, group), rows in figures.items()
            if of == method
        }
        for method in METHODS
    }


def questions(conversation: dict[str, Any], loaded: Loaded) -> Iterator[dict[str, Any]]:
    """The questions that have evidence in the conversation."""
    known = set(loaded.turn_of.values())
    for question in conversation["questions"]:
        gold = [[turn for turn in piece if turn in known] for piece in question["gold"]]
        if pieces := [piece for piece in gold if piece]:
            yield {**question, "gold": pieces}


def groups_of(
    question: dict[str, Any], conversation: dict[str, Any], path: Path, *, alone: bool
) -> list[str]:
    """Which averages a question counts for. Adversarial ones ask about the wrong speaker."""
    category = str(question["category"])
    if category == ADVERSARIAL:
        return [category]
    groups = ["all", category, f"language:{conversation['language']}"]
    return groups if alone else [*groups, f"data:{path.stem}"]


@asynccontextmanager
async def opened(path: Path, cache: Path | None) -> AsyncIterator[Bench]:
    """The product's own parts over a fresh database."""
    async with (
        open_database(path) as database,
        open_indexes(limit_bytes=1 << 30) as indexes,
        open_embedder(CallScheduler().of("m")) as embedder,
    ):
        cached = CachedEmbedder(embedder, cache)
        nearest = Nearest(database, indexes)
        recall = Recall(
            database=database,
            nearest=nearest,
            embedder=cached,
            settings=RecallSettings(),
            zone=UTC,
        )
        yield Bench(database=database, nearest=nearest, embedder=cached, recall=recall)


def show(results: dict[str, dict[str, dict[str, float]]]) -> None:
    """A table for people."""
    groups = list(results["kith"])
    names = list(results["kith"][groups[0]])
    print(f"{'':24} {'':6} " + " ".join(f"{name:>8}" for name in names))
    for group in groups:
        for method in METHODS:
            row = results[method][group]
            print(f"{group:24} {method:6} " + " ".join(f"{row[name]:8.3f}" for name in names))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--cache", type=Path, help="keep vectors here between runs")
    arguments = parser.parse_args()
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    if arguments.cache:
        arguments.cache.mkdir(parents=True, exist_ok=True)
    results = asyncio.run(run(arguments.data, arguments.cache))
    if arguments.json:
        print(json.dumps(results, ensure_ascii=False, indent=1))
    else:
        show(results)


if __name__ == "__main__":
    main()
