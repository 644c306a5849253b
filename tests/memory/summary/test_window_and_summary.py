"""Window and summary together: between them nothing of a conversation is ever missing."""

import asyncio
import json
import re
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.database.database import open_database
from memory.engine import open_engine
from memory.ports import ModelLimits, Models
from memory.settings import MemorySettings
from memory.summary.run import Ended
from memory.summary.value import Current, Summary, read_summary, to_json
from memory.values import NewMessage, Role, SessionId, Turn
from tests.fakes import FakeChatModel, FakeClock

SESSION = SessionId("cli-me")
MESSAGE_ID = re.compile(r"#(\d{4})")
WIDE = ModelLimits(context_tokens=200_000, prompt_tokens=100_000, reply_tokens=1_000)


class Talk:
    """A conversation whose summary model writes down which messages it read."""

    def __init__(self, engine, model, clock):
        self.engine, self.model, self.clock = engine, model, clock
        self.said = []
        self.covered = set()
        self.broken = False
        self.missing = []

    async def compose(self, text="now?"):
        now = self.clock.now_ns()
        entry = NewMessage(role=Role.USER, text=text, sent_at_ns=now)
        return await self.engine.compose(SESSION, entry)

    async def turn(self):
        """Compose, note what the model could not know, and keep the turn."""
        composed = await self.compose()
        shown = {m for part in composed.prompt.messages for m in MESSAGE_ID.findall(part.text)}
        self.missing += [m for m in self.said if m not in shown | self.covered]
        ids = [f"{len(self.said) + n:04}" for n in range(2)]
        said = [
            NewMessage(role=role, text=f"#{one}", sent_at_ns=self.clock.now_ns())
            for role, one in zip((Role.USER, Role.ASSISTANT), ids, strict=True)
        ]
        turn = Turn(session=SESSION, title="", epoch=composed.epoch, entry=said[0], reply=said[1])
        async with self.engine.unit() as unit:
            await self.engine.observe(unit, turn)
        self.said += ids
        return shown

    async def roll(self):
        reads = len(self.reads())
        run = await self.engine.summaries.refresh(SESSION)
        if run.ended is Ended.UP_TO_DATE:
            self.covered |= set(self.reads()[reads:])
        return run

    def reads(self):
        return [m for r in self.model.requests for m in MESSAGE_ID.findall(r.messages[1].text)]


async def open_talk(stack, path, *, limits=WIDE, decision=None, window=4):
    clock = FakeClock()
    talk = None

    def scribe(request):
        if talk.broken:
            return "I cannot."
        before = read_summary(request.messages[0].text)
        return to_json(replace(before, current_discussion=Current(topic="t")))

    model = FakeChatModel(scribe, limits=WIDE)
    database = await stack.enter_async_context(open_database(path / "kith.db"))
    chat = FakeChatModel(limits=limits)
    engine = await stack.enter_async_context(
        open_engine(
            database=database,
            models=Models(chat=chat, summary=model, extract=chat, decision=decision),
            directory=path,
            settings=MemorySettings(window_messages=window),
            clock=clock,
        )
    )
    talk = Talk(engine, model, clock)
    return talk


@pytest.fixture
async def stack():
    async with AsyncExitStack() as opened:
        yield opened


steps = st.lists(
    st.sampled_from(["turn", "turn", "turn", "tick", "fault", "request", "back"]), max_size=40
)


@settings(max_examples=60, deadline=None)
@given(steps=steps)
def test_nothing_is_ever_in_neither_window_nor_summary(tmp_path_factory, steps):
    async def play():
        async with AsyncExitStack() as stack:
            talk = await open_talk(stack, tmp_path_factory.mktemp("talk"))
            for step in steps:
                await do(talk, step)
            await talk.turn()
            return talk

    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        talk = runner.run(play())

    assert talk.missing == []
    assert sorted(talk.covered) == sorted(set(talk.covered))


async def do(talk, step):
    if step == "turn":
        await talk.turn()
    elif step == "back":  # the machine's clock is set back: no matter to a row number
        talk.clock.advance(-3_600)
    elif step == "request":
        if talk.engine.summaries._queued:
            await talk.engine.summaries.next_queued()
            await talk.roll()
    else:
        talk.broken = step == "fault"
        await talk.roll()
        talk.broken = False


async def test_a_pass_is_wanted_as_soon_as_an_unsummarised_message_leaves_the_window(
    stack, tmp_path
):
    talk = await open_talk(stack, tmp_path)
    wanted = []
    for _ in range(4):
        await talk.turn()
        wanted.append(bool(talk.engine.summaries._queued))

    assert wanted == [False, False, False, True]  # six messages, a window of four
    assert await talk.engine.summaries.next_queued() == SESSION


async def test_after_the_pass_the_window_is_its_usual_size_and_the_summary_stands_before_the_input(
    stack, tmp_path
):
    talk = await open_talk(stack, tmp_path)
    for _ in range(5):
        await talk.turn()
    stretched = await talk.turn()
    await talk.roll()

    composed = await talk.compose("my cat?")

    assert len(stretched) == 10
    texts = [message.text for message in composed.prompt.messages]
    assert sum("#" in text.splitlines()[-1] for text in texts) == 4
    assert "## Prior summary\n{" in texts[-2]
    assert texts[-1].endswith("my cat?")
    assert "Prior summary" in texts[0]  # the rules of use


async def test_a_small_budget_cuts_what_is_pending_and_wants_the_pass(stack, tmp_path):
    limits = ModelLimits(context_tokens=1_000, prompt_tokens=700, reply_tokens=200)
    talk = await open_talk(stack, tmp_path, limits=limits, window=16)
    for _ in range(12):
        composed = await talk.compose()
        await talk.turn()

    assert composed.prompt.tokens <= 700
    assert talk.engine.summaries._queued


async def test_the_prompt_leaves_out_what_the_decision_model_finds_irrelevant(stack, tmp_path):
    answer = json.dumps({"general": [], "relevant": []})
    talk = await open_talk(stack, tmp_path, decision=FakeChatModel(lambda _: answer))
    await talk.turn()
    await talk.roll()

    composed = await talk.compose()

    assert "## Prior summary" not in composed.prompt.messages[-2].text
    assert (await talk.engine.summaries.view(SESSION)).summary != Summary()


async def test_a_new_window_wants_what_it_leaves_behind_summarised(stack, tmp_path):
    talk = await open_talk(stack, tmp_path)
    await talk.turn()

    await talk.engine.begin_window(SESSION)

    assert await talk.engine.summaries.next_queued() == SESSION


async def test_two_refreshes_of_one_session_do_not_run_at_once_and_cost_one_call(stack, tmp_path):
    talk = await open_talk(stack, tmp_path)
    await talk.turn()
    talk.model.delay_s = 0.01

    async with asyncio.TaskGroup() as group:
        runs = [group.create_task(talk.engine.summaries.refresh(SESSION)) for _ in range(3)]

    assert [run.result().ended for run in runs] == [Ended.UP_TO_DATE] * 3
    assert len(talk.model.requests) == 1


async def test_the_view_tells_how_far_the_summary_reaches(stack, tmp_path):
    talk = await open_talk(stack, tmp_path)
    assert (await talk.engine.summaries.view(SESSION)).covered_until_ns is None
    await talk.turn()
    told = talk.clock.now_ns()
    talk.clock.advance(60)
    await talk.roll()

    view = await talk.engine.summaries.view(SESSION)

    assert (view.covered_until_ns, view.saved_at_ns) == (told, told + 60_000_000_000)
