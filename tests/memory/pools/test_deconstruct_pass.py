import json
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.database import sessions_table
from memory.errors import ModelAnswerInvalid, ModelTimedOut
from memory.pools import queue_table
from memory.pools.deconstruct_pass import Deconstructor, Distilled
from memory.pools.entry import Pool, Scope
from memory.ports import ModelLimits
from tests.fakes import NOON_NS, FakeChatModel
from tests.memory.pools.stage import (
    ANNA,
    MING,
    ROOM,
    a_database,
    entry,
    every,
    exchange,
    facts,
    message,
    put,
    stored,
)


@pytest.fixture
async def database(tmp_path):
    async with a_database(tmp_path) as opened:
        yield opened


async def _run(database, answer, said, **more):
    model = FakeChatModel([answer])
    outcome = await Deconstructor(database=database, model=model).run(said, **more)
    return outcome, model


async def test_a_turn_leaves_facts_with_speaker_time_and_source(database):
    said = exchange("I live in Taipei and have two cats.", seq=7)

    outcome, _ = await _run(database, facts("Anna lives in Taipei.", "Anna has two cats."), said)

    assert outcome is Distilled.STORED
    for found in await every(database):
        assert (found.pool, found.speaker, found.said_at_ns) == (Pool.SHORT, ANNA, NOON_NS)
        assert found.sources == (message(7),)
    assert await stored(database) == ["Anna lives in Taipei.", "Anna has two cats."]


@pytest.mark.parametrize(
    "text", ["Hi!", "謝謝你！", "おやすみなさい", "> I live in Taipei\nthanks"]
)
async def test_small_talk_asks_no_model(database, text):
    model = FakeChatModel()

    outcome = await Deconstructor(database=database, model=model).run(exchange(text))

    assert outcome is Distilled.SMALL_TALK
    assert model.requests == []


async def test_more_than_three_facts_are_not_stored(database):
    many = [f"fruit {n}" for n in range(6)]

    await _run(database, facts(*many), exchange("I like fruit, a lot of it."))

    assert await stored(database) == many[:3]


async def test_of_a_list_that_was_cut_off_the_whole_facts_are_taken(database):
    cut = facts("Anna likes tea.", "Anna likes coffee.")[:-20]

    await _run(database, cut, exchange("I like tea and coffee"))

    assert await stored(database) == ["Anna likes tea."]


async def test_a_fact_said_again_is_merged_and_keeps_both_sources(database):
    await _run(database, facts("小明喜歡喝綠茶"), exchange("我喜歡喝綠茶", speaker=MING, seq=1))

    later = exchange("我很喜歡喝綠茶", speaker=MING, seq=5, said_at_ns=NOON_NS + 9)
    await _run(database, facts("小明很喜歡喝綠茶。"), later)

    [found] = await every(database)
    assert found.said_at_ns == NOON_NS + 9
    assert set(found.sources) == {message(1), message(5)}


async def test_the_same_fact_of_two_people_stays_two(database):
    await _run(database, facts("Likes green tea."), exchange("I like green tea"))
    await _run(database, facts("Likes green tea."), exchange("I like green tea", speaker=MING))

    assert len(await every(database)) == 2


async def test_a_fact_about_the_group_said_again_is_merged_whoever_says_it(database):
    answer = json.dumps({"facts": [{"fact": "We meet on Monday.", "about_group": True}]})
    for speaker in (ANNA, MING):
        said = exchange("We meet on Monday.", speaker=speaker, group=True)
        await _run(database, answer, said)

    [found] = await every(database)
    assert found.scope is Scope.GROUP


async def test_nothing_is_stored_of_a_turn_whose_mark_was_taken_away(database):
    """Its message was deleted or edited, or the session reset, while the model was asked."""
    async with database.unit() as unit:
        mark = await queue_table.mark(unit, ROOM, seq=None)
        await queue_table.done(unit, mark)

    outcome, _ = await _run(database, facts("Anna likes tea."), exchange("I like tea"), mark=mark)

    assert outcome is Distilled.MOVED
    assert await every(database) == []


