"""A long talk, rolled many times, with and without faults: who read what, exactly."""

import json
import re
from dataclasses import replace

import pytest

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.errors import ModelTimedOut
from memory.ports import ModelLimits, Models
from memory.summary import summaries_table
from memory.summary.run import Ended
from memory.summary.service import SummaryService
from memory.summary.value import Current, read_summary, to_json
from memory.values import NewMessage, Role, SessionId
from tests.fakes import NOON_NS, FakeChatModel, FakeClock

SESSION = SessionId("discord-77")
TURNS, ROLL_EVERY = 60, 6
FACT_TURNS = {3: "貓叫麻糬", 9: "born in May", 16: "對花生過敏", 22: "lives in Kyoto"}
FACT_TURNS |= {31: "素食", 38: "plays the cello", 47: "妹妹住高雄", 55: "hates karaoke"}
NOISE_TURNS = {5, 20, 41, 59}
MESSAGE_ID = re.compile(r"#(\d{3})")
SMALL = ModelLimits(context_tokens=2_200, prompt_tokens=850, reply_tokens=512)


def turn(n):
    """A user message with its reply; 8 plant a fact, 4 are noise, 48 fill."""
    if fact := FACT_TURNS.get(n):
        said = f"remember FACT[{fact}]"
    else:
        said = "thanks!" if n in NOISE_TURNS else f"filler {n} 閒聊 " + "話" * 110
    return [
        NewMessage(role=role, text=f"#{2 * n + k:03} {text}", sent_at_ns=NOON_NS + n)
        for k, (role, text) in enumerate([(Role.USER, said), (Role.ASSISTANT, "好")])
    ]


def scribe(request):
    """Notes that take over every fact read."""
    system, user = (message.text for message in request.messages)
    before = read_summary(system)
    facts = tuple(f"Do: {fact}" for fact in re.findall(r"FACT\[(.+?)\]", user))
    last = Current(topic=MESSAGE_ID.findall(user)[-1])
    return to_json(
        replace(before, key_decisions=before.key_decisions + facts, current_discussion=last)
    )


def decision(request):
    """Noise are the groups that only thank."""
    if "noise" not in request.schema["required"]:
        return json.dumps({"superseded": []})
    groups = re.findall(r"\[(\d+)\] (.*\n.*)", request.messages[1].text)
    noise = [{"id": int(n), "confidence": 0.9} for n, text in groups if "thanks" in text]
    return json.dumps({"noise": noise})


class Table:
    """The pass with its models, and what was read by calls whose result was saved."""

    def __init__(self, database, *, limits=None, fault_at=None, fault=None):
        self.database = database
        self.fault_at, self.fault = fault_at, fault
        self.model = FakeChatModel(self.answer, limits=limits)
        self.decision = FakeChatModel(decision)
        self.sound_reads = []
        models = Models(
            chat=self.model, summary=self.model, extract=self.model, decision=self.decision
        )
        self.work = SummaryService(database=database, models=models, clock=FakeClock())

    def answer(self, request):
        if len(self.model.requests) == self.fault_at:
            return self.fault
        self.sound_reads += MESSAGE_ID.findall(request.messages[1].text)
        return scribe(request)

    async def say(self, n):
        async with self.database.unit() as unit:
            number, _ = await sessions_table.touch(unit, SESSION, title="", now_ns=NOON_NS)
            await messages_table.append(unit, number, turn(n))

    async def talk(self):
        runs = []
        for n in range(TURNS):
            await self.say(n)
            if n % ROLL_EVERY == ROLL_EVERY - 1:
                runs.append(await self.work.refresh(SESSION))
        return runs

    async def stored(self):
        async with self.database.reading() as reader:
            return await summaries_table.current(reader, SESSION), await summaries_table.due(reader)


WORTH_READING = [f"{2 * n + k:03}" for n in range(TURNS) if n not in NOISE_TURNS for k in range(2)]


@pytest.fixture
async def database(tmp_path):
    async with open_database(tmp_path / "kith.db") as opened:
        yield opened


async def test_eight_planted_facts_survive_ten_rolls_with_the_exact_number_of_calls(database):
    table = Table(database)

    runs = await table.talk()

    assert [run.ended for run in runs] == [Ended.UP_TO_DATE] * 10
    assert len(table.model.requests) == sum(run.calls for run in runs) == 10
    # One noise call a roll; a supersede call a roll from the second on: the first has no entries.
    assert len(table.decision.requests) == sum(run.judgements for run in runs) == 19
    assert table.sound_reads == WORTH_READING
    assert sum(run.noise for run in runs) == 2 * len(NOISE_TURNS)
    stored, due = await table.stored()
    assert stored.summary.key_decisions == tuple(f"Do: {fact}" for fact in FACT_TURNS.values())
    assert due == []


CHUNKS = 20
FAULTS = [ModelTimedOut("silent"), "", '{"key_decisions": ["Do: x"', "I cannot."]


async def test_without_a_fault_the_small_model_takes_that_many_chunks(database):
    table = Table(database, limits=SMALL)

    await table.talk()

    assert len(table.model.requests) == CHUNKS
    assert table.sound_reads == WORTH_READING


@pytest.mark.parametrize("fault_at", range(1, CHUNKS + 1))
async def test_with_a_fault_at_any_chunk_no_message_is_skipped_or_read_twice(database, fault_at):
    table = Table(database, limits=SMALL, fault_at=fault_at, fault=FAULTS[fault_at % len(FAULTS)])

    runs = await table.talk()
    last = await table.work.refresh(SESSION)

    assert sum(run.ended is Ended.FAILED for run in [*runs, last]) == 1
    assert table.sound_reads == WORTH_READING
    assert len(table.model.requests) == sum(run.calls for run in [*runs, last])
    stored, due = await table.stored()
    assert stored.summary.key_decisions == tuple(f"Do: {fact}" for fact in FACT_TURNS.values())
    assert due == []


async def test_a_tick_after_a_failed_chunk_pays_for_no_chunk_behind_it(database):
    table = Table(database, limits=SMALL, fault_at=2, fault="")
    for n in range(12):
        await table.say(n)

    run = await table.work.refresh(SESSION)

    assert (run.chunks, run.calls, len(table.model.requests)) == (1, 2, 2)
