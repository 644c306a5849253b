import pytest

from memory.database import sessions_table
from memory.errors import ModelTimedOut
from memory.pools import entries_table, queue_table
from memory.pools.entry import Pool, Scope, Source, SourceKind, Tag
from memory.pools.refine_pass import Refined, Refiner
from memory.settings import PoolSettings
from tests.fakes import NOON_NS, FakeChatModel
from tests.memory.pools.stage import (
    ANNA,
    MING,
    ROOM,
    a_database,
    entry,
    every,
    message,
    put,
    refined,
    stored,
)


@pytest.fixture
async def database(tmp_path):
    async with a_database(tmp_path) as opened:
        yield opened


def _refiner(database, *answers, **settings):
    model = FakeChatModel(list(answers))
    settings = PoolSettings(**settings)
    return Refiner(database=database, model=model, settings=settings), model


async def _fill(database, n=20, *, text="Anna likes tea number {}", **more):
    return await put(
        database,
        *[entry(text.format(k), said_at_ns=k, sources=(message(k),), **more) for k in range(n)],
    )


async def test_nothing_is_asked_before_the_pool_is_full(database):
    await _fill(database, 19)
    refiner, model = _refiner(database)

    assert await refiner.run(ROOM) is Refined.NOT_DUE
    assert model.requests == []


async def test_a_full_pool_gives_its_fifteen_oldest_for_the_facts_made_of_them(database):
    ids = await _fill(database)
    refiner, model = _refiner(database, refined("Anna likes tea of all kinds."))

    assert await refiner.run(ROOM) is Refined.STORED

    assert await stored(database, pool=Pool.SHORT) == [
        f"Anna likes tea number {n}" for n in range(15, 20)
    ]
    [fact] = [one for one in await every(database) if one.pool is Pool.LONG]
    assert (fact.content, fact.tag) == ("Anna likes tea of all kinds.", Tag.REFINED)
    assert (fact.speaker, fact.said_at_ns) == (ANNA, 14)
    assert message(0) in fact.sources
    assert Source(kind=SourceKind.ENTRY, id=str(ids[0])) in fact.sources
    assert len(model.requests[0].messages[1].text.splitlines()) == 15
    assert model.requests[0].schema is not None


async def test_each_entry_is_read_up_to_120_characters(database):
    await _fill(database, 20, text="Anna likes " + "x" * 300 + " {}")
    refiner, model = _refiner(database, refined())

    await refiner.run(ROOM)

    lines = model.requests[0].messages[1].text.splitlines()
    assert all(len(line) <= 122 and line.endswith("…") for line in lines)


@pytest.mark.parametrize(
    "answer",
    [
        '{"facts": []}',
        "無",
        "「無。」",
        '{"facts": ["無"]}',
        '{"facts": ["無。", "none"]}',
        '{"facts": "none"}',
        "<think>hm</think>none",
        '```json\n{"facts": []}\n```',
    ],
)
async def test_a_clear_none_removes_the_batch_and_writes_nothing(database, answer):
    await _fill(database)
    refiner, _ = _refiner(database, answer)

    assert await refiner.run(ROOM) is Refined.DROPPED

    assert len(await every(database)) == 5
    assert await stored(database, pool=Pool.LONG) == []


async def test_an_unclear_answer_keeps_the_batch_and_the_third_moves_the_oldest(database):
    await _fill(database)
    refiner, _ = _refiner(database, "hm, well", '{"facts": [', "{}")

    assert await refiner.run(ROOM) is Refined.UNCLEAR
    assert await refiner.run(ROOM) is Refined.UNCLEAR
    assert len(await stored(database, pool=Pool.SHORT)) == 20

    assert await refiner.run(ROOM) is Refined.MOVED_ON
    assert await stored(database, pool=Pool.LONG) == ["Anna likes tea number 0"]
    assert len(await stored(database, pool=Pool.SHORT)) == 19


