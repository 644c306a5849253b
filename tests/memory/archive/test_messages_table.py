import pytest

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.values import NO_SEQ, NewMessage, Role, SessionId

HERE, ELSEWHERE = SessionId("tg-1-7"), SessionId("tg-1-8")


@pytest.fixture
async def database(tmp_path):
    async with open_database(tmp_path / "kith.db") as opened:
        yield opened


async def say(database, *times_ns, session=HERE):
    """Store a message sent at each time, in this order."""
    async with database.unit() as unit:
        number, _ = await sessions_table.touch(unit, session, title="", now_ns=1)
        said = [
            NewMessage(role=Role.USER, text=f"at {at}", sent_at_ns=at, platform_id=f"m{at}")
            for at in times_ns
        ]
        return await messages_table.append(unit, number, said)


async def test_what_lies_behind_a_row_begins_with_the_next_and_is_counted_so(database):
    first, second, third = await say(database, 1, 2, 3)
    await say(database, 4, session=ELSEWHERE)

    async with database.reading() as reader:
        found = await messages_table.after(reader, HERE, seq=first, limit=10)
        behind_first = await messages_table.count_after(reader, HERE, seq=first, most=10)
        behind_last = await messages_table.count_after(reader, HERE, seq=third, most=10)

    assert [message.seq for message in found] == [second, third]
    assert (behind_first, behind_last) == (2, 0)


async def test_the_row_before_a_moment_is_the_last_before_the_first_message_of_then(database):
    first, _ = await say(database, 10, 20)

    async with database.reading() as reader:
        assert await messages_table.last_before(reader, HERE, at_ns=20) == first
        assert await messages_table.last_before(reader, HERE, at_ns=10) == NO_SEQ


async def test_clearing_a_session_leaves_every_other(database):
    await say(database, 1, 2)
    await say(database, 3, session=ELSEWHERE)

    async with database.unit() as unit:
        assert await messages_table.clear(unit, HERE) == 2
        assert await messages_table.count_all(unit) == 1


async def test_what_is_read_of_a_session_is_its_own(database):
    _, mine = await say(database, 1, 2)
    theirs = await say(database, 1, 2, session=ELSEWHERE)

    async with database.reading() as reader:
        latest = await messages_table.latest(reader, HERE, from_seq=mine, limit=10)
        edited = await messages_table.by_platform_ids(reader, ELSEWHERE, ["m1", "m2"])

    assert [message.seq for message in latest] == [mine]
    assert [message.seq for message in edited] == theirs


async def test_the_holders_of_a_message_are_those_of_its_place(database):
    await say(database, 1)
    await say(database, 1, session=ELSEWHERE)
    await say(database, 2, session=SessionId("tg-1-7-u9"))

    async with database.reading() as reader:
        assert await messages_table.holders(reader, "tg-1-7*", ["m1"]) == {HERE}


async def test_an_exchange_is_the_row_asked_for_and_the_next_or_nothing(database):
    first, second, third = await say(database, 1, 2, 3)
    async with database.unit() as unit:
        await messages_table.delete(unit, first)

        found = await messages_table.exchange(unit, HERE, seq=second)
        assert [message.seq for message in found] == [second, third]
        for missing in (first, third + 1):
            assert await messages_table.exchange(unit, HERE, seq=missing) == []
