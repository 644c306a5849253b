"""The pass is killed between any two of its statements, and run again."""

import asyncio
import json
import os
import re
import signal

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import Reader, Unit, open_database
from memory.ports import ModelLimits, Models
from memory.summary import summaries_table
from memory.summary.run import Ended
from memory.summary.service import SummaryService
from memory.summary.value import Current, Summary, read_summary, to_json
from memory.values import NewMessage, Role, SessionId
from tests.fakes import NOON_NS, FakeChatModel, FakeClock

SESSION = SessionId("telegram-5")
MESSAGES = 12
SMALL = ModelLimits(context_tokens=2_200, prompt_tokens=850, reply_tokens=512)


def scribe(request):
    """Notes whose current topic lists every message read so far: the summary is its own witness."""
    system, user = (message.text for message in request.messages)
    before = read_summary(system).current_discussion.description
    ids = re.findall(r"#\d\d", user)
    current = Current(topic="read", description=" ".join([*before.split(), *ids]))
    return to_json(Summary(current_discussion=current))


def work(database):
    decision = FakeChatModel(lambda _: json.dumps({"noise": [], "superseded": []}))
    model = FakeChatModel(scribe, limits=SMALL)
    models = Models(chat=model, summary=model, extract=model, decision=decision)
    return SummaryService(database=database, models=models, clock=FakeClock())


async def fill(path):
    async with open_database(path) as database, database.unit() as unit:
        number, _ = await sessions_table.touch(unit, SESSION, title="", now_ns=NOON_NS)
        for n in range(MESSAGES):
            role = Role.ASSISTANT if n % 2 else Role.USER
            message = NewMessage(role=role, text=f"#{n:02} " + "話" * 100, sent_at_ns=NOON_NS)
            await messages_table.append(unit, number, [message])


async def run_and_die(path, fatal_step):
    """Run the pass in this process and kill it, as `kill -9` does, before its n-th step."""
    steps = 0

    def doomed(original):
        async def step(*args, **kwargs):
            nonlocal steps
            steps += 1
            if steps == fatal_step:
                os.kill(os.getpid(), signal.SIGKILL)
            return await original(*args, **kwargs)

        return step

    async with open_database(path) as database:
        for owner, names in ((Reader, ["rows"]), (Unit, ["execute", "insert"])):
            for name in names:
                setattr(owner, name, doomed(getattr(owner, name)))
        raw = database._writer
        raw.execute = killing_before(raw.execute, doomed)
        FakeChatModel.complete = doomed(FakeChatModel.complete)
        await work(database).refresh(SESSION)


def killing_before(execute, doomed):
    """BEGIN and COMMIT are steps too; the other statements are counted where they are asked for."""

    def step(sql, *args):
        if sql not in {"BEGIN IMMEDIATE", "COMMIT"}:
            return execute(sql, *args)

        async def run():
            return await execute(sql, *args)

        return doomed(run)()

    return step


async def witness(path):
    async with open_database(path) as database, database.reading() as reader:
        stored = await summaries_table.current(reader, SESSION)
        messages = await messages_table.after(reader, SESSION, seq=0, limit=100)
        due = await summaries_table.due(reader)
    read = re.findall(r"#\d\d", stored.summary.current_discussion.description)
    covered = [m.text[:3] for m in messages if m.seq <= stored.cursor.seq]
    return read, covered, due


ALL = [f"#{n:02}" for n in range(MESSAGES)]


def crashed(path, fatal_step):
    """Whether the pass was killed before that step; it has a process of its own to die in."""
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(run_and_die(path, fatal_step))
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in {0, -signal.SIGKILL}
    return code == -signal.SIGKILL


async def run_again(path):
    async with open_database(path) as database:
        return await work(database).refresh(SESSION)


async def test_killed_between_any_two_statements_summary_and_cursor_agree_and_a_restart_goes_on(
    tmp_path,
):
    step, killed = 1, True
    while killed:
        path = tmp_path / f"{step}.db"
        await fill(path)

        killed = crashed(path, step)

        read, covered, due = await witness(path)
        assert read == covered, f"killed before step {step}"
        assert due == ([] if covered == ALL else [SESSION])
        assert (await run_again(path)).ended is Ended.UP_TO_DATE
        assert await witness(path) == (ALL, ALL, [])
        step += 1

    assert step > 30
