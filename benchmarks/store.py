"""What the store costs: append, delete, keyword, dense and fused search, at several sizes.

    python benchmarks/store.py [--sizes 1000 10000 100000] [--rows 1000000 --sessions 1000]
                               [--mem0 [ENVIRONMENT]] [--json]

One session with each size of messages, then one database of many sessions. Vectors are random
units (embedding is another matter and is not measured); texts are made of common and rare words
in English and Chinese. Times are milliseconds. `--mem0` measures mem0 on the same texts and vectors
beside it, in a virtual environment that is made for it (and kept if it is named); it needs the
network once, for installing.
"""

import argparse
import asyncio
import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import mem0_store
from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import Database, open_database
from memory.language.segments import keywords
from memory.ports import Priority, Vectors
from memory.recall import vectors_table, words_table
from memory.recall.index import open_indexes
from memory.recall.nearest import IndexKey, Nearest
from memory.recall.query import Query
from memory.recall.recall import Recall
from memory.recall.vectors_table import QueuedMessage
from memory.settings import RecallSettings
from memory.values import NewMessage, PersonId, Role, Seq, SessionId, Speaker

DIMENSION = 384
MODEL = "bench:random"
START_NS = 1_700_000_000 * 10**9
_COMMON = "today we went to the park with my sister and then home for tea and some music".split()
_CHINESE = "今天我們一起去公園喝咖啡然後回家聽音樂看電影吃晚飯睡覺工作開會寫程式學日文"
_BATCH = 5_000


class RandomEmbedder:
    """Unit vectors that depend on the text alone."""

    name = MODEL

    async def embed(
        self, texts: Sequence[str], *, priority: Priority = Priority.INTERACTIVE
    ) -> Vectors:
        """One row a text."""
        del priority
        return np.stack([units(1, seed=len(text) * 7919 + ord(text[0]))[0] for text in texts])


