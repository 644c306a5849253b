from datetime import UTC

import pytest

from memory.archive import messages_table
from memory.archive.passages import Filter
from memory.database import sessions_table
from memory.database.database import open_database
from memory.errors import ModelUnreachable
from memory.recall.embed_pass import EmbedPass
from memory.recall.index import open_indexes
from memory.recall.nearest import Nearest
from memory.recall.query import Query
from memory.recall.recall import Recall
from memory.recall.slot import pack
from memory.settings import RecallSettings, RecallWeights
from memory.values import NewMessage, PersonId, Role, SessionId, Speaker
from tests.fakes import NOON_NS, FakeEmbedder

HOME = SessionId("home")
DAY_NS = 86_400 * 10**9
MOMO = Speaker(person=PersonId("telegram:1"), name="Momo")
NINA = Speaker(person=PersonId("telegram:2"), name="Nina")


class Setup:
    def __init__(self, database, indexes):
        self.database = database
        self.embedder = FakeEmbedder()
        self.nearest = Nearest(database, indexes)
        self.recall = self.made(RecallSettings())

    def made(self, settings):
        return Recall(
            database=self.database,
            nearest=self.nearest,
            embedder=self.embedder,
            settings=settings,
            zone=UTC,
        )

    async def say(self, *texts, speaker=MOMO, session=HOME, at_ns=NOON_NS):
        async with self.database.unit() as unit:
            number, _ = await sessions_table.touch(unit, session, title="", now_ns=NOON_NS)
            role = Role.USER if speaker else Role.ASSISTANT
            seqs = await messages_table.append(
                unit,
                number,
                [
                    NewMessage(role=role, text=text, sent_at_ns=at_ns, speaker=speaker)
                    for text in texts
                ],
            )
        await EmbedPass(database=self.database, embedder=self.embedder).run()
        return seqs

    async def texts(self, question, **more):
        ranked = await self.recall.rank(
            Query(**{"session": HOME, "text": question, "now_ns": NOON_NS, "whole": False, **more})
        )
        return [message.text for message in ranked.messages]


@pytest.fixture
async def setup(tmp_path):
    async with (
        open_database(tmp_path / "kith.db") as database,
        open_indexes(limit_bytes=1 << 20) as indexes,
    ):
        yield Setup(database, indexes)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("你喜歡喝綠茶嗎", "我每天早上喝綠茶"),
        ("what do you know about 東京", "来週は東京に行きます"),
        ("who is 90", "grandma turned 90"),
        ("do you like c++?", "I write c++ all day"),
    ],
)
async def test_the_message_that_answers_comes_first(setup, question, first):
    for at, text in enumerate(
        ("我每天早上喝綠茶", "来週は東京に行きます", "grandma turned 90", "I write c++ all day")
    ):
        await setup.say(text, at_ns=NOON_NS + at * DAY_NS)

    assert (await setup.texts(question))[0] == first


async def test_an_unknown_session_recalls_nothing(setup):
    assert await setup.texts("tea", session=SessionId("nowhere")) == []


async def test_nothing_of_another_session_is_recalled(setup):
    await setup.say("the password is tea", session=SessionId("private"))
    await setup.say("I drink coffee")

    assert "the password is tea" not in await setup.texts("what is the password? tea")


async def test_what_the_window_shows_is_left_out(setup):
    old, *_ = await setup.say("tea is old", "tea is new")

    assert await setup.texts("tea", before=old + 1) == ["tea is old"]


async def test_filters_apply_before_the_best_are_chosen(setup):
    await setup.say(*(f"綠茶 tea {n}" for n in range(300)))
    await setup.say("綠茶 of yesterday", at_ns=NOON_NS - DAY_NS)

    earlier = Filter(until_ns=NOON_NS)
    assert await setup.texts("綠茶", allowed=earlier) == ["綠茶 of yesterday"]


async def test_the_named_speaker_comes_first(setup):
    await setup.say("my favourite drink is tea", speaker=NINA)
    await setup.say("my favourite drink is tea too", at_ns=NOON_NS + DAY_NS)
    await setup.say("貓在睡覺", "it rains", "去爬山", "ok", at_ns=NOON_NS + 3 * DAY_NS)

    assert (await setup.texts("What is Nina's favourite drink?"))[0] == "my favourite drink is tea"
    assert (await setup.texts("What is Momo's favourite drink?"))[0].endswith("too")


