import asyncio
import json
from contextlib import AsyncExitStack

import pytest

from adapters.calls import CallScheduler
from bot.jobs.jobs import (
    COMPACT,
    PARALLEL,
    SUMMARISE,
    SWEEP,
    all_jobs,
    follow_queue,
    summarise_due,
    tool_upkeep,
)
from bot.jobs.scheduler import unwatched
from memory.database.database import open_database
from memory.engine import open_engine
from memory.errors import ModelUnreachable, StoreError
from memory.ports import ChatRequest, Models, Priority
from memory.settings import MemorySettings
from memory.summary.run import Ended, SummaryRun
from memory.summary.value import Current, Summary, to_json
from memory.tool_errors.error_memory import ErrorMemory
from memory.tool_errors.record import ActionOutcome, NewErrorRecord
from memory.tool_errors.run_log import RunLog
from memory.values import NewMessage, Role, SessionId, Turn
from tests.fakes import FakeChatModel, FakeClock, FakeEmbedder

SESSIONS = 200
NOTES = to_json(Summary(current_discussion=Current(topic="x")))


class Gated:
    """A chat model behind a scheduler, as the real adapters are."""

    def __init__(self, model, calls):
        self.model, self.calls = model, calls
        self.name = model.name
        self.finished = []
        self.running = self.most_running = 0

    async def _call(self, request):
        self.running += 1
        self.most_running = max(self.running, self.most_running)
        try:
            return await self.model.complete(request)
        finally:
            self.running -= 1

    async def limits(self):
        return await self.model.limits()

    async def complete(self, request):
        if request.priority is Priority.BACKGROUND:
            answer = await self.calls.background(lambda: self._call(request))
        else:
            async with self.calls.interactive():
                answer = await self._call(request)
        self.finished.append(request.priority)
        return answer


class FakeSummaries:
    """Rolling summaries that answer from a script."""

    def __init__(self, runs):
        self.runs = {SessionId(name): run for name, run in runs.items()}
        self.refreshed = []
        self.running = self.most_running = 0
        self.wanted = asyncio.Queue()

    async def due(self):
        return list(self.runs)

    async def refresh(self, session):
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        self.refreshed.append(session)
        await asyncio.sleep(1)
        self.running -= 1
        run = self.runs[session]
        if isinstance(run, BaseException):
            raise run
        return run

    async def next_queued(self):
        return await self.wanted.get()


@pytest.fixture
async def stack():
    async with AsyncExitStack() as opened:
        yield opened


async def engine_over(stack, path, *, summary, chat=None, clock=None, **settings):
    database = await stack.enter_async_context(open_database(path / "kith.db"))
    chat = chat or FakeChatModel()
    opened = open_engine(
        database=database,
        models=Models(chat=chat, summary=summary, extract=chat),
        directory=path,
        settings=MemorySettings(**settings),
        clock=clock or FakeClock(),
    )
    return await stack.enter_async_context(opened)


async def say(engine, session, text="hello", at_ns=0):
    entry = NewMessage(role=Role.USER, text=text, sent_at_ns=at_ns)
    reply = NewMessage(role=Role.ASSISTANT, text="ok", sent_at_ns=at_ns)
    turn = Turn(session=SessionId(session), title="", epoch=0, entry=entry, reply=reply)
    async with engine.unit() as unit:
        await engine.observe(unit, turn)


async def test_two_hundred_due_sessions_give_way_to_a_person_and_none_is_lost(stack, tmp_path):
    busy = asyncio.Event()

    async def answer(_request):
        if len(fake.requests) == 30:
            busy.set()
            await asyncio.sleep(60)  # a long call, which gives way
        return NOTES

    fake = FakeChatModel(answer)
    model = Gated(fake, CallScheduler(places=1).of("m"))
    engine = await engine_over(stack, tmp_path, summary=model)
    for n in range(SESSIONS):
        await say(engine, f"cli-{n}")
    finished_before = []

    async def person():
        await busy.wait()
        await model.complete(ChatRequest(messages=()))
        finished_before.append(len(model.finished))

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(person())
        told = await summarise_due(engine.summaries, unwatched)

    assert told == f"{SESSIONS} of {SESSIONS} sessions, {SESSIONS} chunks, 0 failed"
    assert await engine.summaries.due() == []
    assert model.most_running == 1  # bounded at the model
    assert finished_before[0] < SESSIONS / 2  # the person did not wait for the job
    assert fake.closed_early == 1  # one call gave way,
    assert len(fake.requests) == SESSIONS + 2  # was asked again, and no other was
    assert model.finished.count(Priority.BACKGROUND) == SESSIONS


async def test_a_tick_with_nothing_new_asks_no_model(stack, tmp_path):
    model = FakeChatModel([NOTES])
    engine = await engine_over(stack, tmp_path, summary=model)
    await say(engine, "cli-1")
    await summarise_due(engine.summaries, unwatched)

    told = await summarise_due(engine.summaries, unwatched)

    assert told == "0 of 0 sessions, 0 chunks, 0 failed"
    assert len(model.requests) == 1


