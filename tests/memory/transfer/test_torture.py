"""Kills at every step, and writers at once: nothing acknowledged is lost, nothing comes twice."""

import asyncio
import subprocess
import sys
from pathlib import Path

from memory.archive import hot_table, messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.keeping.corrections import Corrector
from memory.keeping.soundness import Soundness, check
from memory.recall.embed_pass import EmbedPass
from memory.summary import summaries_table
from memory.summary.summaries_table import Cursor
from memory.summary.value import Summary
from memory.transfer import importing
from memory.values import NewMessage, Role, SessionId
from tests.fakes import FakeEmbedder
from tests.memory.transfer.crashing import BATCH, LIMIT_BYTES
from tests.memory.transfer.stage import bring_in, entries, messages, record, texts, write_history

SCRIPT = Path(__file__).parent / "crashing.py"
OLD = SessionId("cli-old")
WRITERS = 8
EACH = 40


def crash_everywhere(what, root):
    """The directories of all runs; the last one got through."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), what, str(root)], capture_output=True, text=True, check=True
    )
    steps = [line.split() for line in done.stdout.splitlines()]
    steps = [step for step in steps if step[-1] in ("killed", "survived")]
    assert [state for _, state in steps[:-1]] == ["killed"] * (len(steps) - 1)
    assert steps[-1][1] == "survived"
    return [root / step for step, _ in steps]


async def test_an_import_that_is_killed_anywhere_is_whole_after_the_next_one(tmp_path, monkeypatch):
    monkeypatch.setattr(importing, "BATCH_MESSAGES", BATCH)
    wanted = [f"綠茶 {n}" for n in range(7)]
    write_history(
        tmp_path / "cli-old/history.json", [record(t, n + 1) for n, t in enumerate(wanted)]
    )
    (tmp_path / "cli-old/long_term.json").write_text('[{"content": "a"}, {"content": "b"}]')
    (tmp_path / "cli-old/summary.json").write_text(
        '{"key_decisions": ["x"], "past_discussions": []}'
    )
    async with open_database(tmp_path / "kith.db"):
        pass

    found = set()
    for directory in crash_everywhere("import", tmp_path):
        async with open_database(directory / "kith.db", readers=1) as database:
            left = await texts(database, OLD)
            found.add(len(left))
            assert left == wanted[: len(left)]
            assert len(await entries(database, OLD)) in (0, 2)

            await bring_in(tmp_path / "cli-old", database)

            assert await texts(database, OLD) == wanted
            assert len(await entries(database, OLD)) == 2
            assert (await check(database)).sound
    assert found == {0, 3, 6, 7}


async def test_a_compaction_that_is_killed_anywhere_has_happened_or_not(tmp_path):
    async with open_database(tmp_path / "kith.db") as database:
        async with database.unit() as unit:
            number, _ = await sessions_table.touch(unit, OLD, title="", now_ns=1)
            said = [
                NewMessage(role=role, text="x" * 400, sent_at_ns=n)
                for n in range(15)
                for role in Role
            ]
            seqs = await messages_table.append(unit, number, said)
            await summaries_table.save(
                unit,
                OLD,
                summary=Summary(key_decisions=("Do: x",)),
                cursor=Cursor(seq=seqs[-1]),
                expected=await summaries_table.state(unit, OLD),
                now_ns=1,
            )

    starts = set()
    for directory in crash_everywhere("compact", tmp_path):
        async with (
            open_database(directory / "kith.db", readers=1) as database,
            database.reading() as reader,
        ):
            start = (await sessions_table.find(reader, OLD)).start_seq
            starts.add(start)
            size = sum([one.size_bytes async for one in hot_table.sizes(reader, OLD)])
            assert await hot_table.size_bytes(reader, OLD) == size
            assert await messages_table.count(reader, OLD) == 30
            assert (size < LIMIT_BYTES) == (start > 0)
    assert len(starts) == 2


async def test_an_embedding_run_that_is_killed_anywhere_leaves_each_message_a_vector_or_a_place(
    tmp_path,
):
    async with open_database(tmp_path / "kith.db") as database:
        async with database.unit() as unit:
            number, _ = await sessions_table.touch(unit, OLD, title="", now_ns=1)
            said = [NewMessage(role=Role.USER, text=f"茶 {n}", sent_at_ns=n) for n in range(70)]
            await messages_table.append(unit, number, said)
        await EmbedPass(database=database, embedder=FakeEmbedder(dim=8, name="old")).run()

    embedded = set()
    for directory in crash_everywhere("embed", tmp_path):
        async with open_database(directory / "kith.db", readers=1) as database:
            found = await check(database)
            assert found.sound
            assert found.vectors == 70
            embedded.add(found.waiting)

            await EmbedPass(database=database, embedder=FakeEmbedder(dim=8)).run()

            assert await check(database) == Soundness(messages=70, vectors=70)
    assert embedded == {0, 70, 38, 6}


async def test_writers_editors_and_the_embedding_at_once_drift_nowhere(tmp_path):
    async with open_database(tmp_path / "kith.db") as database:
        corrections = Corrector(database=database)
        embedding = EmbedPass(database=database, embedder=FakeEmbedder(dim=8, delay_s=0.001))

        async def write(writer):
            session = SessionId(f"cli-{writer}")
            for n in range(EACH):
                async with database.unit() as unit:
                    number, _ = await sessions_table.touch(unit, session, title="", now_ns=1)
                    said = NewMessage(
                        role=Role.USER, text=f"說 {n}", sent_at_ns=n, platform_id=str(n)
                    )
                    await messages_table.append(unit, number, [said])
                if n % 3 == 0:
                    await corrections.edited(session, str(n), f"改 {n}")
                if n % 5 == 0:
                    await corrections.deleted(session, [str(n)])

        async with asyncio.TaskGroup() as tasks:
            for writer in range(WRITERS):
                tasks.create_task(write(writer))
            for _ in range(10):
                await embedding.run()
        await embedding.run()

        left = WRITERS * (EACH - EACH // 5)
        assert await check(database) == Soundness(messages=left, vectors=left)


async def test_eight_writers_at_once_lose_nothing_that_was_acknowledged(tmp_path):
    acknowledged = {}

    async def write(database, writer):
        session = SessionId(f"cli-{writer % 4}")
        for n in range(EACH):
            async with database.unit() as unit:
                number, _ = await sessions_table.touch(unit, session, title="", now_ns=1)
                said = NewMessage(role=Role.USER, text=f"{writer} 說 {n}", sent_at_ns=n)
                [seq] = await messages_table.append(unit, number, [said])
            acknowledged[seq] = said.text

    async def give_up(database):
        for n in range(EACH):
            try:
                async with database.unit() as unit:
                    number, _ = await sessions_table.touch(unit, OLD, title="", now_ns=1)
                    await messages_table.append(
                        unit, number, [NewMessage(role=Role.USER, text="never", sent_at_ns=n)]
                    )
                    raise LookupError
            except LookupError:
                pass

    async with open_database(tmp_path / "kith.db") as database:
        async with asyncio.TaskGroup() as tasks:
            for writer in range(WRITERS):
                tasks.create_task(write(database, writer))
            tasks.create_task(give_up(database))
        held = {}
        for n in range(4):
            held |= {one.seq: one.text for one in await messages(database, SessionId(f"cli-{n}"))}
        assert held == acknowledged
        assert len(held) == WRITERS * EACH
        assert (await check(database)).sound
