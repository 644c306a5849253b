from contextlib import asynccontextmanager

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.tool_errors.run_log import ARGUMENTS_CHARS, RESULT_CHARS, RunLog
from memory.tool_errors.runs_table import ToolRun
from memory.values import NewMessage, Role, SessionId
from tests.fakes import FakeClock

ONE, TWO = SessionId("telegram-1"), SessionId("telegram-2")


def run(clock, result="found", **more):
    fields = {"tool": "probe", "arguments": "{}", "failed": False, "elapsed_ms": 3, **more}
    return ToolRun(result=result, ran_at_ns=clock.now_ns(), **fields)


@asynccontextmanager
async def opened(directory):
    clock = FakeClock()
    async with open_database(directory / "kith.db") as database:
        async with database.unit() as unit:
            for session in (ONE, TWO):
                number, _ = await sessions_table.touch(
                    unit, session, title="", now_ns=clock.now_ns()
                )
                entry = NewMessage(role=Role.USER, text="hi", sent_at_ns=clock.now_ns())
                await messages_table.append(unit, number, [entry])
        yield RunLog(database=database, clock=clock), database, clock


async def keep(log, database, session, *runs):
    async with database.unit() as unit:
        await log.keep(unit, session, runs)


async def test_a_session_sees_its_own_runs_newest_first(tmp_path):
    async with opened(tmp_path) as (log, database, clock):
        await keep(log, database, ONE, run(clock, "a"), run(clock, "b"))
        await keep(log, database, TWO, run(clock, "c"))

        assert [one.result for one in await log.latest(ONE, limit=10)] == ["b", "a"]
        [other] = await log.latest(TWO, limit=10)
        assert await log.find(ONE, other.number) is None
        assert (await log.find(TWO, other.number)).result == "c"


async def test_what_is_long_is_shortened(tmp_path):
    async with opened(tmp_path) as (log, database, clock):
        await keep(log, database, ONE, run(clock, "r" * 9_999, arguments="a" * 9_999))

        [kept] = await log.latest(ONE, limit=1)
        assert (len(kept.arguments), len(kept.result)) == (ARGUMENTS_CHARS, RESULT_CHARS)


async def test_runs_are_gone_after_three_days(tmp_path):
    async with opened(tmp_path) as (log, database, clock):
        await keep(log, database, ONE, run(clock))
        [kept] = await log.latest(ONE, limit=1)

        clock.advance(3 * 86_400 + 1)

        assert await log.latest(ONE, limit=1) == []
        assert await log.find(ONE, kept.number) is None
        assert await log.sweep() == 1


async def test_no_run_outlives_messages_that_are_removed_or_edited(tmp_path):
    for change in ("DELETE FROM messages", "UPDATE messages SET text = 'x' WHERE session = 1"):
        async with opened(tmp_path) as (log, database, clock):
            await keep(log, database, ONE, run(clock))
            async with database.unit() as unit:
                await unit.execute(change)

            assert await log.latest(ONE, limit=1) == []


async def test_a_run_of_a_session_that_is_gone_is_not_kept(tmp_path):
    async with opened(tmp_path) as (log, database, clock):
        await keep(log, database, SessionId("gone"), run(clock))

        async with database.reading() as reader:
            assert await reader.rows("SELECT * FROM tool_runs") == []