async def test_what_was_shown_or_quoted_is_not_stored_again(database):
    said = exchange(
        "> Bob owns a boat\nYes, and I bought a kayak",
        reply="You live in Taipei, right?",
        shown=("Anna lives in Taipei.",),
    )

    answer = facts("Anna lives in Taipei", "Bob owns a boat", "Anna bought a kayak.")
    _, model = await _run(database, answer, said)

    assert await stored(database) == ["Anna bought a kayak."]
    assert "Bob owns" not in model.requests[0].messages[1].text


async def test_a_fact_without_any_ground_in_the_turn_is_made_up(database):
    outcome, _ = await _run(database, facts("Anna owns a helicopter."), exchange("I like tea"))

    assert outcome is Distilled.NOTHING
    assert await stored(database) == []


async def test_a_chinese_turn_stores_no_english_fact(database):
    said = exchange("我下個月要去東京出差", speaker=MING)

    await _run(database, facts("小明 goes to 東京 next month", "小明下個月要去東京出差"), said)
    _, model = await _run(database, facts("Ming will go on a trip"), said)

    assert await stored(database) == ["小明 goes to 東京 next month", "小明下個月要去東京出差"]
    assert "Traditional Chinese" in model.requests[0].messages[1].text


async def test_simplified_chinese_is_stored_as_traditional(database):
    await _run(database, facts("小明喜欢软件开发"), exchange("我喜欢软件开发", speaker=MING))

    assert await stored(database) == ["小明喜歡軟體開發"]


CHANGE = [
    (ANNA, "Anna lives in Taipei.", "I moved to Tainan last week", "Anna moved to Tainan."),
    (MING, "小明住在台北", "我上週搬到台南了", "小明搬到台南"),
]


@pytest.mark.parametrize(("who", "old", "text", "new"), CHANGE)
async def test_a_changed_fact_supersedes_the_old_one_which_stays_linked(
    database, who, old, text, new
):
    [before] = await put(database, entry(old, speaker=who, pool=Pool.LONG))

    await _run(database, facts(new), exchange(text, speaker=who))

    found = {one.content: one for one in await every(database)}
    assert found[old].superseded_by == found[new].id
    assert found[old].id == before


@pytest.mark.parametrize(("who", "old", "text", "new"), CHANGE)
async def test_the_way_back_supersedes_too(database, who, old, text, new):
    await put(database, entry(old, speaker=who))
    await _run(database, facts(new), exchange(text, speaker=who))

    back = "I moved back to Taipei" if who is ANNA else "我又搬回台北住了"
    await _run(database, facts(old), exchange(back, speaker=who))

    assert await stored(database) == [old]
    assert await stored(database, live=False) == [old, new, old]


async def test_the_model_points_at_what_changed_by_its_number(database):
    diet, cat = await put(
        database, entry("Anna eats no meat."), entry("Anna has a cat that eats a lot.")
    )
    said = exchange("I eat meat again, since last month")

    answer = facts("Anna eats meat again.", replaces=[diet, 999, "x", True])
    _, model = await _run(database, answer, said)

    assert f"[{diet}] Anna eats no meat." in model.requests[0].messages[1].text
    found = {one.id: one for one in await every(database)}
    assert not found[diet].live
    assert found[cat].live


async def test_a_note_that_has_nothing_to_do_with_the_fact_is_not_given_up_for_it(database):
    tea, kayak = await put(database, entry("Anna likes tea."), entry("Anna owns a kayak."))
    said = exchange("I like tea, and my kayak, and my sister Lisa visits")

    await _run(database, facts("Anna's sister Lisa visits.", replaces=[tea, kayak]), said)

    assert all(one.live for one in await every(database))


async def test_a_note_about_somebody_else_is_not_given_up_whatever_the_model_says(database):
    [own] = await put(database, entry("小明住在台北", speaker=MING))
    said = exchange("我妹妹住在高雄，她搬過去兩年了", speaker=MING)

    await _run(database, facts("小明的妹妹住在高雄", replaces=[own]), said)

    assert await stored(database) == ["小明住在台北", "小明的妹妹住在高雄"]


@pytest.mark.parametrize(("who", "old", "text", "new"), CHANGE)
async def test_one_persons_change_leaves_anothers_fact_alone(database, who, old, text, new):
    other = MING if who is ANNA else ANNA
    [theirs] = await put(database, entry(old, speaker=other))

    _, model = await _run(database, facts(new, replaces=[theirs]), exchange(text, speaker=who))

    assert old in await stored(database)
    assert old not in model.requests[0].messages[1].text