async def test_a_good_answer_between_two_unclear_ones_begins_the_count_anew(database):
    await _fill(database)
    refiner, _ = _refiner(database, "?", "?", refined(), "?")
    await refiner.run(ROOM)
    await refiner.run(ROOM)
    await refiner.run(ROOM)
    await _fill(database)

    assert await refiner.run(ROOM) is Refined.UNCLEAR


async def test_a_failed_call_moves_the_oldest_alone(database):
    await _fill(database)
    refiner, _ = _refiner(database, ModelTimedOut("slow"))

    assert await refiner.run(ROOM) is Refined.MOVED_ON

    assert await stored(database, pool=Pool.LONG) == ["Anna likes tea number 0"]
    assert len(await stored(database, pool=Pool.SHORT)) == 19


async def test_filler_and_short_lines_are_dropped_and_three_facts_are_enough(database):
    await _fill(database)
    answer = refined(
        "無",
        "tea",
        "1. Anna likes tea A",
        "- Anna likes tea B",
        "Anna likes tea C x",
        "Anna likes tea D y",
    )
    refiner, _ = _refiner(database, answer)

    await refiner.run(ROOM)

    assert await stored(database, pool=Pool.LONG) == [
        "Anna likes tea A",
        "Anna likes tea B",
        "Anna likes tea C x",
    ]


async def test_a_fact_that_the_long_pool_has_already_is_not_doubled(database):
    await put(database, entry("小明喜歡喝茶", pool=Pool.LONG, speaker=MING))
    await _fill(database, text="小明喜歡喝茶第{}種", speaker=MING)
    refiner, _ = _refiner(database, refined("小明很喜歡喝茶。"))

    await refiner.run(ROOM)

    assert await stored(database, pool=Pool.LONG) == ["小明喜歡喝茶"]


async def test_a_newer_lasting_fact_supersedes_the_older(database):
    await put(database, entry("Anna lives in Taipei.", pool=Pool.LONG))
    await _fill(database, text="Anna moved to Tainan {}")
    refiner, _ = _refiner(database, refined("Anna lives in Tainan."))

    await refiner.run(ROOM)

    assert await stored(database, pool=Pool.LONG) == ["Anna lives in Tainan."]
    assert await stored(database, pool=Pool.LONG, live=False) == [
        "Anna lives in Taipei.",
        "Anna lives in Tainan.",
    ]


async def test_history_passes_to_what_was_made_of_an_entry(database):
    [before] = await put(database, entry("Anna lives in Taipei.", pool=Pool.LONG))
    ids = await _fill(database, text="Anna moved to Tainan {}")
    async with database.unit() as unit:
        await entries_table.supersede(unit, before, by=ids[0])
    refiner, _ = _refiner(database, refined("Anna moved to Tainan."))

    await refiner.run(ROOM)

    found = {one.content: one for one in await every(database)}
    assert found["Anna lives in Taipei."].superseded_by == found["Anna moved to Tainan."].id


async def test_a_batch_never_mixes_two_people(database):
    await _fill(database, 12)
    await _fill(database, 12, text="小明喜歡喝茶第{}種", speaker=MING)
    refiner, model = _refiner(database)
    assert await refiner.run(ROOM) is Refined.NOT_DUE

    await _fill(database, 8, text="小明買了第{}本書", speaker=MING)
    refiner, model = _refiner(database, refined("小明喜歡喝茶和買書"))
    assert await refiner.run(ROOM) is Refined.STORED

    assert "Anna" not in model.requests[0].messages[1].text
    [fact] = [one for one in await every(database) if one.pool is Pool.LONG]
    assert fact.speaker == MING


async def test_a_fact_is_not_merged_with_what_another_person_said_of_themselves(database):
    await put(database, entry("likes green tea", pool=Pool.LONG, speaker=MING))
    await _fill(database, text="likes green tea, kind {}")
    refiner, _ = _refiner(database, refined("likes green tea"))

    await refiner.run(ROOM)

    found = [one.speaker for one in await every(database) if one.pool is Pool.LONG]
    assert found == [MING, ANNA]


