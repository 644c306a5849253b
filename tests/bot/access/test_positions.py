import pytest

from adapters.telegram.options import TELEGRAM
from bot.access import positions
from bot.app.schemas import BOT_SCHEMA
from bot.ports import ChatKind, ChatRef, Position, Quarantined
from memory.database.database import MEMORY_SCHEMA, open_database


@pytest.fixture
async def database(tmp_path):
    async with open_database(tmp_path / "kith.db", (MEMORY_SCHEMA, BOT_SCHEMA)) as database:
        yield database


def at(value, *, bot="1", stream="updates"):
    return Position(platform=TELEGRAM, bot=bot, stream=stream, value=value)


async def test_the_last_position_of_each_stream_of_a_bot_is_known(database):
    async with database.unit() as unit:
        await positions.save(unit, [at("1"), at("7", stream="b"), at("9", bot="2")])
    async with database.unit() as unit:
        await positions.save(unit, [at("2")])

    async with database.reading() as reader:
        assert await positions.of_bot(reader, TELEGRAM, "1") == {"updates": "2", "b": "7"}


async def test_what_was_set_aside_stays_as_it_was_until_it_is_old(database):
    def poison(update, fault):
        return Quarantined(platform=TELEGRAM, bot="1", update=update, fault=fault)

    async with database.unit() as unit:
        await positions.set_aside(unit, [poison("1", "a")], now_ns=10)
        await positions.set_aside(unit, [poison("1", "b"), poison("2", "c")], now_ns=20)
        assert await positions.quarantined(unit) == 2

        await positions.sweep(unit, before_ns=10)
        assert await positions.quarantined(unit) == 2
        await positions.sweep(unit, before_ns=20)
        [left] = await unit.rows("SELECT * FROM quarantine")

    assert "2" in tuple(left)


async def test_a_place_is_known_by_all_the_ids_that_it_had(database):
    def group(chat):
        return ChatRef(platform=TELEGRAM, bot="1", chat=chat, kind=ChatKind.GROUP)

    async with database.unit() as unit:
        await positions.move(unit, group("a"), "b")
        await positions.move(unit, group("b"), "c")
        known = await positions.moves(unit)

    assert known.former(group("c")) == ("b", "a")
    assert known.first(group("c")) == "a"
    assert known.current(group("a")) == "c"


def test_a_move_that_closes_a_circle_is_left_out():
    moves = positions.Moves()
    chat = ChatRef(platform=TELEGRAM, bot="1", chat="a", kind=ChatKind.GROUP)
    moves.add(TELEGRAM, "1", old="a", new="b")
    moves.add(TELEGRAM, "1", old="b", new="a")

    assert moves.current(chat) == "b"
    assert moves.former(chat) == ()


def test_a_place_that_never_moved_has_the_id_that_it_has():
    moves = positions.Moves()
    chat = ChatRef(platform=TELEGRAM, bot="1", chat="a", kind=ChatKind.GROUP)

    assert (moves.current(chat), moves.first(chat), moves.former(chat)) == ("a", "a", ())


def test_a_move_is_of_one_bots_place_alone():
    moves = positions.Moves()
    chat = ChatRef(platform=TELEGRAM, bot="1", chat="a", kind=ChatKind.GROUP)
    moves.add(TELEGRAM, "2", old="a", new="b")

    assert moves.current(chat) == "a"