async def test_only_in_a_group_a_fact_may_be_about_the_group(database):
    answer = json.dumps({"facts": [{"fact": "The group meets Fridays.", "about_group": True}]})

    await _run(database, answer, exchange("Our group meets Fridays", group=True))
    await _run(database, answer, exchange("Our group meets Fridays", group=False))

    assert [one.scope for one in await every(database)] == [Scope.GROUP, Scope.PERSON]


async def test_a_reset_meanwhile_wins(database):
    async def answer(_request):
        async with database.unit() as unit:
            await sessions_table.bump_epoch(unit, ROOM, now_ns=NOON_NS)
        return facts("Anna likes tea.")

    model = FakeChatModel(answer)
    outcome = await Deconstructor(database=database, model=model).run(exchange("I like tea"))

    assert outcome is Distilled.MOVED
    assert await stored(database) == []


async def test_paused_pools_take_nothing_in(database):
    async with database.unit() as unit:
        await queue_table.pause(unit, ROOM, paused=True)

    outcome, _ = await _run(database, facts("Anna likes tea."), exchange("I like tea"))

    assert outcome is Distilled.MOVED
    assert await stored(database) == []


async def test_the_mark_goes_with_success_and_stays_with_failure(database):
    async with database.unit() as unit:
        mark = await queue_table.mark(unit, ROOM, seq=None)
    passes = Deconstructor(
        database=database, model=FakeChatModel([ModelTimedOut("slow"), facts("Anna likes tea.")])
    )

    with pytest.raises(ModelTimedOut):
        await passes.run(exchange("I like tea"), mark=mark)
    async with database.reading() as reader:
        assert (await queue_table.state(reader, ROOM)).waiting == 1

    await passes.run(exchange("I like tea"), mark=mark)
    async with database.reading() as reader:
        assert (await queue_table.state(reader, ROOM)).waiting == 0


async def test_a_long_message_is_read_as_far_as_the_model_can(database):
    limits = ModelLimits(context_tokens=1024, prompt_tokens=600, reply_tokens=200)
    model = FakeChatModel([facts()], limits=limits)

    await Deconstructor(database=database, model=model).run(exchange("茶很好喝，" * 2_000))

    assert len(model.requests[0].messages[1].text) < 700


BROKEN = st.one_of(
    st.text(max_size=200),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=60),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["facts", "fact", "replaces", "x"]), inner, max_size=3
            )
        ),
        max_leaves=12,
    ).map(lambda value: json.dumps(value, ensure_ascii=False)),
    st.text(max_size=40).map(lambda text: f'<think>{text}</think>{{"facts": ["{text}'),
    st.text(max_size=40).map(lambda text: f'```json\n{{"facts": [{{"fact": "{text}"}}]}}\n```'),
    st.just('{"facts": [{"fact": "Anna \ud800 likes tea", "replaces": [1e999]}]}'),
)


async def test_a_thousand_broken_answers_store_no_garbage_and_lose_no_turn(database):
    seen = count()
    passes = []
    text = "I like tea and moved to Tainan"

    @settings(
        max_examples=1_000,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(BROKEN)
    def collect(answer):
        next(seen)
        passes.append(answer)

    collect()
    await put(database, entry("Anna lives in Taipei.", sources=(message(1),)))
    lost = 0
    for answer in passes:
        async with database.unit() as unit:
            mark = await queue_table.mark(unit, ROOM, seq=None)
        model = FakeChatModel([answer])
        try:
            await Deconstructor(database=database, model=model).run(exchange(text), mark=mark)
        except ModelAnswerInvalid:
            lost += 1

    assert next(seen) >= 1_000
    async with database.reading() as reader:
        assert (await queue_table.state(reader, ROOM)).waiting == lost
    for one in await every(database):
        assert one.sources
        assert 5 <= len(one.content) <= 120
        assert one.live or one.superseded_by
        words = one.content.casefold()
        assert any(word in words for word in ("tea", "taipei", "tainan", "like", "move")), words
