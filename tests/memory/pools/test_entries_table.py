import pytest

from memory.archive import messages_table
from memory.database import sessions_table
from memory.errors import StoreError
from memory.pools import entries_table, queue_table
from memory.pools.entry import Pool, Source, SourceKind, Tag
from memory.values import NewMessage, Role
from tests.fakes import NOON_NS
from tests.memory.pools.stage import (
    ANNA,
    MING,
    ROOM,
    a_database,
    entry,
    every,
    message,
    put,
    stored,
)


@pytest.fixture
async def database(tmp_path):
    async with a_database(tmp_path) as opened:
        yield opened


async def test_an_entry_comes_back_as_it_was_put_in(database):
    sources = (message(3), Source(kind=SourceKind.TURN, id="tg 77"))
    [number] = await put(database, entry("小明喜歡茶", speaker=MING, sources=sources))

    [found] = await every(database)

    assert (found.id, found.content, found.speaker) == (number, "小明喜歡茶", MING)
    assert set(found.sources) == set(sources)
    assert found.live
    assert found.owner == MING.person


async def test_an_entry_about_a_person_needs_that_person(database):
    with pytest.raises(StoreError):
        await put(database, entry("somebody likes tea", speaker=None))


async def test_deleting_an_entry_does_not_bring_back_what_it_superseded(database):
    old, new = await put(database, entry("Anna lives in Taipei"), entry("Anna lives in Tainan"))
    async with database.unit() as unit:
        await entries_table.supersede(unit, old, by=new)

    async with database.unit() as unit:
        assert await entries_table.remove_one(unit, ROOM, new)

    assert await stored(database, live=False) == []


async def test_clearing_one_pool_leaves_the_other(database):
    await put(database, entry("short one"), entry("long one", pool=Pool.LONG))

    async with database.unit() as unit:
        assert await entries_table.clear(unit, ROOM, Pool.SHORT) == 1

    assert await stored(database) == ["long one"]


async def test_what_a_cleared_short_entry_superseded_in_the_long_pool_holds_again(database):
    old, new = await put(
        database, entry("Anna lives in Taipei", pool=Pool.LONG), entry("Anna lives in Tainan")
    )
    async with database.unit() as unit:
        await entries_table.supersede(unit, old, by=new)

    async with database.unit() as unit:
        await entries_table.clear(unit, ROOM, Pool.SHORT)

    assert await stored(database) == ["Anna lives in Taipei"]


async def test_an_entry_goes_with_the_last_message_that_it_rests_on(database):
    await put(
        database,
        entry("only on 1", sources=(message(1),)),
        entry("on 1 and 2", sources=(message(1), message(2))),
        entry("by hand", tag=Tag.FACT, sources=(message(1),)),
        entry("else", sources=(message(3),)),
    )

    async with database.unit() as unit:
        gone = await entries_table.forget_source(unit, message(1))

    assert gone == 1
    assert await stored(database) == ["on 1 and 2", "by hand", "else"]


async def test_a_vector_of_words_that_have_changed_is_not_kept(database):
    await put(database, entry("Anna likes tea"))
    [before] = await every(database)
    async with database.unit() as unit:
        await entries_table.edit(unit, ROOM, before.id, "Anna likes coffee")
        await entries_table.keep_vector(unit, before, b"\0" * 8, model="m")

    [after] = await every(database)

    assert (after.content, after.vector) == ("Anna likes coffee", None)


async def test_entries_of_another_session_are_out_of_reach(database):
    [number] = await put(database, entry("Anna likes tea"))
    async with database.unit() as unit:
        await sessions_table.touch(unit, "cli-other", title="", now_ns=NOON_NS)

    async with database.unit() as unit:
        assert not await entries_table.remove_one(unit, "cli-other", number)
        assert not await entries_table.edit(unit, "cli-other", number, "changed")
        assert await entries_table.find(unit, "cli-other", number) is None

    assert await stored(database) == ["Anna likes tea"]


async def test_a_restart_counts_the_turns_that_were_in_memory_only(database):
    async with database.unit() as unit:
        await queue_table.mark(unit, ROOM, seq=None)
        await queue_table.mark(unit, ROOM, seq=None)

    async with database.unit() as unit:
        assert await queue_table.count_lost(unit) == 2
        assert await queue_table.count_lost(unit) == 0
        state = await queue_table.state(unit, ROOM)

    assert (state.lost_turns, state.waiting) == (2, 0)


async def test_a_mark_goes_with_its_message(database):
    async with database.unit() as unit:
        number, _ = await sessions_table.touch(unit, ROOM, title="", now_ns=NOON_NS)
        said = NewMessage(role=Role.USER, text="hi", sent_at_ns=NOON_NS, speaker=ANNA)
        [seq] = await messages_table.append(unit, number, [said])
        await queue_table.mark(unit, ROOM, seq=seq)
        assert await queue_table.waiting(unit) == [ROOM]
        await messages_table.clear(unit, ROOM)

        assert await queue_table.waiting(unit) == []


async def test_what_an_entry_superseded_holds_again_when_the_message_of_the_change_goes(database):
    old, new = await put(
        database,
        entry("Anna lives in Taipei", sources=(message(1),)),
        entry("Anna lives in Tainan", sources=(message(2),)),
    )
    async with database.unit() as unit:
        await entries_table.supersede(unit, old, by=new)

    async with database.unit() as unit:
        assert await entries_table.forget_source(unit, message(2)) == 1

    assert await stored(database) == ["Anna lives in Taipei"]


async def test_a_gap_in_a_history_is_closed(database):
    turns = [Source(kind=SourceKind.TURN, id=f"m{number}") for number in range(3)]
    places = ("台北", "台南", "高雄")
    first, second, third = await put(
        database,
        *[
            entry(f"Anna 住在{place}", sources=(one,))
            for place, one in zip(places, turns, strict=True)
        ],
    )
    async with database.unit() as unit:
        await entries_table.supersede(unit, first, by=second)
        await entries_table.supersede(unit, second, by=third)

    async with database.unit() as unit:
        assert await entries_table.forget_turn(unit, ROOM, "m1") == 1

    left = await every(database)
    assert [(one.content, one.superseded_by) for one in left] == [
        ("Anna 住在台北", third),
        ("Anna 住在高雄", None),
    ]


async def test_a_turns_id_means_something_in_its_session_only(database):
    turn = Source(kind=SourceKind.TURN, id="42")
    async with database.unit() as unit:
        await sessions_table.touch(unit, "cli-other", title="", now_ns=NOON_NS)
    await put(database, entry("Anna likes tea", sources=(turn,)))
    await put(database, entry("Anna likes coffee", sources=(turn,)), session="cli-other")

    async with database.unit() as unit:
        assert await entries_table.turn_holders(unit, "cli-o*", ["42"]) == {"cli-other"}
        assert await entries_table.forget_turn(unit, "cli-other", "42") == 1

    assert await stored(database) == ["Anna likes tea"]
    assert await stored(database, session="cli-other") == []
