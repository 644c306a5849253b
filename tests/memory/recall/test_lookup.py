from datetime import UTC

import pytest

from memory.archive import messages_table
from memory.archive.passages import Filter
from memory.database import sessions_table
from memory.database.database import open_database
from memory.errors import ModelUnreachable
from memory.recall.embed_pass import EmbedPass
from memory.recall.index import open_indexes
from memory.recall.lookup import Lookup
from memory.recall.nearest import Nearest
from memory.recall.query import Match, Query
from memory.recall.recall import Recall
from memory.settings import RecallSettings
from memory.values import NewMessage, PersonId, Role, SessionId, Speaker
from tests.fakes import NOON_NS, FakeEmbedder

HOME = SessionId("home")
MOMO = Speaker(person=PersonId("telegram:1"), name="Momo")


class Setup:
    def __init__(self, database, indexes):
        self.database = database
        self.embedder = FakeEmbedder()
        recall = Recall(
            database=database,
            nearest=Nearest(database, indexes),
            embedder=self.embedder,
            settings=RecallSettings(),
            zone=UTC,
        )
        self.lookup = Lookup(database=database, recall=recall)

    async def say(self, *texts, session=HOME):
        async with self.database.unit() as unit:
            number, _ = await sessions_table.touch(unit, session, title="", now_ns=NOON_NS)
            messages = [
                NewMessage(role=Role.USER, text=text, sent_at_ns=NOON_NS + at, speaker=MOMO)
                for at, text in enumerate(texts)
            ]
            seqs = await messages_table.append(unit, number, messages)
        await EmbedPass(database=self.database, embedder=self.embedder).run()
        return seqs

    async def search(self, text, **more):
        return await self.lookup.search(
            Query(**{"session": HOME, "text": text, "now_ns": NOON_NS, **more})
        )

    async def hits(self, text, **more):
        found = await self.search(text, match=Match.KEYWORD, **more)
        ordered = [message for run in found.excerpts for message in run]
        return [message.text for message in ordered if message.seq in found.hits]


@pytest.fixture
async def setup(tmp_path):
    async with (
        open_database(tmp_path / "kith.db") as database,
        open_indexes(limit_bytes=1 << 20) as indexes,
    ):
        yield Setup(database, indexes)


async def test_a_hit_is_read_with_two_before_and_one_after(setup):
    await setup.say("a", "b", "c", "綠茶", "d", "e")

    [run] = (await setup.search("綠茶", match=Match.KEYWORD)).excerpts

    assert [message.text for message in run] == ["b", "c", "綠茶", "d"]


async def test_overlapping_surroundings_are_merged_and_others_are_apart(setup):
    await setup.say("tea", "x", "tea again", *("noise" for _ in range(9)), "last tea")

    found = await setup.search("tea", match=Match.KEYWORD)

    assert [len(run) for run in found.excerpts] == [4, 3]
    assert len(found.hits) == 3


async def test_all_words_must_match_and_a_quoted_query_is_a_phrase(setup):
    await setup.say("green tea in taipei", "tea", "taipei 綠茶 店")

    assert await setup.hits("taipei tea") == ["green tea in taipei"]
    assert await setup.hits('"tea in"') == ["green tea in taipei"]
    assert await setup.hits('"in tea"') == []
    assert await setup.hits("「綠茶」") == ["taipei 綠茶 店"]


@pytest.mark.parametrize(
    "asked", ['"tea" or "in"', '"tea" "taipei"', "“tea” “in”", "「tea」 「in」", '"tea']
)
async def test_several_quotations_are_no_phrase(setup, asked):
    await setup.say("in taipei or elsewhere, tea", "taipei tea or in")

    assert len(await setup.hits(asked)) == 2


async def test_hot_messages_are_also_found_by_a_part_of_a_word(setup):
    await setup.say("supercalifragilistic", "100% sure")

    assert await setup.hits("FRAGIL") == ["supercalifragilistic"]
    assert await setup.hits("0%") == ["100% sure"]


async def test_the_newest_hits_are_kept_when_there_are_too_many(setup):
    await setup.say(*(f"tea {n}" for n in range(50)))

    assert await setup.hits("tea", limit=3) == ["tea 47", "tea 48", "tea 49"]
    assert len(await setup.hits("tea", limit=10_000)) == 32


LONG = "and then we spoke of the garden, the neighbours, the trains and the rain " * 3


@pytest.mark.parametrize(
    ("word", "about"), [("locker", "locker code: zebra, locker 12"), ("烏龜", "弟弟的烏龜叫小烏龜")]
)
async def test_an_old_message_about_the_words_goes_before_newer_ones_that_just_hold_them(
    setup, word, about
):
    await setup.say("x", about, *(f"{LONG} {word} {LONG} {n}" for n in range(40)))

    assert about in await setup.hits(word, limit=2)


@pytest.mark.parametrize(("word", "part"), [("tea", "te"), ("綠茶", "綠茶")])
async def test_between_messages_alike_the_newer_goes_first(setup, word, part):
    await setup.say(*(f"{word} {n}" for n in range(9)))

    assert await setup.hits(part, limit=2) == [f"{word} 7", f"{word} 8"]


async def test_a_whole_word_goes_before_a_newer_part_of_one(setup):
    await setup.say("tea", "noise", "steam")

    assert await setup.hits("tea", limit=1) == ["tea"]


async def test_the_window_and_the_filter_are_left_out(setup):
    seqs = await setup.say("tea one", "tea two", "tea three")

    assert await setup.hits("tea", before=seqs[2]) == ["tea one", "tea two"]
    earlier = Filter(until_ns=NOON_NS)
    assert await setup.hits("tea", allowed=earlier) == []


async def test_meaning_is_asked_with_the_same_recall_as_prompts(setup):
    await setup.say("我每天早上喝綠茶", *(f"noise {n}" for n in range(20)))

    found = await setup.search("早上喝綠茶嗎", limit=1)

    assert found.excerpts[0][0].text == "我每天早上喝綠茶"
    assert not found.keyword_only


async def test_without_a_model_the_reader_is_told(setup):
    await setup.say("綠茶")
    setup.embedder.error = ModelUnreachable("away")

    found = await setup.search("綠茶")

    assert found.keyword_only
    assert len(found.hits) == 1


@pytest.mark.parametrize("text", ["", "  ", '"', '""', "「」", "?!"])
async def test_a_query_without_words_finds_nothing_and_raises_nothing(setup, text):
    await setup.say("綠茶")

    assert await setup.hits(text) == []
    assert (await setup.search(text, session=SessionId("nowhere"))).excerpts == ()


async def test_a_reader_finds_archived_messages_by_their_meaning_too(setup):
    old, *_, new = await setup.say("the weather was fine", "x", "y", "z", "the weather is bad")
    async with setup.database.unit() as unit:
        await sessions_table.move_start(unit, await sessions_table.find(unit, HOME), new)
    setup.embedder.calls.clear()

    found = await setup.search("wetherr wass fiine")

    assert old in found.hits
    assert not found.keyword_only
