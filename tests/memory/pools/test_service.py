import pytest

from memory.pools.entry import Scope
from memory.pools.service import PoolService, Viewer
from tests.fakes import FakeClock
from tests.memory.pools.stage import ANNA, MING, ROOM, a_database, entry, put, stored

BY_ANNA, BY_OPERATOR = Viewer(session=ROOM, speaker=ANNA), Viewer(session=ROOM)
OURS, ANNAS, MINGS = "We meet on Monday", "Anna owns a kayak", "小明有一艘船"


@pytest.fixture
async def database(tmp_path):
    async with a_database(tmp_path) as opened:
        yield opened


@pytest.fixture
async def ids(database):
    return await put(
        database, entry(OURS, scope=Scope.GROUP), entry(ANNAS), entry(MINGS, speaker=MING)
    )


@pytest.fixture
def desk(database):
    return PoolService(database=database, clock=FakeClock())


async def test_a_person_sees_their_own_facts_and_the_groups_an_operator_all(desk, ids):
    assert [one.content for one in await desk.entries(BY_ANNA)] == [OURS, ANNAS]
    assert [one.content for one in await desk.entries(BY_OPERATOR)] == [OURS, ANNAS, MINGS]


async def test_nobody_finds_shows_changes_or_deletes_another_persons_fact(desk, database, ids):
    mings = ids[2]

    assert await desk.show(BY_ANNA, mings) is None
    assert await desk.search(BY_ANNA, "船") == []
    assert await desk.edit(BY_ANNA, mings, "小明沒有船了") is None
    assert not await desk.delete(BY_ANNA, mings)
    assert await stored(database) == [OURS, ANNAS, MINGS]


async def test_a_person_changes_and_deletes_their_own_fact(desk, database, ids):
    changed = await desk.edit(BY_ANNA, ids[1], "Anna owns a raft")

    assert changed.content == "Anna owns a raft"
    assert await desk.delete(BY_ANNA, ids[1])
    assert await stored(database) == [OURS, MINGS]