@pytest.mark.looptime
async def test_so_many_sessions_at_once_and_no_more():
    summaries = FakeSummaries({f"s{n}": SummaryRun(chunks=1) for n in range(10)})
    steps = []

    await summarise_due(summaries, lambda done, total: steps.append((done, total)))

    assert summaries.most_running == PARALLEL
    assert steps == [(n, 10) for n in range(1, 11)]


@pytest.mark.looptime
async def test_a_session_that_fails_holds_up_no_other():
    bad = {"a": StoreError("x"), "b": SummaryRun(ended=Ended.FAILED)}
    summaries = FakeSummaries({**bad, "c": SummaryRun(chunks=2)})

    told = await summarise_due(summaries, unwatched, parallel=1)

    assert told == "3 of 3 sessions, 2 chunks, 2 failed"


@pytest.mark.looptime
async def test_without_a_model_the_tick_ends_early():
    runs = {f"s{n}": SummaryRun(ended=Ended.NO_MODEL) for n in range(100)}
    summaries = FakeSummaries(runs)

    told = await summarise_due(summaries, unwatched, parallel=2)

    assert len(summaries.refreshed) == 2
    assert told == "2 of 100 sessions, 0 chunks, 2 failed, no model to be had"


async def test_a_model_that_cannot_be_reached_leaves_every_session_due(stack, tmp_path):
    engine = await engine_over(
        stack, tmp_path, summary=FakeChatModel(lambda _: ModelUnreachable("down"))
    )
    for n in range(20):
        await say(engine, f"cli-{n}")

    told = await summarise_due(engine.summaries, unwatched)

    assert told.endswith("no model to be had")
    assert len(await engine.summaries.due()) == 20


@pytest.mark.looptime
async def test_what_is_wanted_at_once_is_summarised_at_once_also_after_a_failure():
    summaries = FakeSummaries({"a": StoreError("x"), "b": SummaryRun()})
    async with asyncio.TaskGroup() as tasks:
        following = tasks.create_task(follow_queue(summaries))
        for session in ("a", "b"):
            summaries.wanted.put_nowait(SessionId(session))
        await asyncio.sleep(2.5)
        following.cancel()

    assert summaries.refreshed == ["a", "b"]


async def test_temporary_sessions_are_swept_after_half_an_hour_and_never_summarised(
    stack, tmp_path
):
    clock = FakeClock()
    model = FakeChatModel(lambda _: NOTES)
    engine = await engine_over(stack, tmp_path, summary=model, clock=clock)
    now_ns = clock.now_ns()
    await say(engine, "temp-old", at_ns=now_ns - 31 * 60 * 10**9)
    await say(engine, "temp-new", at_ns=now_ns - 29 * 60 * 10**9)
    await say(engine, "cli-old", at_ns=now_ns - 31 * 60 * 10**9)
    jobs = {job.name: job for job in all_jobs(engine)}

    await jobs[SUMMARISE].work(unwatched)
    told = await jobs[SWEEP].work(unwatched)

    assert told == "1 temporary sessions removed"
    assert {session.id for session in await engine.sessions()} == {"temp-new", "cli-old"}
    assert len(model.requests) == 1


async def test_a_history_that_grew_too_big_is_summarised_first_and_compacted_then(stack, tmp_path):
    model = FakeChatModel(lambda _: NOTES)
    engine = await engine_over(stack, tmp_path, summary=model, max_history_bytes=10_000)
    for n in range(12):
        await say(engine, "tg-1", "茶" * 400, at_ns=n)
    jobs = {job.name: job for job in all_jobs(engine)}

    first = await jobs[COMPACT].work(unwatched)
    wanted = await engine.summaries.next_queued()
    await engine.summaries.refresh(wanted)
    second = await jobs[COMPACT].work(unwatched)

    assert (first, wanted, second) == ("0 histories compacted", "tg-1", "1 histories compacted")
    [session] = await engine.sessions()
    assert session.start_seq > 0


async def test_a_small_pass_over_chinese_stores_taiwan_traditional(stack, tmp_path):
    answer = json.dumps({"key_decisions": ["要：用软件备份数据库"], "past_discussions": []})
    engine = await engine_over(stack, tmp_path, summary=FakeChatModel([answer]))
    await say(engine, "cli-1", "备份")

    await summarise_due(engine.summaries, unwatched)

    view = await engine.summaries.view(SessionId("cli-1"))
    assert view.summary.key_decisions == ("Do: 用軟體備份資料庫",)


async def test_the_tools_job_ends_what_expired_and_embeds_what_waits(tmp_path):
    clock, embedder = FakeClock(), FakeEmbedder()
    async with open_database(tmp_path / "kith.db") as database:
        note = NewErrorRecord(
            tool="now",
            keywords=(),
            symptom="no zone",
            action="name one",
            outcome=ActionOutcome.RESOLVED,
        )
        before = ErrorMemory(database=database, embedder=None, clock=clock)
        await before.write(note)
        clock.advance(91 * 86_400)
        await before.write(note)
        errors = ErrorMemory(database=database, embedder=embedder, clock=clock)
        job = tool_upkeep(errors, RunLog(database=database, clock=clock))

        told = await job.work(lambda done, total: None)

    assert told == "1 error records expired, 0 tool runs, 1 records embedded"
