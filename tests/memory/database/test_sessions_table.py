import pytest

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.values import NewMessage, Role, Seq, SessionId

HERE = SessionId("tg-1-7")


@pytest.fixture
async def database(tmp_path):
    async with open_database(tmp_path / "kith.db") as opened:
        async with opened.unit() as unit:
            await sessions_table.touch(unit, HERE, title="", now_ns=1)
        yield opened


@pytest.mark.parametrize("meanwhile", ["compacted", "reset"])
async def test_hot_history_begins_where_it_did_once_the_session_has_moved(database, meanwhile):
    async with database.unit() as unit:
        known = await sessions_table.find(unit, HERE)
        if meanwhile == "compacted":
            assert await sessions_table.move_start(unit, known, Seq(5))
        else:
            await sessions_table.bump_epoch(unit, HERE, now_ns=2)
        before = await sessions_table.find(unit, HERE)

        assert not await sessions_table.move_start(unit, known, Seq(3))
        assert await sessions_table.find(unit, HERE) == before


async def test_only_temporary_sessions_that_were_idle_for_long_enough_are_idle(database):
    async with database.unit() as unit:
        for name, at_ns in (("temp-old", 10), ("temp-new", 20)):
            await sessions_table.touch(unit, SessionId(name), title="", now_ns=at_ns)

        assert await sessions_table.idle_temporary(unit, before_ns=20) == ["temp-old"]


async def test_a_new_window_begins_behind_the_last_message(database):
    async with database.unit() as unit:
        number, _ = await sessions_table.touch(unit, HERE, title="", now_ns=1)
        said = NewMessage(role=Role.USER, text="hi", sent_at_ns=1)
        [_, last] = await messages_table.append(unit, number, [said, said])

        await sessions_table.begin_window(unit, HERE)

        found = await sessions_table.find(unit, HERE)
    assert found.window_seq == last + 1
