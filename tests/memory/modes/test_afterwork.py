import asyncio

import pytest

from memory.database.database import open_database
from memory.modes.afterwork import Afterwork
from memory.ports import Models
from memory.settings import PoolSettings
from memory.values import Moment, SessionId
from tests.fakes import FakeChatModel

ONE, TWO = SessionId("tg-1-1"), SessionId("tg-1-2")


@pytest.fixture
async def afterwork(tmp_path):
    model = FakeChatModel()
    async with open_database(tmp_path / "kith.db") as database:
        yield Afterwork(
            database=database,
            modes=(),
            models=Models(chat=model, summary=model, extract=model),
            settings=PoolSettings(),
        )


async def test_who_asked_first_is_served_first_and_asking_twice_is_asking_once(afterwork):
    for session in (ONE, TWO, ONE):
        afterwork.enqueue(session, Moment.QUIET)

    assert await afterwork.next_queued() == (ONE, Moment.QUIET)
    assert await afterwork.next_queued() == (TWO, Moment.QUIET)
    assert afterwork.take_queued() is None


async def test_while_nobody_asked_it_is_waited_for(afterwork):
    waiting = asyncio.create_task(afterwork.next_queued())
    await asyncio.sleep(0)
    assert not waiting.done()

    afterwork.enqueue(ONE)

    assert await waiting == (ONE, Moment.TURN)
