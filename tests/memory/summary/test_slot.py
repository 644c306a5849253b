import json

import pytest

from memory.errors import ModelUnreachable
from memory.summary.entries import all_entries, general_rules, only, without
from memory.summary.judge import Judge
from memory.summary.slot import SummarySlot, relevant_part
from memory.summary.value import Current, Summary, Topic, read_summary
from tests.fakes import FakeChatModel

SUMMARY = Summary(
    key_decisions=("Do: 用繁體中文回答", "Do: meet on Friday"),
    past_discussions=(
        Topic(topic="Trip", description="Kyoto", last_discussed="2026-01-01 10:00"),
        Topic(topic="Cat", description="麻糬", last_discussed="2026-02-01 10:00"),
    ),
    current_discussion=Current(topic="dinner"),
)


def judge(**answer):
    return Judge(FakeChatModel([json.dumps(answer)]))


def test_the_slot_is_the_summary_as_json_under_its_heading():
    text = SummarySlot(summary=SUMMARY).render()

    assert text.startswith("## Prior summary\n{")
    assert read_summary(text) == SUMMARY


def test_an_empty_summary_takes_no_room():
    assert SummarySlot().render() == ""
    assert SummarySlot().shorter() is None


def test_the_slot_gives_up_its_entries_one_by_one():
    slot, texts = SummarySlot(summary=SUMMARY), []
    while slot is not None:
        texts.append(slot.render())
        slot = slot.shorter()

    assert len(texts) == 6
    assert "Kyoto" not in texts[1]
    assert "繁體" not in texts[4]
    assert "Friday" in texts[4]
    assert texts[5] == ""


async def test_only_relevant_entries_are_shown_and_the_stored_summary_is_untouched():
    part = await relevant_part(judge(general=[], relevant=[4]), SUMMARY, "my cat?")

    assert part == Summary(
        key_decisions=SUMMARY.key_decisions[:1], past_discussions=SUMMARY.past_discussions[1:]
    )
    assert len(all_entries(SUMMARY)) == 5


async def test_a_general_rule_is_relevant_whatever_the_model_says():
    part = await relevant_part(judge(general=[], relevant=[]), SUMMARY, "hm")

    assert part == Summary(key_decisions=("Do: 用繁體中文回答",))


async def test_with_nothing_relevant_the_summary_is_left_out():
    summary = only(SUMMARY, {2, 3, 4, 5})

    part = await relevant_part(judge(general=[], relevant=[]), summary, "hm")

    assert SummarySlot(summary=part).render() == ""


@pytest.mark.parametrize("reply", ["", "no", '{"relevant": 3}', ModelUnreachable("x")])
async def test_when_the_judgement_fails_everything_is_shown(reply):
    assert await relevant_part(Judge(FakeChatModel([reply])), SUMMARY, "hm") == SUMMARY


async def test_without_a_decision_model_everything_is_shown():
    assert await relevant_part(Judge(None), SUMMARY, "hm") == SUMMARY


@pytest.mark.parametrize(
    ("decision", "general"),
    [
        ("Do: answer in English", True),
        ("Don't: use emojis", True),
        ("Do: 回答要簡短", True),
        ("Do: 敬語で話す", True),
        ("Do: meet on Friday", False),
        ("Don't: 買二手車", False),
        ("Do: 京都に行く", False),
    ],
)
def test_rules_of_language_format_and_work_are_told_from_other_decisions(decision, general):
    assert bool(general_rules(Summary(key_decisions=(decision,)))) is general


def test_overturned_entries_are_taken_out_and_the_current_topic_stays():
    left = without(SUMMARY, {1, 4, 5, 99})

    assert left.key_decisions == ("Do: meet on Friday",)
    assert [topic.topic for topic in left.past_discussions] == ["Trip"]
    assert left.current_discussion == SUMMARY.current_discussion
