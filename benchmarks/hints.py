"""How long a hint takes to find: 10,000 error records of eight tools, after a failed call.

    python benchmarks/hints.py [--records 10000] [--lookups 200] [--embedder none|random]

`random` vectors cost the store what real ones do; embedding the error text itself (about 20 ms
with the embedded model) is not in the figures. Each lookup that finds something also renews it,
which is a commit.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from memory.database.database import Database, open_database
from memory.ports import Vectors
from memory.tool_errors import records_table
from memory.tool_errors.error_memory import ErrorMemory
from memory.tool_errors.record import ActionOutcome, NewErrorRecord, finished
from memory.tool_errors.records_table import VectorBlob

TOOLS = [f"tool_{n}" for n in range(8)]
WORDS = (
    "quota limit exceeded refused timeout denied range format missing parameter date page"
    " network certificate redirect empty result encoding size token schema city zone file path"
).split()
CHINESE = "逾時 權限 格式 參數 缺少 日期 結果 檔案 路徑 連線 憑證 編碼 上限 城市 時區 頁面".split()
DIMENSIONS = 384


class Clock:
    def now_ns(self) -> int:
        return time.time_ns()


class Random:
    name = "random:384"

    async def embed(self, texts: Sequence[str], **_ignored: object) -> Vectors:
        rows = np.random.default_rng(len(texts[0])).normal(size=(len(texts), DIMENSIONS))
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def sentence(rng: random.Random) -> str:
    words = rng.sample(WORDS, 5) + rng.sample(CHINESE, 2)
    return f"{' '.join(words)} {rng.randrange(100_000)}"


async def fill(database: Database, embedder: Random | None, count: int, rng: random.Random) -> None:
    async with database.unit() as unit:
        for number in range(count):
            new = NewErrorRecord(
                tool=rng.choice(TOOLS),
                keywords=tuple(rng.sample(WORDS, 3)),
                symptom=sentence(rng),
                action=sentence(rng),
                outcome=ActionOutcome.RESOLVED,
            )
            record = finished(new, id_=f"{number:064x}", now_ns=time.time_ns())
            embedded = None
            if embedder:
                [row] = await embedder.embed([record.meaning])
                embedded = VectorBlob(model=embedder.name, blob=row.tobytes())
            await records_table.add(unit, record, embedded)


async def measure(records: int, lookups: int, embedder: Random | None) -> None:
    rng = random.Random(7)
    with tempfile.TemporaryDirectory() as directory:
        async with open_database(Path(directory) / "kith.db") as database:
            began = time.perf_counter()
            await fill(database, embedder, records, rng)
            print(f"{records} records written in {time.perf_counter() - began:.1f} s")
            memory = ErrorMemory(database=database, embedder=embedder, clock=Clock())
            began = time.perf_counter()
            await memory.hints(TOOLS[0], sentence(rng))
            print(f"first lookup (reads the vectors): {(time.perf_counter() - began) * 1e3:.0f} ms")
            took, found = [], 0
            for _ in range(lookups):
                began = time.perf_counter()
                found += bool(await memory.hints(rng.choice(TOOLS), f"error: {sentence(rng)}"))
                took.append((time.perf_counter() - began) * 1e3)
            p50, p95 = statistics.median(took), statistics.quantiles(took, n=20)[-1]
            print(
                f"hint lookup: p50 {p50:.1f} ms, p95 {p95:.1f} ms; {found} of {lookups} found any"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--lookups", type=int, default=200)
    parser.add_argument("--embedder", choices=("none", "random"), default="random")
    given = parser.parse_args()
    embedder = Random() if given.embedder == "random" else None
    asyncio.run(measure(given.records, given.lookups, embedder))


if __name__ == "__main__":
    main()
