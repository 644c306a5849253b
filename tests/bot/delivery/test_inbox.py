from dataclasses import replace

import pytest

from bot.app.schemas import BOT_SCHEMA
from bot.delivery import inbox
from bot.delivery.inbox import InboxState
from memory.database.database import MEMORY_SCHEMA, open_database
from tests.bot.stack import direct, said
from tests.fakes import NOON_NS

TITLED = replace(direct(), title="Ann Lee")
OTHER_BOT = replace(direct(), bot="2")


@pytest.fixture
async def database(tmp_path):
    async with open_database(tmp_path / "kith.db", (MEMORY_SCHEMA, BOT_SCHEMA)) as opened:
        yield opened


async def take(database, inbound, *, with_text=True, state=InboxState.WAITING):
    async with database.unit() as unit:
        return await inbox.take(unit, inbound, with_text=with_text, now_ns=NOON_NS, state=state)


async def kept(database):
    async with database.reading() as reader:
        rows = await reader.rows("SELECT text, name, title FROM inbox ORDER BY number")
        return [tuple(row) for row in rows]


async def test_without_text_neither_words_nor_name_nor_title_are_written(database):
    await take(database, said("tea", chat=TITLED), with_text=False)

    assert await kept(database) == [(None, None, None)]


async def test_a_closed_row_holds_neither_words_nor_name_nor_title(database):
    row = await take(database, said("tea", chat=TITLED))
    assert await kept(database) == [("tea", "Ann", "Ann Lee")]

    async with database.unit() as unit:
        assert await inbox.close(unit, row, InboxState.ANSWERED, now_ns=NOON_NS)

    assert await kept(database) == [(None, None, None)]


async def test_a_closed_row_is_closed_once_and_no_turn_begins_for_it(database):
    row = await take(database, said("tea"))
    async with database.unit() as unit:
        await inbox.close(unit, row, InboxState.ANSWERED, now_ns=NOON_NS)

        assert not await inbox.close(unit, row, InboxState.FAILED, now_ns=NOON_NS)
        assert not await inbox.begin(unit, row, now_ns=NOON_NS)

        assert await inbox.counts(unit) == {InboxState.ANSWERED: 1}


async def test_an_edit_reaches_the_message_of_that_bot_alone_and_never_gives_a_row_words(database):
    await take(database, said("tea"))
    await take(database, said("tea", chat=OTHER_BOT))
    await take(database, said("", "2"), with_text=False)

    async with database.unit() as unit:
        for message in ("1", "2"):
            await inbox.reword(unit, direct(), message, "coffee", now_ns=NOON_NS)

    assert [text for text, _, _ in await kept(database)] == ["coffee", "tea", None]


async def test_an_open_row_is_swept_never_however_old(database):
    await take(database, said("open"))
    await take(database, said("closed", "2"), state=InboxState.EXPIRED)

    async with database.unit() as unit:
        await inbox.sweep(unit, before_ns=NOON_NS)
        assert len(await inbox.counts(unit)) == 2
        await inbox.sweep(unit, before_ns=NOON_NS + 1)

        assert await inbox.counts(unit) == {InboxState.WAITING: 1}
