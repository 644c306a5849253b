import pytest

from memory.values import Mode
from tests.memory.modes.test_modes import a_talk, extractor
from tests.memory.pools.stage import ROOM, stored


async def say(talk, text):
    """A whole turn; the platform's id of its message."""
    await talk.say(text)
    return f"m{talk.clock.now_ns()}"


@pytest.fixture
async def talk(tmp_path):
    async with a_talk(tmp_path, Mode.POOLS, extractor, recent_turns=4) as opened:
        yield opened


async def test_a_message_deleted_before_it_was_distilled_leaves_no_fact(talk):
    kayak, _ = await say(talk, "I own a kayak"), await say(talk, "I own a canoe")

    await talk.engine.corrections.deleted(ROOM, [kayak])
    await talk.catch_up()

    assert await stored(talk.database) == ["Anna own a canoe"]
    assert "kayak" not in str(talk.model.requests)
    state = await talk.engine.pools.state(ROOM)
    assert (state.waiting, state.lost_turns) == (0, 0)


async def test_a_message_deleted_while_it_is_distilled_leaves_no_fact(tmp_path):
    async with a_talk(tmp_path, Mode.POOLS) as talk:
        kayak = await say(talk, "I own a kayak")

        async def answer(request):
            await talk.engine.corrections.deleted(ROOM, [kayak])
            return extractor(request)

        talk.model._script = answer
        await talk.catch_up()

        assert await stored(talk.database) == []


async def test_where_only_the_place_is_known_a_deleted_message_leaves_no_fact_either(talk):
    kayak = await say(talk, "I own a kayak")

    await talk.engine.corrections.deleted_there(["cli-r*"], [kayak])
    await talk.catch_up()

    assert await stored(talk.database) == []


async def test_the_old_words_of_an_edited_message_are_not_distilled(talk):
    kayak = await say(talk, "I own a kayak")

    assert await talk.engine.corrections.edited(ROOM, kayak, "I own a raft")
    await talk.catch_up()

    assert "kayak" not in str(await stored(talk.database))


@pytest.mark.parametrize("change", ["deleted", "deleted_there", "edited"])
async def test_recent_turns_in_memory_follow_a_correction(talk, change):
    kayak = await say(talk, "I own a kayak")
    await talk.say("I own a canoe")
    await talk.catch_up()

    if change == "edited":
        await talk.engine.corrections.edited(ROOM, kayak, "I own a raft")
    elif change == "deleted":
        await talk.engine.corrections.deleted(ROOM, [kayak])
    else:
        await talk.engine.corrections.deleted_there(["cli-*"], [kayak])
    _, composed = await talk.compose("what do I own?")

    assert "kayak" not in str(composed.prompt.messages)
    assert "I own a canoe" in str(composed.prompt.messages)


async def test_a_recent_turn_that_left_no_fact_goes_with_its_message_too(talk):
    asked = await say(talk, "where is Zanzibar?")

    await talk.engine.corrections.deleted_there(["cli-*"], [asked])
    _, composed = await talk.compose("and Pemba?")

    assert "Zanzibar" not in str(composed.prompt.messages)


async def test_a_message_of_the_same_id_in_another_session_stays(talk):
    kayak = await say(talk, "I own a kayak")

    await talk.engine.corrections.deleted("cli-other", [kayak])
    await talk.catch_up()

    assert await stored(talk.database) == ["Anna own a kayak"]


async def test_nothing_of_a_turn_waits_in_memory_while_the_pools_are_paused(talk):
    await talk.engine.pools.pause(ROOM, paused=True)

    await say(talk, "I own a kayak")

    assert talk.engine.afterwork.in_memory() == []


@pytest.mark.parametrize("change", ["deleted", "reset"])
async def test_a_turn_that_was_pushed_out_and_deleted_is_not_waited_for(talk, change):
    talk.engine._modes[Mode.POOLS]._most_waiting = 0
    kayak = await say(talk, "I own a kayak")

    if change == "deleted":
        await talk.engine.corrections.deleted(ROOM, [kayak])
    else:
        await talk.engine.reset(ROOM, everything=False)

    assert talk.engine.afterwork.in_memory() == []
    await talk.catch_up()
    assert (await talk.engine.pools.state(ROOM)).lost_turns == 0
