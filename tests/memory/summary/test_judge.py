import asyncio
import json

import pytest

from memory.errors import ModelTimedOut
from memory.ports import ModelLimits, Priority
from memory.summary.judge import PASS_LIMIT_S, REPLY_LIMIT_S, Item, Judge
from tests.fakes import FakeChatModel

GROUPS = [Item(id=n, text=text) for n, text in enumerate(["早安", "I moved to Kyoto", "thanks"], 1)]
BROKEN = ["", "no", "[]", '{"noise": 3}', '{"noise": [{"id": 1, "conf', ModelTimedOut("slow")]


def noise(*pairs):
    return json.dumps({"noise": [{"id": i, "confidence": c} for i, c in pairs]})


async def test_noise_counts_from_a_confidence_of_seven_tenths():
    judge = Judge(FakeChatModel([noise((1, 0.7), (2, 0.69), (3, 1.0))]))

    assert (await judge.noise(GROUPS)).ids == {1, 3}


async def test_ids_that_were_never_given_and_confidences_that_are_none_are_ignored():
    answer = noise((9, 1.0), (-1, 1.0), (True, 1.0), (2, "high"), (3, 7), ("1", 0.9))

    assert (await Judge(FakeChatModel([answer])).noise(GROUPS)).ids == {1}


@pytest.mark.parametrize("reply", BROKEN)
async def test_a_failed_judgement_keeps_everything(reply):
    found = await Judge(FakeChatModel([reply])).noise(GROUPS)

    assert (found.ids, found.sound, found.calls) == (frozenset(), False, 1)


async def test_without_a_decision_model_nothing_is_pointed_at_and_nothing_asked():
    judge = Judge(None)

    assert not (await judge.noise(GROUPS)).ids
    assert not (await judge.superseded(GROUPS, GROUPS)).ids
    assert not (await judge.relevant("hi", GROUPS)).sound


async def test_judgements_of_a_pass_give_way_to_people_and_ask_for_json():
    model = FakeChatModel([noise()])

    await Judge(model).noise(GROUPS)

    [request] = model.requests
    assert request.priority is Priority.BACKGROUND
    assert request.schema["required"] == ["noise"]
    assert request.temperature == 0


async def test_there_is_one_call_for_each_batch_that_fits_the_model():
    limits = ModelLimits(context_tokens=1_000, prompt_tokens=700, reply_tokens=300)
    items = [Item(id=n, text="貓" * 100) for n in range(20)]
    model = FakeChatModel(lambda _: noise((0, 1), (19, 1)), limits=limits)

    found = await Judge(model).noise(items)

    assert found.ids == {0, 19}
    assert found.calls == len(model.requests)
    assert 2 < found.calls < 20
    texts = "\n".join(request.messages[1].text for request in model.requests)
    assert [f"[{n}]" in texts for n in range(20)] == [True] * 20


async def test_one_failed_batch_keeps_everything():
    limits = ModelLimits(context_tokens=1_000, prompt_tokens=700, reply_tokens=300)
    items = [Item(id=n, text="x" * 700) for n in range(3)]
    model = FakeChatModel([noise((0, 1)), "broken"], limits=limits)

    assert not (await Judge(model).noise(items)).ids


async def test_superseded_entries_are_found_by_their_ids():
    model = FakeChatModel([json.dumps({"superseded": [1, "[3]", 8]})])

    found = await Judge(model).superseded(GROUPS, [Item(id=8, text="no longer")])

    assert found.ids == {1, 3}


async def test_without_entries_nobody_is_asked_what_is_superseded():
    model = FakeChatModel()

    assert (await Judge(model).superseded([], GROUPS)).calls == 0


async def test_general_rules_and_relevant_entries_are_kept_together():
    model = FakeChatModel([json.dumps({"general": [1], "relevant": [3, 99]})])

    found = await Judge(model).relevant("貓呢？", GROUPS)

    assert (found.ids, found.sound) == ({1, 3}, True)
    assert model.requests[0].priority is Priority.INTERACTIVE


async def test_an_empty_answer_says_that_nothing_is_relevant():
    model = FakeChatModel([json.dumps({"general": [], "relevant": []})])

    found = await Judge(model).relevant("hi", GROUPS)

    assert (found.ids, found.sound) == (frozenset(), True)


async def test_an_answer_of_unknown_ids_alone_is_a_failure():
    model = FakeChatModel([json.dumps({"general": [], "relevant": [77]})])

    assert not (await Judge(model).relevant("hi", GROUPS)).sound


@pytest.mark.looptime
@pytest.mark.parametrize(("ask", "limit_s"), [("relevant", REPLY_LIMIT_S), ("noise", PASS_LIMIT_S)])
async def test_no_judgement_is_waited_for_longer_than_its_limit(ask, limit_s):
    judge = Judge(FakeChatModel([noise()], delay_s=1_000))
    began = asyncio.get_running_loop().time()

    found = await (judge.noise(GROUPS) if ask == "noise" else judge.relevant("hi", GROUPS))

    assert not found.sound
    assert asyncio.get_running_loop().time() - began == pytest.approx(limit_s)