def units(count: int, *, seed: int) -> Vectors:
    """Random rows of unit length."""
    rows = np.random.default_rng(seed).standard_normal((count, DIMENSION), dtype=np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def sentence(random_: random.Random) -> str:
    """A message of a dozen words, one or two of them rare, every third in Chinese."""
    rare = f"topic{random_.randrange(3_000)}"
    if random_.random() < 0.33:
        at = random_.randrange(len(_CHINESE) - 12)
        return f"{_CHINESE[at : at + 12]}，關於 {rare}"
    return " ".join([*random_.sample(_COMMON, 9), rare, f"item{random_.randrange(20_000)}"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The parts under measurement."""

    database: Database
    nearest: Nearest
    recall: Recall


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Bench]:
    """The product's parts over one file."""
    async with open_database(path) as database, open_indexes(limit_bytes=1 << 30) as indexes:
        nearest = Nearest(database, indexes)
        recall = Recall(
            database=database,
            nearest=nearest,
            embedder=RandomEmbedder(),
            settings=RecallSettings(),
            zone=UTC,
        )
        yield Bench(database=database, nearest=nearest, recall=recall)


def message(text: str, at: int) -> NewMessage:
    """A message of one of two people, a minute after the one before."""
    name = ("Momo", "Nina")[at % 2]
    return NewMessage(
        role=Role.USER,
        text=text,
        sent_at_ns=START_NS + at * 60 * 10**9,
        speaker=Speaker(person=PersonId(f"bench:{name}"), name=name),
    )


def batches(count: int, random_: random.Random) -> Iterator[tuple[int, list[str]]]:
    """Texts of `count` messages, with the number of the first of each batch, its vectors' seed."""
    for start in range(0, count, _BATCH):
        yield start, [sentence(random_) for _ in range(min(_BATCH, count - start))]


async def fill(
    bench: Bench, session: str, count: int, random_: random.Random, *, vectors: bool
) -> int:
    """Store messages, with vectors where asked for; the session's number."""
    number = 0
    for start, texts in batches(count, random_):
        async with bench.database.unit() as unit:
            number, _ = await sessions_table.touch(
                unit, SessionId(session), title="", now_ns=START_NS
            )
            seqs = await messages_table.append(
                unit, number, [message(text, start + at) for at, text in enumerate(texts)]
            )
            if vectors:
                made = [
                    QueuedMessage(seq=seq, text=text, name=None)
                    for seq, text in zip(seqs, texts, strict=True)
                ]
                await vectors_table.save(unit, MODEL, made, units(len(made), seed=start))
    return number


async def timed(times: int, work: Callable[[int], Awaitable[object]]) -> dict[str, float]:
    """Median and 95th percentile of some work, in milliseconds."""
    spent = []
    for at in range(times):
        began = time.perf_counter()
        await work(at)
        spent.append((time.perf_counter() - began) * 1_000)
    return {"p50": float(np.median(spent)), "p95": float(np.percentile(spent, 95))}


async def measure(
    bench: Bench, session: str, number: int, seqs: Sequence[int]
) -> dict[str, object]:
    """All operations on one session."""
    questions = asked()

    async def append(at: int) -> None:
        async with bench.database.unit() as unit:
            await messages_table.append(unit, number, [message(questions[at], at)])

    async def delete(at: int) -> None:
        async with bench.database.unit() as unit:
            await unit.execute("DELETE FROM messages WHERE seq = ?", (seqs[at],))

    async def keyword(at: int) -> None:
        async with bench.database.reading() as reader:
            await words_table.find_each(reader, number, keywords(questions[at]))

    async def dense(at: int) -> None:
        key = IndexKey(session_number=number, model=MODEL)
        await bench.nearest.search(key, units(1, seed=at)[0], limit=100)

    async def fused(at: int) -> None:
        await bench.recall.rank(
            Query(session=SessionId(session), text=questions[at], now_ns=START_NS, whole=False)
        )

    began = time.perf_counter()
    await dense(0)
    built_ms = (time.perf_counter() - began) * 1_000
    return {
        "build": built_ms,
        "append": await timed(100, append),
        "keyword": await timed(100, keyword),
        "dense": await timed(50, dense),
        "fused": await timed(50, fused),
        "delete": await timed(50, delete),
        "resident_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def asked() -> list[str]:
    """What is looked for and appended."""
    random_ = random.Random(1)
    return [sentence(random_) for _ in range(200)]


def mem0_session(size: int, directory: Path, environment: Path) -> dict[str, object]:
    """The same session in mem0."""
    made = list(batches(size, random.Random(0)))
    questions = asked()[: mem0_store.OPERATIONS]
    return mem0_store.measured(
        environment,
        directory / f"mem0-{size}",
        texts=[text for _, texts in made for text in texts],
        vectors=np.concatenate([units(len(texts), seed=start) for start, texts in made]),
        questions={text: units(1, seed=at)[0] for at, text in enumerate(questions)},
    )


def _stored_bytes(path: Path) -> int:
    """What a database takes, its write-ahead log included."""
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))


async def one_session(size: int, directory: Path) -> dict[str, object]:
    """A session of `size` messages in a database of its own."""
    async with opened(directory / f"{size}.db") as bench:
        number = await fill(bench, "one", size, random.Random(0), vectors=True)
        seqs = [Seq(at) for at in range(1, min(size, 1_000))]
        return await measure(bench, "one", number, seqs)


async def many_sessions(rows: int, count: int, directory: Path) -> dict[str, object]:
    """Keyword search within one session of a large database, over many of its sessions."""
    random_ = random.Random(0)
    async with opened(directory / "many.db") as bench:
        began = time.perf_counter()
        numbers = [
            await fill(bench, f"s{at}", rows // count, random_, vectors=False)
            for at in range(count)
        ]
        filled_s = time.perf_counter() - began
        questions = [sentence(random_) for _ in range(200)]

        async def keyword(at: int) -> None:
            async with bench.database.reading() as reader:
                number = numbers[(at * 37) % count]
                await words_table.find_each(reader, number, keywords(questions[at]))

        return {
            "filled_s": filled_s,
            "file_mib": _stored_bytes(directory / "many.db") / 2**20,
            "keyword": await timed(200, keyword),
        }


async def run(sizes: Sequence[int], rows: int, count: int, mem0: Path | None) -> dict[str, object]:
    """Everything, smallest first."""
    results: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as name:
        for size in sizes:
            results[f"one session of {size}"] = await one_session(size, Path(name))
            if mem0 is not None:
                environment = Path(name) / mem0
                figures = await asyncio.to_thread(mem0_session, size, Path(name), environment)
                results[f"one session of {size}, mem0"] = figures
        if rows:
            results[f"{rows} rows in {count} sessions"] = await many_sessions(
                rows, count, Path(name)
            )
    return results


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="*", type=int, default=[1_000, 10_000, 100_000])
    parser.add_argument("--rows", type=int, default=1_000_000, help="0 leaves this part out")
    parser.add_argument("--sessions", type=int, default=1_000)
    parser.add_argument(
        "--mem0", nargs="?", type=Path, const=Path("environment"), help="measure mem0 beside it"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    mem0 = arguments.mem0
    if mem0 is not None and mem0 != Path("environment"):
        mem0 = mem0.absolute()
    results = asyncio.run(run(arguments.sizes, arguments.rows, arguments.sessions, mem0))
    if arguments.json:
        print(json.dumps(results, indent=1))
        return
    for name, figures in results.items():
        print(name)
        for what, value in figures.items():  # type: ignore[attr-defined]
            print(f"  {what:14} {value}")


if __name__ == "__main__":
    main()
