"""Rows, words and vectors stay one, whoever writes at once and wherever the process is killed."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.errors import ModelUnreachable
from memory.recall import vectors_table, words_table
from memory.recall.embed_pass import EmbedPass
from memory.values import NewMessage, Role, SessionId
from tests.fakes import NOON_NS, FakeEmbedder

ROOT = Path(__file__).parents[3]
CHILD = """
import asyncio, sys
from pathlib import Path
from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.recall.embed_pass import EmbedPass
from memory.values import NewMessage, Role, SessionId
from tests.fakes import FakeEmbedder

async def main():
    async with open_database(Path(sys.argv[1])) as database:
        embed = EmbedPass(database=database, embedder=FakeEmbedder())
        for number in range(10_000):
            async with database.unit() as unit:
                at, _ = await sessions_table.touch(unit, SessionId("a"), title="", now_ns=1)
                message = NewMessage(role=Role.USER, text=f"綠茶 {number}", sent_at_ns=number)
                [seq] = await messages_table.append(unit, at, [message])
                if number % 3 == 2:
                    await unit.execute("DELETE FROM messages WHERE seq = ?", (seq,))
            if number % 3 != 2:
                print(seq, flush=True)
            if number % 7 == 0:
                await embed.run()

asyncio.run(main())
"""


async def drift(database):
    async with database.unit() as unit:
        found = await words_table.drift(unit)
    async with database.reading() as reader:
        return found + await vectors_table.drift(reader)


async def test_eight_writers_lose_nothing_and_leave_no_drift(tmp_path):
    async with open_database(tmp_path / "kith.db") as database:

        async def write(name):
            kept = []
            for at in range(20):
                async with database.unit() as unit:
                    number, _ = await sessions_table.touch(
                        unit, SessionId(name), title="", now_ns=NOON_NS
                    )
                    message = NewMessage(role=Role.USER, text=f"綠茶 {at}", sent_at_ns=NOON_NS)
                    [seq] = await messages_table.append(unit, number, [message])
                kept.append(seq)
            return kept

        embed = EmbedPass(database=database, embedder=FakeEmbedder())
        *kept, _ = await asyncio.gather(*(write(f"s{n}") for n in range(8)), embed.run())
        await embed.run()

        assert await drift(database) == []
        async with database.reading() as reader:
            rows = await reader.rows("SELECT seq FROM message_vectors ORDER BY seq")
        assert [row["seq"] for row in rows] == sorted(seq for seqs in kept for seq in seqs)


@pytest.mark.parametrize("acknowledged", [1, 12])
async def test_a_killed_process_leaves_rows_words_and_vectors_as_one(tmp_path, acknowledged):
    path = tmp_path / "kith.db"
    child = subprocess.Popen(  # noqa: ASYNC220 - nothing else runs in this loop
        [sys.executable, "-c", CHILD, str(path)],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:
        told = []
        while len(told) < acknowledged:
            line = child.stdout.readline().strip()
            assert line, "the child ended before it was killed"
            told += [int(line)] if line.isdecimal() else []
        child.kill()

    async with open_database(path) as database:
        assert await drift(database) == []
        async with database.reading() as reader:
            rows = await reader.rows("SELECT seq FROM messages")
        assert set(told) <= {row["seq"] for row in rows}


async def test_a_model_that_fails_half_way_leaves_the_rest_in_the_queue(tmp_path):
    async with open_database(tmp_path / "kith.db") as database:
        async with database.unit() as unit:
            number, _ = await sessions_table.touch(unit, SessionId("a"), title="", now_ns=NOON_NS)
            await messages_table.append(
                unit,
                number,
                [
                    NewMessage(role=Role.USER, text=f"{at} 綠茶", sent_at_ns=NOON_NS)
                    for at in range(100)
                ],
            )
        embedder = FakeEmbedder()
        original = embedder.embed

        async def third_time_fails(texts, **options):
            if len(embedder.calls) == 2:
                raise ModelUnreachable("gone")
            return await original(texts, **options)

        embedder.embed = third_time_fails
        first = await EmbedPass(database=database, embedder=embedder).run()
        embedder.embed = original
        second = await EmbedPass(database=database, embedder=embedder).run()

    assert (first.embedded, first.waiting, first.failure) == (64, 36, "ModelUnreachable")
    assert (second.embedded, second.waiting) == (36, 0)