async def test_nothing_is_refined_while_people_have_paused_the_pools(database):
    await _fill(database)
    async with database.unit() as unit:
        await queue_table.pause(unit, ROOM, paused=True)
    refiner, model = _refiner(database)

    assert await refiner.run(ROOM) is Refined.NOT_DUE
    assert model.requests == []


async def test_a_fact_goes_with_the_last_message_that_its_batch_was_said_in(database):
    await _fill(database)
    refiner, _ = _refiner(database, refined("Anna likes tea of all kinds."))
    await refiner.run(ROOM)

    async with database.unit() as unit:
        for seq in range(14):
            await entries_table.forget_source(unit, message(seq))
    assert await stored(database, pool=Pool.LONG) == ["Anna likes tea of all kinds."]

    async with database.unit() as unit:
        assert await entries_table.forget_source(unit, message(14)) == 1
    assert await stored(database, pool=Pool.LONG, live=False) == []


async def test_a_fact_goes_with_the_message_of_the_entry_that_it_was_made_of(database):
    """Though the rest of its batch, which says something else, is still there."""
    await _fill(database, 19)
    await put(database, entry("Anna plays the violin", said_at_ns=19, sources=(message(99),)))
    refiner, _ = _refiner(
        database, refined("Anna likes tea.", "Anna plays violin."), refine_batch=20
    )
    await refiner.run(ROOM)

    async with database.unit() as unit:
        assert await entries_table.forget_source(unit, message(99)) == 1

    assert await stored(database, pool=Pool.LONG) == ["Anna likes tea."]


async def test_a_known_fact_that_was_refined_anew_goes_when_both_its_messages_are_gone(database):
    known = entry("Anna likes tea", pool=Pool.LONG, tag=Tag.REFINED, sources=(message(99),))
    await put(database, known)
    await _fill(database)
    refiner, _ = _refiner(database, refined("Anna likes tea."))
    await refiner.run(ROOM)

    async with database.unit() as unit:
        assert await entries_table.forget_source(unit, message(99)) == 0
        for seq in range(15):
            await entries_table.forget_source(unit, message(seq))

    assert await stored(database, pool=Pool.LONG) == []


async def test_the_groups_facts_stay_the_groups(database):
    await _fill(database, text="We meet on day {}", scope=Scope.GROUP)
    refiner, _ = _refiner(database, refined("We meet on many days."))

    await refiner.run(ROOM)

    [fact] = [one for one in await every(database) if one.pool is Pool.LONG]
    assert fact.owner is None


async def test_a_reset_during_the_call_wins(database):
    await _fill(database)

    async def answer(_request):
        async with database.unit() as unit:
            await sessions_table.bump_epoch(unit, ROOM, now_ns=NOON_NS)
        return refined("Anna likes tea.")

    refiner = Refiner(database=database, model=FakeChatModel(answer), settings=PoolSettings())

    assert await refiner.run(ROOM) is Refined.OUTDATED
    assert len(await stored(database, pool=Pool.SHORT)) == 20


async def test_an_entry_that_a_person_deletes_meanwhile_is_not_carried_on(database):
    ids = await _fill(database)

    async def answer(_request):
        async with database.unit() as unit:
            await entries_table.remove(unit, [ids[3]])
        return refined("Anna likes tea number 3 too.")

    refiner = Refiner(database=database, model=FakeChatModel(answer), settings=PoolSettings())

    assert await refiner.run(ROOM) is Refined.OUTDATED
    assert await stored(database, pool=Pool.LONG) == []


async def test_turns_and_idleness_are_triggers_where_they_are_set(database):
    await _fill(database, 3)
    async with database.unit() as unit:
        for _ in range(5):
            await queue_table.count_turn(unit, ROOM, ANNA.person)

    refiner, _ = _refiner(database)
    assert await refiner.run(ROOM) is Refined.NOT_DUE
    refiner, _ = _refiner(database, refined("Anna likes tea."), refine_turns=5)
    assert await refiner.run(ROOM) is Refined.STORED
    await _fill(database, 2)
    refiner, _ = _refiner(database, refined())
    assert await refiner.run(ROOM, idle=True) is Refined.DROPPED
