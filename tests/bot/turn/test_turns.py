import asyncio
from functools import partial

import pytest
from structlog.testing import capture_logs

from bot.delivery.router import open_router
from bot.texts.language import language_of
from bot.turn.interface import TurnContext
from bot.turn.turns import TurnEngine
from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.engine import open_engine
from memory.errors import ModelMissing, ModelTimedOut, ModelUnreachable, StoreError
from memory.ports import ChatRole, Completion, ModelLimits, Models
from memory.settings import MemorySettings
from memory.summary import summaries_table
from memory.summary.value import Summary
from memory.values import NO_SEQ, NewMessage, PersonId, Role, SessionId, Speaker
from tests.fakes import Breaks, FakeChatModel, FakeClock

MEI = Speaker(person=PersonId("telegram:1"), name="小美")
HERE = SessionId("tg-1")


class Stack:
    """The turn engine over a real database, with a scripted model."""

    def __init__(self, database, engine, turns, chat, clock):
        self.database, self.engine, self.turns = database, engine, turns
        self.chat, self.clock = chat, clock

    def entry(self, text):
        return NewMessage(role=Role.USER, text=text, sent_at_ns=self.clock.now_ns(), speaker=MEI)

    async def say(self, text, session=HERE, **more):
        context = TurnContext(session=session, title="t", speaker=MEI, language=language_of(text))
        return await self.turns.answer(context, self.entry(text), **more)

    async def kept(self, session=HERE):
        async with self.database.reading() as reader:
            found = await messages_table.latest(reader, session, from_seq=NO_SEQ, limit=1000)
        return [(message.role.value, message.text) for message in found]


@pytest.fixture
async def stack(tmp_path):
    chat, clock = FakeChatModel(), FakeClock()
    async with (
        open_database(tmp_path / "kith.db") as database,
        open_engine(
            database=database,
            models=Models(chat=chat, summary=chat, extract=chat),
            directory=tmp_path,
            settings=MemorySettings(),
            clock=clock,
        ) as engine,
    ):
        turns = TurnEngine(engine=engine, chat=chat, clock=clock)
        yield Stack(database, engine, turns, chat, clock)


class Watched:
    def __init__(self):
        self.text = ""

    async def show(self, text):
        self.text += text


async def test_a_turn_keeps_both_messages_and_the_next_one_sees_them(stack):
    stack.chat.add("你好，小美！", "麻糬。")

    await stack.say("我的貓叫麻糬。")
    reply = await stack.say("我的貓叫什麼？")

    assert reply.text == "麻糬。"
    assert reply.kept
    assert await stack.kept() == [
        ("user", "我的貓叫麻糬。"),
        ("assistant", "你好，小美！"),
        ("user", "我的貓叫什麼？"),
        ("assistant", "麻糬。"),
    ]
    window = [message.text for message in stack.chat.requests[1].messages]
    assert any("我的貓叫麻糬。" in text for text in window)


async def test_the_window_holds_the_last_sixteen_records_and_what_no_summary_covers_yet(stack):
    stack.chat.add(*[f"reply {n}." for n in range(13)])
    for number in range(12):
        await stack.say(f"message {number}.")
    unsummarised = shown(stack.chat.requests[-1])

    async with stack.database.unit() as unit:
        last = (await messages_table.latest(unit, HERE, from_seq=NO_SEQ, limit=1))[0]
        cursor = summaries_table.Cursor(seq=last.seq)
        standing = await summaries_table.state(unit, HERE)
        await summaries_table.save(
            unit, HERE, summary=Summary(), cursor=cursor, expected=standing, now_ns=1
        )
    await stack.say("message 12.")
    summarised = shown(stack.chat.requests[-1])

    assert len(unsummarised) == 22
    assert summarised[0] == "message 4."
    assert summarised[-1] == "reply 11."
    assert len(summarised) == 16


def shown(request):
    """The texts of the window that a prompt holds."""
    return [message.text.split("\n")[1] for message in request.messages[1:-2]]


async def test_a_reply_is_shown_as_it_comes_and_clean(stack):
    stack.chat.add("<think>hm</think>[2026-11-30 18:15 you]\nHello 小美!")
    draft = Watched()

    reply = await stack.say("hi", draft=draft)

    assert reply.text == draft.text == "Hello 小美!"


