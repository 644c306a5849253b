import numpy as np
import pytest

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.recall.embed_pass import EmbedPass
from memory.recall.index import open_indexes
from memory.recall.nearest import IndexKey, Nearest
from memory.values import NewMessage, Role, SessionId
from tests.fakes import NOON_NS, FakeEmbedder


class Setup:
    def __init__(self, database, indexes):
        self.database = database
        self.indexes = indexes
        self.nearest = Nearest(database, indexes)
        self.embedder = FakeEmbedder()

    async def say(self, session, *texts, embed=True):
        async with self.database.unit() as unit:
            number, _ = await sessions_table.touch(
                unit, SessionId(session), title="", now_ns=NOON_NS
            )
            messages = [NewMessage(role=Role.USER, text=text, sent_at_ns=NOON_NS) for text in texts]
            seqs = await messages_table.append(unit, number, messages)
        if embed:
            await EmbedPass(database=self.database, embedder=self.embedder).run()
        return number, seqs

    async def ask(self, number, text, *, limit=10, model=None, whole=False):
        [question] = await self.embedder.embed([text])
        key = IndexKey(session_number=number, model=model or self.embedder.name, whole=whole)
        near = await self.nearest.search(key, question, limit=limit)
        return near.seqs.tolist()

    async def run(self, sql, *values):
        async with self.database.unit() as unit:
            await unit.execute(sql, values)


@pytest.fixture
async def setup(tmp_path):
    async with (
        open_database(tmp_path / "kith.db") as database,
        open_indexes(limit_bytes=1 << 20) as indexes,
    ):
        yield Setup(database, indexes)


async def test_what_is_stored_is_found_without_telling_the_index(setup):
    number, seqs = await setup.say("a", "綠茶很好喝", "the cat sleeps")
    assert (await setup.ask(number, "綠茶很好喝"))[0] == seqs[0]

    _, [later] = await setup.say("a", "貓在睡覺 quietly")

    assert (await setup.ask(number, "貓在睡覺 quietly"))[0] == later


async def test_a_session_without_vectors_finds_nothing(setup):
    number, _ = await setup.say("a", "tea", embed=False)

    assert await setup.ask(number, "tea") == []
    assert (
        await setup.nearest.vectors(
            IndexKey(session_number=number, model="fake:embed"), np.array([1])
        )
    ).shape == (1, 0)


@pytest.mark.parametrize(
    "change", ["DELETE FROM messages WHERE seq = ?", "UPDATE messages SET text = '' WHERE seq = ?"]
)
async def test_a_deleted_or_edited_message_is_no_ghost(setup, change):
    number, [seq, other] = await setup.say("a", "secret tea", "other")
    assert seq in await setup.ask(number, "secret tea")

    await setup.run(change, seq)

    assert await setup.ask(number, "secret tea") == [other]


async def test_a_unit_that_was_rolled_back_left_nothing_in_the_index(setup):
    number, [seq] = await setup.say("a", "tea")
    with pytest.raises(RuntimeError):
        async with setup.database.unit() as unit:
            await unit.execute("DELETE FROM messages WHERE seq = ?", (seq,))
            raise RuntimeError

    assert await setup.ask(number, "tea") == [seq]


async def test_fifty_people_never_see_each_other(setup):
    for person in range(50):
        await setup.say(f"person-{person}", *(f"tea number {n}" for n in range(12)), embed=False)
    await EmbedPass(database=setup.database, embedder=setup.embedder).run()
    number, _ = await setup.say("person-49")

    found = await setup.ask(number, "tea number 3")

    assert len(found) == 10, "nobody else's messages took a place"
    async with setup.database.reading() as reader:
        [row] = await reader.rows(
            "SELECT count(*) AS foreign_hits FROM messages WHERE session <> ? AND seq IN"
            f" ({','.join(map(str, found))})",
            (number,),
        )
    assert row["foreign_hits"] == 0


async def test_a_changed_model_is_never_mixed_with_the_old_one(setup):
    number, [seq] = await setup.say("a", "tea")
    assert await setup.ask(number, "tea") == [seq]
    setup.embedder = FakeEmbedder(name="new", dim=32)

    assert await setup.ask(number, "tea") == []
    await EmbedPass(database=setup.database, embedder=setup.embedder).run()

    assert await setup.ask(number, "tea") == [seq]


async def test_a_model_that_changed_its_dimension_under_the_same_name_is_survived(setup):
    number, [seq] = await setup.say("a", "tea")
    await setup.ask(number, "tea")
    setup.embedder = FakeEmbedder(dim=32)
    _, [later] = await setup.say("a", "coffee")

    assert await setup.ask(number, "coffee") == [later]
    assert seq not in await setup.ask(number, "tea")


async def test_a_spoiled_vector_in_the_file_costs_only_itself(setup):
    number, [bad, good] = await setup.say("a", "tea", "more tea")
    spoiled = np.full(256, np.nan, dtype="<f4").tobytes()
    await setup.run("UPDATE message_vectors SET vector = ? WHERE seq = ?", spoiled, bad)

    assert await setup.ask(number, "tea") == [good]


async def test_an_index_that_was_dropped_is_built_again(setup):
    number, [seq] = await setup.say("a", "tea")
    other, _ = await setup.say("b", "milk")

    async with open_indexes(limit_bytes=1) as indexes:
        setup.nearest = Nearest(setup.database, indexes)
        for session in (number, other):
            await setup.ask(session, "tea")

        assert await setup.ask(number, "tea") == [seq]


async def cut_before(setup, session, seq):
    async with setup.database.unit() as unit:
        known = await sessions_table.find(unit, SessionId(session))
        await sessions_table.move_start(unit, known, seq)


@pytest.mark.parametrize("resident", [True, False])
async def test_what_lies_before_the_cutoff_leaves_the_resident_index(setup, resident):
    number, [old, new] = await setup.say("a", "綠茶很好喝", "綠茶不好喝")
    if resident:
        assert set(await setup.ask(number, "綠茶")) == {old, new}
        bytes_before = setup.indexes.size_bytes

    await cut_before(setup, "a", new)

    assert await setup.ask(number, "綠茶") == [new]
    if resident:
        assert setup.indexes.size_bytes < bytes_before
    assert set(await setup.ask(number, "綠茶", whole=True)) == {old, new}
    assert await setup.ask(number, "綠茶") == [new]


async def test_an_archived_message_that_is_embedded_again_stays_out_of_the_resident_index(setup):
    number, [old, new] = await setup.say("a", "綠茶很好喝", "綠茶不好喝")
    await cut_before(setup, "a", new)
    await setup.run("UPDATE messages SET text = '綠茶' WHERE seq = ?", old)
    await EmbedPass(database=setup.database, embedder=setup.embedder).run()

    assert await setup.ask(number, "綠茶") == [new]
    assert (await setup.ask(number, "綠茶", whole=True))[0] == old


async def test_a_whole_index_forgets_what_was_deleted(setup):
    number, [old, new] = await setup.say("a", "綠茶很好喝", "綠茶不好喝")
    await cut_before(setup, "a", new)
    await setup.ask(number, "綠茶", whole=True)

    await setup.run("DELETE FROM messages WHERE seq = ?", old)

    assert await setup.ask(number, "綠茶", whole=True) == [new]