async def test_a_named_day_is_found_without_a_word_in_common(setup):
    await setup.say("一起去爬山", at_ns=NOON_NS - 5 * DAY_NS)
    await setup.say(*(f"noise {n}" for n in range(150)))

    assert (await setup.texts("11月9號我們做了什麼？"))[0] == "一起去爬山"


async def test_the_same_said_often_takes_one_place(setup):
    for day in range(20):
        await setup.say("今天又去公園跑步了", at_ns=NOON_NS + day * DAY_NS)
    await setup.say("公園裡有一隻貓", at_ns=NOON_NS + 30 * DAY_NS)

    assert sorted(await setup.texts("公園")) == sorted(["今天又去公園跑步了", "公園裡有一隻貓"])


async def test_without_a_model_words_still_find(setup):
    await setup.say("我每天早上喝綠茶")
    setup.embedder.error = ModelUnreachable("away")

    ranked = await setup.recall.rank(Query(session=HOME, text="綠茶", now_ns=NOON_NS, whole=False))

    assert ranked.keyword_only
    assert "我每天早上喝綠茶" in pack(ranked, budget_tokens=200, zone=UTC).render()


async def test_what_has_nothing_to_do_with_it_is_not_recalled(setup):
    await setup.say("我每天早上喝綠茶", "the cat sleeps on the sofa")
    setup.recall = setup.made(RecallSettings(floor_cosine=0.3))

    assert await setup.texts("zzz") == []


async def test_what_is_printed_fits_the_budget_and_is_in_order_of_time(setup):
    await setup.say(*(f"tea of kind {n} is the best tea" for n in range(50)))

    query = Query(session=HOME, text="which tea is best", now_ns=NOON_NS, whole=False)
    printed = pack(await setup.recall.rank(query), budget_tokens=120, zone=UTC)

    seqs = [snippet.message.seq for snippet in printed.snippets]
    assert seqs == sorted(seqs)
    assert len(seqs) > 3
    assert len(printed.body()) < 120 * 4


async def test_a_deleted_message_is_never_recalled(setup):
    [seq] = await setup.say("secret tea")
    assert await setup.texts("secret tea") == ["secret tea"]

    async with setup.database.unit() as unit:
        await unit.execute("DELETE FROM messages WHERE seq = ?", (seq,))

    assert await setup.texts("secret tea") == []


@pytest.mark.parametrize(
    ("question", "best", "akin", "other"),
    [
        (
            "grandma's birthday cake",
            "grandma baked a birthday cake with pumpkin",
            "a birthday with pumpkin",
            "a birthday without sun",
        ),
        ("奶奶的生日蛋糕", "奶奶的生日蛋糕是南瓜口味", "生日吃南瓜口味", "生日下了大雨"),
    ],
)
async def test_the_best_message_leads_to_others_like_it(setup, question, best, akin, other):
    await setup.say(*(f"{word} z" for word in "qxjkvw"))
    await setup.say(other, at_ns=NOON_NS + 3 * 10**14)
    await setup.say(akin, at_ns=NOON_NS + 10**14)
    await setup.say(best, at_ns=NOON_NS + 2 * 10**14)
    gaps = []

    for share in (0.0, 1.0):
        setup.recall = setup.made(RecallSettings(weights=RecallWeights(hop_share=share)))
        query = Query(session=HOME, text=question, now_ns=NOON_NS, whole=False)
        ranked = await setup.recall.rank(query)
        scores = {
            message.text: score
            for message, score in zip(ranked.messages, ranked.scores, strict=True)
        }
        assert max(scores, key=scores.__getitem__) == best
        gaps.append(scores[akin] - scores[other])

    assert gaps[1] > gaps[0]


async def test_a_second_search_finds_nothing_that_the_question_alone_would_not(setup):
    await setup.say("the pumpkin soup of grandma", "pumpkin soup", *(f"{c} z" for c in "qxjkv"))
    setup.recall = setup.made(
        RecallSettings(floor_cosine=0.15, weights=RecallWeights(hop_share=1.0, context_steps=0))
    )

    assert await setup.texts("grandma") == ["the pumpkin soup of grandma"]
