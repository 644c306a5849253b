import sqlite3

import pytest

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.errors import StorageCorrupt
from memory.language.segments import phrase, terms
from memory.recall import words_table
from memory.values import NewMessage, Role, SessionId
from tests.fakes import NOON_NS

TEXTS = (
    "我每天早上喝綠茶",
    "来週は東京に行きます",
    "she turned 90",
    "I write c++ all day",
    "it's raining",
    "set memory:safe there",
    "say (python please",
)


@pytest.fixture
async def database(tmp_path):
    async with open_database(tmp_path / "kith.db") as opened:
        yield opened


async def say(database, session, *texts):
    async with database.unit() as unit:
        number, _ = await sessions_table.touch(unit, SessionId(session), title="", now_ns=NOON_NS)
        messages = [NewMessage(role=Role.USER, text=text, sent_at_ns=NOON_NS) for text in texts]
        return number, await messages_table.append(unit, number, messages)


async def found(database, number, query):
    async with database.reading() as reader:
        return list(await words_table.find_all(reader, number, terms(query)))


async def drift(database):
    async with database.unit() as unit:
        return await words_table.drift(unit)


@pytest.mark.parametrize(
    ("query", "at"),
    [
        ("綠茶", 0),
        ("绿茶", 0),
        ("東京", 1),
        ("90", 2),
        ("c++", 3),
        ("it's", 4),
        ("memory:safe", 5),
        ("(python", 6),
    ],
)
async def test_what_people_type_is_found(database, query, at):
    number, seqs = await say(database, "a", *TEXTS)

    assert await found(database, number, query) == [seqs[at]]


@pytest.mark.parametrize(
    "query", ['say "hi', "foo AND", "-x", "*", "NEAR(", "a:b:c", '"', "", "^", "😀", "\x01"]
)
async def test_nothing_that_people_type_raises(database, query):
    number, _ = await say(database, "a", *TEXTS)

    await found(database, number, query)


async def test_another_session_is_never_searched(database):
    number, _ = await say(database, "a", "綠茶 tea")
    other, _ = await say(database, "b", "咖啡 coffee")

    assert await found(database, other, "綠茶") == []
    assert await found(database, other, "tea") == []
    async with database.reading() as reader:
        [tea] = await words_table.find_each(reader, number, ["tea"])
        [foreign] = await words_table.find_each(reader, other, ["tea"])
    assert len(tea.seqs) == 1
    assert len(foreign.seqs) == 0


async def test_each_word_comes_with_the_messages_that_hold_it(database):
    number, seqs = await say(database, "a", "tea", "coffee", "tea and coffee")

    async with database.reading() as reader:
        tea, coffee, milk = await words_table.find_each(reader, number, ["tea", "coffe", "milk"])

    assert tea.seqs.tolist() == [seqs[0], seqs[2]]
    assert coffee.seqs.tolist() == [seqs[1], seqs[2]]
    assert milk.seqs.tolist() == []


async def test_a_phrase_finds_only_what_stands_together(database):
    number, seqs = await say(database, "a", "喝綠茶 every morning", "every 綠茶 morning")

    async with database.reading() as reader:
        assert list(await words_table.find_all(reader, number, [phrase("綠茶 every")])) == [seqs[0]]


async def test_an_edit_is_found_by_its_new_words_alone(database):
    number, [seq] = await say(database, "a", "I like tea")

    async with database.unit() as unit:
        await unit.execute("UPDATE messages SET text = ? WHERE seq = ?", ("我喜歡咖啡", seq))

    assert await found(database, number, "tea") == []
    assert await found(database, number, "咖啡") == [seq]
    assert await drift(database) == []


async def test_what_was_deleted_is_gone_from_the_index(database):
    number, [seq, kept] = await say(database, "a", "tea", "more tea")

    async with database.unit() as unit:
        await unit.execute("DELETE FROM messages WHERE seq = ?", (seq,))

    assert await found(database, number, "tea") == [kept]
    assert await drift(database) == []


async def test_a_removed_session_leaves_nothing_behind(database):
    await say(database, "a", "tea")
    async with database.unit() as unit:
        await sessions_table.remove(unit, SessionId("a"))

    async with database.reading() as reader:
        for table in ("message_segments", "message_vectors", "message_backlog"):
            assert await reader.rows(f"SELECT * FROM {table}") == []
    assert await drift(database) == []


async def test_a_deleted_word_is_in_no_byte_of_the_files(database):
    _, [seq, _] = await say(database, "a", "zanzibarquux 祕密暗號", "something else")
    async with database.unit() as unit:
        await unit.execute("DELETE FROM messages WHERE seq = ?", (seq,))

    async with database.unit() as unit:
        await words_table.optimize(unit)
    await database.erase_traces()

    for file in database.path.parent.iterdir():
        content = file.read_bytes()
        for trace in ("zanzibar", "祕密", "密暗"):
            assert trace.encode() not in content


async def test_a_unit_that_fails_leaves_no_word_behind(database):
    number, _ = await say(database, "a", "first")

    with pytest.raises(RuntimeError):
        async with database.unit() as unit:
            message = NewMessage(role=Role.USER, text="ghost", sent_at_ns=NOON_NS)
            await messages_table.append(unit, number, [message])
            raise RuntimeError

    assert await found(database, number, "ghost") == []
    assert await drift(database) == []


async def test_a_damaged_index_is_noticed_and_rebuilt(database):
    number, [seq] = await say(database, "a", "tea")
    with sqlite3.connect(database.path) as outside:
        outside.execute("INSERT INTO message_words (message_words) VALUES ('delete-all')")
    outside.close()

    with pytest.raises(StorageCorrupt):
        await drift(database)
    async with database.unit() as unit:
        await words_table.rebuild(unit)

    assert await drift(database) == []
    assert await found(database, number, "tea") == [seq]


async def test_messages_of_an_older_database_are_indexed_when_it_is_opened(tmp_path):
    path = tmp_path / "kith.db"
    async with open_database(path) as database:
        number, [seq] = await say(database, "a", "我喝綠茶")
        async with database.unit() as unit:
            for kind, names in {
                "TRIGGER": (
                    "messages_inserted",
                    "messages_edited",
                    "messages_deleted",
                    "message_segments_inserted",
                    "message_segments_deleted",
                    "message_vectors_inserted",
                    "message_vectors_deleted",
                ),
                "TABLE": (
                    "message_words",
                    "message_segments",
                    "message_vectors",
                    "vector_removals",
                    "message_backlog",
                ),
            }.items():
                for name in names:
                    await unit.execute(f"DROP {kind} {name}")
            await unit.execute("DELETE FROM migrations WHERE owner = 'memory' AND number = 4")

    async with open_database(path) as database:
        assert await found(database, number, "綠茶") == [seq]
        assert await drift(database) == []


async def test_a_word_that_nearly_every_message_holds_gives_way_to_a_rarer_one(
    database, monkeypatch
):
    monkeypatch.setattr(words_table, "LONGEST_POSTINGS", 5)
    number, seqs = await say(database, "a", *("tea again" for _ in range(9)), "tea and oolong")

    async with database.reading() as reader:
        both = await words_table.find_each(reader, number, ["tea", "oolong", "milk"])
        [alone] = await words_table.find_each(reader, number, ["tea"])

    assert [term.word for term in both] == ["oolong", "milk"]
    assert alone.seqs.tolist() == seqs[-5:]
