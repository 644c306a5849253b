from memory.database.database import open_database
from memory.tool_errors.run_log import RunLog
from memory.values import Mode, SessionId
from tests.bot.tools.stage import asks, open_stage, tool


async def echo(_context, arguments):
    return f"echo {arguments.words}"


async def test_finished_runs_are_kept_with_their_turn_but_never_in_pools_mode(tmp_path):
    replies = [asks(("probe", {"words": "茶"})), "ok", asks(("probe", {"words": "secret"})), "ok"]
    kept = []

    async def keep(_unit, session, runs):
        kept.extend((session, run) for run in runs)

    async with open_stage(tmp_path, [tool(echo)], replies, keep=keep) as stage:
        await stage.ask("hi")
        await stage.ask("hi", session="pools-1", mode=Mode.POOLS)

    [(session, run)] = kept
    assert session == "telegram-7"
    assert (run.tool, run.arguments, run.failed) == ("probe", '{"words": "茶"}', False)
    assert run.result.endswith("echo 茶")


async def test_a_turn_that_fails_keeps_no_run(tmp_path):
    kept = []

    async def keep(_unit, session, runs):
        kept.extend(runs)

    async with open_stage(tmp_path, [tool(echo)], [asks(("probe", {})), "", ""], keep=keep) as s:
        assert not (await s.ask("hi")).kept

    assert kept == []


async def test_the_log_itself_takes_runs_in_the_turns_own_transaction(tmp_path):
    async with open_database(tmp_path / "kith.db") as database:
        async with open_stage(tmp_path, [tool(echo)], [asks(("probe", {})), "ok"]) as stage:
            log = RunLog(database=database, clock=stage.clock)
            stage.turns._talker._keep = log.keep
            await stage.ask("hi")

            assert [run.tool for run in await log.latest(SessionId("telegram-7"), limit=9)] == [
                "probe"
            ]
