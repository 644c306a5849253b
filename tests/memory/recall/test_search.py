import pytest

from memory.database.database import open_database
from memory.engine import open_engine
from memory.errors import ModelUnreachable
from memory.ports import ModelLimits, Models
from memory.recall.query import Query
from memory.settings import MemorySettings
from memory.values import Mode, NewMessage, PersonId, Role, SessionId, Speaker, Turn
from tests.fakes import FakeChatModel, FakeClock, FakeEmbedder

HERE, ELSEWHERE = SessionId("tg-1"), SessionId("tg-2")
MEI = Speaker(person=PersonId("telegram:1"), name="小美")


class Talk:
    def __init__(self, engine, chat, embedder, clock):
        self.engine, self.chat, self.embedder, self.clock = engine, chat, embedder, clock

    def entry(self, text):
        return NewMessage(role=Role.USER, text=text, sent_at_ns=self.clock.now_ns(), speaker=MEI)

    async def keep(self, text, reply="嗯。", session=HERE, mode=Mode.FULL):
        self.clock.advance(60)
        answer = NewMessage(role=Role.ASSISTANT, text=reply, sent_at_ns=self.clock.now_ns())
        turn = Turn(
            session=session, title="", epoch=0, entry=self.entry(text), reply=answer, mode=mode
        )
        async with self.engine.unit() as unit:
            mark = await self.engine.observe(unit, turn)
        self.engine.settled(turn, mark)

    async def notes(self, text, session=HERE, mode=Mode.FULL):
        composed = await self.engine.compose(session, self.entry(text), mode=mode)
        return composed.prompt.messages[-2].text


@pytest.fixture
async def talk(tmp_path):
    chat, embedder, clock = FakeChatModel(), FakeEmbedder(), FakeClock()
    small = ModelLimits(context_tokens=4096, prompt_tokens=600, reply_tokens=200)
    chat._limits = small
    async with (
        open_database(tmp_path / "kith.db") as database,
        open_engine(
            database=database,
            models=Models(chat=chat, summary=chat, extract=chat, embed=embedder),
            directory=tmp_path,
            settings=MemorySettings(),
            clock=clock,
        ) as engine,
    ):
        yield Talk(engine, chat, embedder, clock)


async def long_ago(talk, *said, fillers=30):
    for text in said:
        await talk.keep(text)
    for number in range(fillers):
        await talk.keep(f"weather report number {number}, nothing else to tell", "I see.")
    await talk.engine.search.catch_up()


async def test_what_left_the_window_long_ago_is_found_again_without_being_asked(talk):
    await long_ago(talk, "My cat is called Momo.", "我最喜歡喝綠茶。")

    assert "Momo" in await talk.notes("What is my cat called?")
    assert "我最喜歡喝綠茶。" in await talk.notes("綠茶好喝嗎？")


async def test_what_was_recalled_is_told_by_its_row(talk):
    await long_ago(talk, "My cat is called Momo.")

    composed = await talk.engine.compose(HERE, talk.entry("What is my cat called?"))

    assert 1 in composed.shown.snippets


async def test_other_conversations_are_never_recalled(talk):
    await long_ago(talk, "My cat is called Momo.")
    await talk.keep("hello", session=ELSEWHERE)

    assert "Momo" not in await talk.notes("What is my cat called?", session=ELSEWHERE)


async def test_what_the_window_shows_is_not_recalled_too(talk):
    await talk.keep("My cat is called Momo.")
    await talk.engine.search.catch_up()

    assert "Momo" not in await talk.notes("What is my cat called?")


async def test_a_new_window_still_recalls_what_was_said_before(talk):
    await talk.keep("My cat is called Momo.")
    await talk.engine.search.catch_up()
    await talk.engine.begin_window(HERE)

    assert "Momo" in await talk.notes("What is my cat called?")


@pytest.mark.parametrize("mode", [Mode.WINDOW, Mode.POOLS])
async def test_only_the_full_mode_recalls_by_itself(talk, mode):
    await long_ago(talk, "My cat is called Momo.")

    assert "Momo" not in await talk.notes("What is my cat called?", mode=mode)


async def test_recalled_messages_keep_to_their_share_of_the_prompt(talk):
    await long_ago(talk, *[f"green tea fact {n}: " + "leaves and water " * 12 for n in range(20)])

    composed = await talk.engine.compose(HERE, talk.entry("green tea leaves?"))

    assert composed.prompt.tokens <= 600
    assert "leaves and water" in composed.prompt.messages[-2].text


async def test_a_model_that_is_down_loses_nothing_and_search_says_so(talk):
    talk.embedder.error = ModelUnreachable("down")
    await long_ago(talk, "我最喜歡喝綠茶。")

    down = await talk.engine.search.backlog()
    by_words = await talk.notes("綠茶")
    talk.embedder.error = None
    up = await talk.engine.search.catch_up()

    assert down.keyword_only == "ModelUnreachable"
    assert down.waiting == 62
    assert "我最喜歡喝綠茶。" in by_words
    assert up.waiting == 0
    assert up.keyword_only is None


async def test_a_reader_finds_a_hit_with_what_stood_around_it(talk):
    await long_ago(talk, "one", "two", "東京に行きました。", "three", fillers=20)

    found = await talk.engine.search.lookup.search(
        Query(session=HERE, text="東京", now_ns=talk.clock.now_ns(), limit=1)
    )

    [run] = found.excerpts
    assert [message.text for message in run] == ["two", "嗯。", "東京に行きました。", "嗯。"]
