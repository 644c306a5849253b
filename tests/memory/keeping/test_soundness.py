import numpy as np
import pytest

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.keeping.soundness import Soundness, check, repair
from memory.pools import entries_table
from memory.pools.entry import NewEntry, Pool, Scope, Source, SourceKind, Tag
from memory.recall import vectors_table, words_table
from memory.recall.vectors_table import QueuedMessage
from memory.values import NewMessage, Role, SessionId

ALICE, BOB = SessionId("cli-alice"), SessionId("cli-bob")


@pytest.fixture
async def database(tmp_path):
    async with open_database(tmp_path / "kith.db") as opened:
        yield opened


async def say(database, *said, session=ALICE):
    async with database.unit() as unit:
        number, _ = await sessions_table.touch(unit, session, title="", now_ns=1)
        messages = [NewMessage(role=Role.USER, text=text, sent_at_ns=1) for text in said]
        return await messages_table.append(unit, number, messages)


async def embed(database, *made, dimension=4):
    vectors = np.eye(dimension, dtype=np.float32)[: len(made)]
    waiting = [QueuedMessage(seq=seq, text=text, name=None) for seq, text in made]
    async with database.unit() as unit:
        await vectors_table.save(unit, "fake:embed", waiting, vectors)


async def execute(database, sql, *parameters):
    async with database.unit() as unit:
        await unit.execute(sql, parameters)


async def fact(database, session, *sources):
    async with database.unit() as unit:
        entry = NewEntry(
            content="x",
            pool=Pool.LONG,
            tag=Tag.FACT,
            scope=Scope.GROUP,
            said_at_ns=1,
            sources=sources,
        )
        return await entries_table.add(unit, session, entry)


async def test_what_was_written_as_usual_is_sound(database):
    one, _ = await say(database, "我喜歡綠茶", "tea")
    await embed(database, (one, "我喜歡綠茶"))
    await fact(database, ALICE, Source(kind=SourceKind.MESSAGE, id=str(one)))
    async with database.unit() as unit:
        await messages_table.reword(unit, one, "咖啡")

    found = await check(database)

    assert found == Soundness(messages=2, waiting=2)
    assert found.sound


BREAKS = {
    "keywords": "DELETE FROM message_segments WHERE seq = 1",
    "sizes": "UPDATE hot_bytes SET bytes = bytes + 1",
    "meanings": "UPDATE message_vectors SET session = 99",
    "summaries": "DELETE FROM summary_due",
}


@pytest.mark.parametrize("part", BREAKS)
async def test_what_does_not_agree_is_counted_and_repaired(database, part):
    [seq] = await say(database, "綠茶")
    await embed(database, (seq, "綠茶"))
    await execute(database, BREAKS[part])

    broken = await check(database)
    mended = await repair(database)

    assert getattr(broken, part) == 1
    assert not broken.sound
    assert mended.sound


async def test_words_that_are_not_the_messages_are_cut_anew(database):
    [seq] = await say(database, "綠茶")
    await execute(database, "DELETE FROM message_segments")
    await execute(database, "INSERT INTO message_segments VALUES (?, '1:coffee')", seq)

    assert (await check(database)).keywords == 1
    assert (await repair(database)).sound
    async with database.reading() as reader:
        assert list(await words_table.find_all(reader, 1, [("綠茶",)])) == [seq]


async def test_an_index_that_contradicts_itself_is_rebuilt(database):
    await say(database, "綠茶")
    sql = "INSERT INTO message_words (message_words, rowid, segments) VALUES ('delete', 1, '1:x')"
    await execute(database, sql)

    assert (await check(database)).keyword_index
    assert (await repair(database)).sound


@pytest.mark.parametrize("numbers", [[1, 0, 0], [float("nan"), 0, 0, 0], [2, 0, 0, 0]])
async def test_vectors_that_no_index_may_hold_go_back_into_the_queue(database, numbers):
    one, two = await say(database, "a", "b")
    await embed(database, (one, "a"), (two, "b"))
    blob = np.array(numbers, dtype="<f4").tobytes()
    sql = "UPDATE message_vectors SET vector = ?, dimension = ? WHERE seq = ?"
    await execute(database, sql, blob, len(numbers), one)

    assert (await check(database)).meanings == 1

    mended = await repair(database)
    assert mended.sound
    assert (mended.vectors, mended.waiting) == (1, 1)


async def test_links_into_another_session_are_cut(database):
    [seq] = await say(database, "a")
    await say(database, "b", session=BOB)
    mine = await fact(database, ALICE)
    foreign = await fact(database, BOB, Source(kind=SourceKind.MESSAGE, id=str(seq)))
    await execute(database, "UPDATE pool_entries SET superseded_by = ? WHERE id = ?", mine, foreign)

    assert (await check(database)).pools == 2
    assert (await repair(database)).sound


async def test_a_summary_that_cannot_be_read_is_given_up(database):
    await say(database, "a")
    sql = "INSERT INTO summaries (session, body, cursor_seq, saved_at_ns) VALUES (1, ?, ?, 1)"
    await execute(database, sql, "{broken", 1)
    await execute(database, sql, '{"key_decisions": [], "past_discussions": []}', 7)

    assert (await check(database)).summaries == 2
    assert (await repair(database)).sound


async def test_a_repair_changes_no_word_that_was_said(database):
    said = ["綠茶", "c++", "it's 90%"]
    await say(database, *said)
    await execute(database, "DELETE FROM message_segments")

    await repair(database)

    async with database.reading() as reader:
        assert [
            one.text for one in await messages_table.after(reader, ALICE, seq=0, limit=9)
        ] == said


async def test_a_backup_is_a_sound_copy_as_of_one_moment(database, tmp_path):
    await say(database, *(f"m{n} 綠茶" for n in range(500)))

    await database.back_up(tmp_path / "copy.db")
    await say(database, "later")

    async with open_database(tmp_path / "copy.db") as copy:
        found = await check(copy)
    assert found.sound
    assert found.messages == 500
