import numpy as np
import pytest

from memory.pools import entries_table
from memory.pools.entry import Pool, Scope
from memory.pools.ranking import EntryQuery, Period, best, period_of, rank, visible
from tests.memory.pools.stage import ANNA, MING, a_database, entry, every, put


@pytest.fixture
async def database(tmp_path):
    async with a_database(tmp_path) as opened:
        yield opened


async def _best(database, text, person=ANNA, **more):
    entries = visible(await every(database), person.person)
    return [
        one.entry.content for one in best(entries, EntryQuery(text=text, **more), long=3, short=2)
    ]


async def test_a_fixed_number_of_entries_is_given_whatever_the_fit(database):
    await put(database, *[entry(f"Anna owns item {n}", pool=Pool.LONG) for n in range(9)])
    await put(database, *[entry(f"Anna saw film {n}") for n in range(9)])

    found = await _best(database, "completely unrelated words")

    assert found == [
        *[f"Anna owns item {n}" for n in (8, 7, 6)],
        *[f"Anna saw film {n}" for n in (8, 7)],
    ]


@pytest.mark.parametrize(
    ("wanted", "question"),
    [("小明喜歡喝烏龍茶", "我喜歡喝什麼茶？"), ("Anna drinks oolong tea", "which tea do I drink?")],
)
async def test_words_decide_in_chinese_as_in_english(database, wanted, question):
    await put(database, entry(wanted, pool=Pool.LONG))
    await put(database, *[entry(f"其他的事情 number {n}", pool=Pool.LONG) for n in range(20)])

    assert (await _best(database, question))[0] == wanted


async def test_the_newer_one_comes_first_where_the_fit_is_the_same(database):
    await put(
        database, entry("Anna ate ramen", said_at_ns=5), entry("Anna ate ramen too", said_at_ns=9)
    )
    await put(database, entry("Anna ate ramen one", said_at_ns=7))

    assert await _best(database, "hello") == ["Anna ate ramen too", "Anna ate ramen one"]


async def test_nobody_is_shown_another_persons_facts(database):
    await put(database, entry("Anna has a secret plan"))
    await put(database, entry("The group meets on Friday", scope=Scope.GROUP))

    assert await _best(database, "secret plan?", MING) == ["The group meets on Friday"]
    assert "Anna has a secret plan" in await _best(database, "secret plan?", ANNA)


async def test_meaning_finds_what_words_do_not(database):
    ids = await put(database, *[entry(f"note {n}", pool=Pool.LONG) for n in range(8)])
    vectors = np.eye(8, dtype=np.float32)
    async with database.unit() as unit:
        for one, vector in zip(await every(database), vectors, strict=True):
            await entries_table.keep_vector(unit, one, vector.tobytes(), model="m")

    found = await _best(database, "entirely else", vector=vectors[2:3], model="m")
    other = await _best(database, "entirely else", vector=vectors[2:3], model="another")

    assert found[0] == f"note {ids[2] - 1}"
    assert other[0] == "note 7"


async def _moves(database):
    old, middle, new = await put(
        database,
        entry("Anna lives in Taipei", pool=Pool.LONG, said_at_ns=1),
        entry("Anna lives in Tainan", pool=Pool.LONG, said_at_ns=2),
        entry("Anna lives in Hualien", pool=Pool.LONG, said_at_ns=3),
    )
    async with database.unit() as unit:
        await entries_table.supersede(unit, old, by=middle)
        await entries_table.supersede(unit, middle, by=new)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Where does Anna live?", ["Anna lives in Hualien"]),
        ("Where did Anna live before?", ["Anna lives in Tainan"]),
        ("Where did Anna live at first?", ["Anna lives in Taipei"]),
    ],
)
async def test_the_past_is_shown_only_when_it_is_asked_for(database, question, first):
    await _moves(database)

    found = await _best(database, question)

    assert found[: len(first)] == first
    assert len(found) == (1 if "Hualien" in first[0] else 3)


async def test_what_changed_is_found_by_what_it_was(database):
    await _moves(database)
    await put(database, *[entry(f"Anna visited place {n}", pool=Pool.LONG) for n in range(5)])

    entries = visible(await every(database), ANNA.person)
    found = rank(entries, EntryQuery(text="Was I in Taipei before?"))

    assert [one.entry.content for one in found[:3]] == [
        "Anna lives in Tainan",
        "Anna lives in Hualien",
        "Anna lives in Taipei",
    ]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("我現在住哪裡？", Period.NOW),
        ("我以前住哪裡？", Period.BEFORE),
        ("我一開始住哪裡？", Period.FIRST),
        ("How old am I?", Period.NOW),
        ("What did I originally plan?", Period.FIRST),
    ],
)
def test_the_moment_is_told_by_the_words(text, moment):
    assert period_of(text) is moment
