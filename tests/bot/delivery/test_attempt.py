import pytest

from bot.app.schemas import BOT_SCHEMA
from bot.delivery import inbox
from bot.delivery.attempt import Attempt
from memory.database.database import MEMORY_SCHEMA, open_database
from tests.bot.stack import said
from tests.fakes import NOON_NS


@pytest.fixture
async def database(tmp_path):
    async with open_database(tmp_path / "kith.db", (MEMORY_SCHEMA, BOT_SCHEMA)) as database:
        yield database


async def begun(database):
    async with database.unit() as unit:
        row = await inbox.take(unit, said("hello"), with_text=True, now_ns=NOON_NS)
        await inbox.begin(unit, row, now_ns=NOON_NS)
    return Attempt(database, row)


async def counted(database):
    async with database.reading() as reader:
        [waiting] = await inbox.waiting(reader)
    return waiting.attempts


async def test_it_counts_from_the_start(database):
    await begun(database)

    assert await counted(database) == 1


async def test_it_does_not_count_while_it_waits_for_the_model(database):
    attempt = await begun(database)

    await attempt.waits()
    await attempt.waits()

    assert await counted(database) == 0


async def test_it_counts_once_however_often_the_model_is_asked(database):
    attempt = await begun(database)

    await attempt.waits()
    for _ in range(3):
        await attempt.begins()

    assert await counted(database) == 1