async def test_a_slip_into_simplified_is_put_right_for_who_writes_traditional(stack):
    stack.chat.add("你对花生过敏。", "你对花生过敏。", "你对花生过敏。")
    drafts = [Watched(), Watched(), Watched()]

    replies = [
        await stack.say("我對什麼過敏？", draft=drafts[0]),
        await stack.say("我对什么过敏？", draft=drafts[1]),
        await stack.say("Say it in Simplified Chinese.", draft=drafts[2]),
    ]

    shown = ["你對花生過敏。", "你对花生过敏。", "你对花生过敏。"]
    assert [reply.text for reply in replies] == [draft.text for draft in drafts] == shown


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (ModelUnreachable("x"), "連不上"),
        (ModelMissing("x"), "kith doctor"),
        (ModelTimedOut("x"), "太久"),
        (Breaks(text="half a", error=ModelUnreachable("x")), "連不上"),
        (ValueError("a bug"), "出了點問題"),
        (StoreError("the disk is full"), "the disk is full"),
        (Completion(text="", thinking="only thoughts"), "說不出話"),
        ("<think>never ends", "說不出話"),
    ],
)
async def test_a_failure_is_said_in_the_chat_and_never_kept(stack, failure, said):
    stack.chat.add(failure)

    reply = await stack.say("在嗎？")

    assert said in reply.text
    assert not reply.kept
    assert await stack.kept() == []


async def test_a_message_that_is_too_long_is_told_its_size_without_a_model_call(stack):
    reply = await stack.say("記憶" * 50_000)

    assert "太長" in reply.text
    assert stack.chat.requests == []


async def test_a_stopped_turn_is_over_at_once_and_not_kept(stack):
    stack.chat.delay_s = 1000
    stack.chat.add("never seen")
    async with asyncio.TaskGroup() as tasks:
        turn = tasks.create_task(stack.say("hi"))
        while not stack.chat.running:
            await asyncio.sleep(0.001)
        assert stack.turns.stop(HERE)

    assert turn.result().text == "Stopped."
    assert stack.chat.closed_early == 1
    assert await stack.kept() == []
    assert not stack.turns.stop(HERE)


async def test_a_reset_during_the_model_call_wins(stack):
    async def resets(_request):
        async with stack.database.unit() as unit:
            await sessions_table.bump_epoch(unit, HERE, now_ns=stack.clock.now_ns())
        return "too late"

    stack.chat._script = resets
    reply = await stack.say("hello")

    assert "reset" in reply.text
    assert await stack.kept() == []


async def test_what_else_belongs_to_the_turn_is_settled_with_it_or_not_at_all(stack):
    stack.chat.add("one", "two")

    async def breaks(_unit, reply):
        if reply.kept:
            raise StoreError("no room")

    reply = await stack.say("hi", settle=breaks)

    assert not reply.kept
    assert await stack.kept() == []


async def test_the_budget_learns_from_what_the_model_counts(stack):
    stack.chat._script = lambda request: Completion(text="ok", prompt_tokens=900)
    estimated = stack.engine.count_tokens("word " * 200)
    await stack.say("word " * 200)
    assert stack.engine.count_tokens("word " * 200) > estimated
    first = (await stack.engine.compose(HERE, stack.entry("word " * 200))).prompt.tokens
    for _ in range(5):
        await stack.say("x")
    second = (await stack.engine.compose(HERE, stack.entry("word " * 200))).prompt.tokens

    assert second > first


async def test_the_system_part_is_the_same_bytes_in_every_turn(stack):
    stack.chat.add("a", "b")
    await stack.say("one")
    stack.clock.advance(seconds=86_400)
    await stack.say("two")

    first, second = (request.messages[0] for request in stack.chat.requests)
    assert first.role is ChatRole.SYSTEM
    assert first == second


async def test_a_small_model_gets_a_small_prompt(stack):
    stack.chat._limits = ModelLimits(context_tokens=4096, prompt_tokens=400, reply_tokens=200)
    stack.chat._script = lambda _request: "a reply of a few words, " * 5

    for _ in range(10):
        await stack.say("a message of a few words, " * 4)

    sizes = [sum(len(m.text) for m in request.messages) for request in stack.chat.requests]
    assert max(sizes) < 400 / 0.28 * 1.2


async def test_no_word_of_the_talk_is_logged(stack):
    stack.chat.add("zanzibar answers", ValueError("zanzibar breaks"))

    with capture_logs() as logs:
        await stack.say("zanzibar asks")
        await stack.say("zanzibar again")

    events = [{k: v for k, v in entry.items() if k != "exc_info"} for entry in logs]
    assert "zanzibar" not in str(events)


async def test_ten_sessions_at_once_keep_their_order_and_none_waits(stack):
    all_ten_are_here = asyncio.Barrier(10)

    async def meets_the_others(_request):
        async with asyncio.timeout(10):
            await all_ten_are_here.wait()
        return "done"

    stack.chat._script = meets_the_others
    async with open_router() as router:
        for number in range(3):
            for name in range(10):
                session = SessionId(f"s{name}")
                text = f"{name}-{number}"
                router.deliver(session, partial(stack.say, text, session))
        await router.drain()

    for name in range(10):
        users = [text for role, text in await stack.kept(SessionId(f"s{name}")) if role == "user"]
        assert users == [f"{name}-{number}" for number in range(3)]
