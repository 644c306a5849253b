import pytest

from bot.errors import UsageError
from bot.service.memory_verbs import memory_verbs
from memory.pools.service import PoolService
from tests.fakes import FakeClock
from tests.memory.pools.stage import ROOM, a_database, entry, put, stored


@pytest.fixture
async def database(tmp_path):
    async with a_database(tmp_path) as opened:
        yield opened


@pytest.fixture
def verbs(database):
    return memory_verbs(PoolService(database=database, clock=FakeClock()))


async def test_a_fact_is_added_changed_and_deleted(database, verbs):
    added = await verbs["memory.add"]({"session": ROOM, "text": "We meet on Monday"})
    named = {"session": ROOM, "id": added["id"]}

    changed = await verbs["memory.edit"]({**named, "text": "We meet on Friday"})
    assert await stored(database) == [changed["content"]] == ["We meet on Friday"]

    assert await verbs["memory.delete"](named) == {"id": added["id"]}
    assert await stored(database) == []


@pytest.mark.parametrize("verb", ["memory.edit", "memory.delete"])
async def test_a_fact_that_is_not_in_that_conversation_is_a_mistake_of_who_asks(
    database, verbs, verb
):
    [number] = await put(database, entry("Anna likes tea"))

    with pytest.raises(UsageError, match=str(number)):
        await verbs[verb]({"session": "cli-other", "id": number, "text": "something else"})

    assert await stored(database) == ["Anna likes tea"]
