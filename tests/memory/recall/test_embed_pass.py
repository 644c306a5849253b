import numpy as np
import pytest

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.errors import ModelAnswerInvalid, ModelUnreachable
from memory.recall import vectors_table
from memory.recall.embed_pass import BATCH_MESSAGES, EmbedPass
from memory.values import NewMessage, PersonId, Role, SessionId, Speaker
from tests.fakes import NOON_NS, FakeEmbedder

MOMO = Speaker(person=PersonId("telegram:1"), name="Momo")


@pytest.fixture
async def database(tmp_path):
    async with open_database(tmp_path / "kith.db") as opened:
        yield opened


async def say(database, *texts, speaker=MOMO):
    async with database.unit() as unit:
        number, _ = await sessions_table.touch(unit, SessionId("a"), title="", now_ns=NOON_NS)
        messages = [
            NewMessage(role=Role.USER, text=text, sent_at_ns=NOON_NS, speaker=speaker)
            for text in texts
        ]
        return number, await messages_table.append(unit, number, messages)


async def stored(database, number, model):
    async with database.reading() as reader:
        return await vectors_table.later_than(reader, number, model, number=0, limit=10_000)


async def waiting(database):
    async with database.reading() as reader:
        return await vectors_table.count_waiting(reader)


async def test_every_message_gets_its_vector_with_its_speaker(database):
    embedder = FakeEmbedder()
    number, seqs = await say(database, "我喝綠茶", "and coffee")

    run = await EmbedPass(database=database, embedder=embedder).run()

    rows = await stored(database, number, embedder.name)
    assert (run.embedded, run.waiting) == (2, 0)
    [expected] = await embedder.embed(["Momo: and coffee"])
    assert rows.vectors[rows.seqs.tolist().index(seqs[1])] == pytest.approx(expected)


async def test_a_batch_holds_texts_of_about_one_length(database):
    embedder = FakeEmbedder()
    await say(database, *("x" * length for length in range(1, 100)))

    await EmbedPass(database=database, embedder=embedder).run()

    lengths = [[len(text) for text in call] for call in embedder.calls]
    assert all(max(call) - min(call) <= BATCH_MESSAGES for call in lengths)


async def test_nothing_is_lost_while_the_model_is_away(database):
    embedder = FakeEmbedder()
    await say(database, "one", "two")
    embedder.error = ModelUnreachable("away")
    work = EmbedPass(database=database, embedder=embedder)

    assert await work.run() == await work.run()
    assert await waiting(database) == 2
    embedder.error = None

    assert (await work.run()).embedded == 2


async def test_a_changed_model_embeds_everything_again(database):
    number, _ = await say(database, "one", "two")
    await EmbedPass(database=database, embedder=FakeEmbedder(name="old")).run()

    run = await EmbedPass(database=database, embedder=FakeEmbedder(name="new", dim=64)).run()

    assert run.embedded == 2
    assert (await stored(database, number, "new")).vectors.shape == (2, 64)
    assert (await stored(database, number, "old")).newest == 0


class Spoiling(FakeEmbedder):
    """Gives a NaN for one text, or refuses the whole batch because of it."""

    def __init__(self, *, refuse):
        super().__init__()
        self.refuse = refuse

    async def embed(self, texts, **options):
        vectors = await super().embed(texts, **options)
        for at, text in enumerate(texts):
            if "bad" in text:
                if self.refuse:
                    raise ModelAnswerInvalid("no vector")
                vectors[at] = np.nan
        return vectors


@pytest.mark.parametrize("refuse", [True, False])
async def test_one_unusable_text_stops_neither_the_others_nor_the_next_run(database, refuse):
    embedder = Spoiling(refuse=refuse)
    number, seqs = await say(database, "good", "bad", "fine")

    run = await EmbedPass(database=database, embedder=embedder).run()

    assert (run.embedded, run.skipped, run.waiting) == (2, 1, 0)
    rows = await stored(database, number, embedder.name)
    assert sorted(rows.seqs.tolist()) == [seqs[0], seqs[2]]


class Meanwhile(FakeEmbedder):
    """Does something while it embeds for the first time."""

    def __init__(self, act):
        super().__init__()
        self.act = act

    async def embed(self, texts, **options):
        act, self.act = self.act, None
        if act:
            await act()
        return await super().embed(texts, **options)


async def test_an_edit_meanwhile_is_embedded_as_it_stands_now(database):
    number, [seq] = await say(database, "before")

    async def edit():
        async with database.unit() as unit:
            await unit.execute("UPDATE messages SET text = 'after' WHERE seq = ?", (seq,))

    embedder = Meanwhile(edit)
    await EmbedPass(database=database, embedder=embedder).run()

    [vector] = (await stored(database, number, embedder.name)).vectors
    [expected] = await embedder.embed(["Momo: after"])
    assert vector == pytest.approx(expected)


async def test_a_delete_meanwhile_leaves_no_ghost(database):
    number, [seq, _] = await say(database, "gone", "stays")

    async def delete():
        async with database.unit() as unit:
            await unit.execute("DELETE FROM messages WHERE seq = ?", (seq,))

    embedder = Meanwhile(delete)
    await EmbedPass(database=database, embedder=embedder).run()

    assert len((await stored(database, number, embedder.name)).seqs) == 1
    assert await waiting(database) == 0
    async with database.reading() as reader:
        assert await vectors_table.drift(reader) == []


async def test_an_edit_takes_the_vector_and_queues_the_message_again(database):
    embedder = FakeEmbedder()
    number, [seq] = await say(database, "before")
    await EmbedPass(database=database, embedder=embedder).run()

    async with database.unit() as unit:
        await unit.execute("UPDATE messages SET text = 'after' WHERE seq = ?", (seq,))

    assert (await stored(database, number, embedder.name)).newest == 0
    assert await waiting(database) == 1
