import pytest

from memory.archive import messages_table
from memory.database import sessions_table
from memory.pools import queue_table
from memory.values import NewMessage, Role
from tests.fakes import NOON_NS
from tests.memory.pools.stage import ANNA, ROOM, a_database


@pytest.fixture
async def database(tmp_path):
    async with a_database(tmp_path) as opened:
        yield opened


@pytest.fixture
async def seq(database):
    """A message of Anna's in the archive."""
    async with database.unit() as unit:
        number, _ = await sessions_table.touch(unit, ROOM, title="", now_ns=NOON_NS)
        said = NewMessage(role=Role.USER, text="tea", sent_at_ns=NOON_NS, speaker=ANNA)
        [seq] = await messages_table.append(unit, number, [said])
        return seq


@pytest.mark.parametrize(
    ("marked", "again", "left"),
    [(True, False, 1), (True, True, 1), (False, True, 1), (False, False, 0)],
)
async def test_an_edited_turn_waits_once_if_it_waited_or_is_to_be_distilled_again(
    database, seq, marked, again, left
):
    async with database.unit() as unit:
        old = await queue_table.mark(unit, ROOM, seq=seq, group=True) if marked else 0

        await queue_table.begin_anew(unit, ROOM, seq=seq, again=again)

        found = await queue_table.marks(unit, ROOM, limit=10)
        assert [(mark.seq, mark.group) for mark in found] == [(seq, marked)] * left
        assert not await queue_table.done(unit, old)


async def test_at_a_start_the_turns_of_the_archive_still_wait(database, seq):
    async with database.unit() as unit:
        await queue_table.mark(unit, ROOM, seq=None)
        await queue_table.mark(unit, ROOM, seq=seq)

        assert await queue_table.count_lost(unit) == 1

        assert (await queue_table.state(unit, ROOM)).waiting == 1


async def test_a_session_that_is_forgotten_has_nothing_waiting(database, seq):
    async with database.unit() as unit:
        await queue_table.mark(unit, ROOM, seq=seq)
        await queue_table.mark(unit, ROOM, seq=None)

        await queue_table.forget(unit, ROOM)

        assert (await queue_table.state(unit, ROOM)).waiting == 0
