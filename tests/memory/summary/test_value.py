import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.summary.value import (
    MOST_DECISIONS,
    MOST_TOPICS,
    TEXT_CHARS,
    Current,
    Summary,
    Topic,
    in_taiwan_chinese,
    read_summary,
    summary_schema,
    to_json,
    without_least,
)

FULL = Summary(
    key_decisions=("Do: 用繁體中文回答", "Don't: use tables"),
    past_discussions=(
        Topic(
            topic="Trip", description="Kyoto", direction="May", last_discussed="2026-01-02 09:30"
        ),
    ),
    current_discussion=Current(topic="貓", description="叫麻糬", perspectives="x", direction="y"),
)


def parsed(**fields):
    return read_summary(json.dumps({"key_decisions": [], "past_discussions": [], **fields}))


def test_a_summary_survives_being_written_and_read():
    assert read_summary(to_json(FULL)) == FULL


def test_all_fields_are_written_even_when_nothing_stands_in_them():
    assert json.loads(to_json(Summary())) == {
        "key_decisions": [],
        "past_discussions": [],
        "current_discussion": {"topic": "", "description": "", "perspectives": "", "direction": ""},
    }
    assert list(json.loads(to_json(FULL))) == summary_schema()["required"]


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("Do: be brief", "Do: be brief"),
        ("do：be brief", "Do: be brief"),
        ("Don’t: shout", "Don't: shout"),
        ("DON'T: shout", "Don't: shout"),
        ("要：用表格", "Do: 用表格"),
        ("不要： 用表格", "Don't: 用表格"),
        ("する：敬語", "Do: 敬語"),
        ("しない: 絵文字", "Don't: 絵文字"),
        ("answer in French", "Do: answer in French"),
    ],
)
def test_every_decision_gets_its_english_marker_and_old_ones_are_rewritten(written, wanted):
    assert parsed(key_decisions=[written]).key_decisions == (wanted,)


def test_a_marker_without_a_decision_is_no_decision():
    assert parsed(key_decisions=["Do: ", "不要：", "  "]).key_decisions == ()


def test_lists_are_clamped_to_the_newest_decisions_and_the_last_discussed_topics():
    topics = [{"topic": f"t{n}", "last_discussed": f"2026-01-{31 - n:02} 10:00"} for n in range(12)]

    read = parsed(key_decisions=[f"Do: {n}" for n in range(12)], past_discussions=topics)

    assert read.key_decisions == tuple(f"Do: {n}" for n in range(4, 12))
    assert [topic.topic for topic in read.past_discussions] == [f"t{n}" for n in range(8)]
    assert (len(read.key_decisions), len(read.past_discussions)) == (MOST_DECISIONS, MOST_TOPICS)


def test_the_same_topic_or_decision_stands_once_as_it_was_last_given():
    read = parsed(
        key_decisions=["Do: a", "Do: b", "do: A"],
        past_discussions=[
            {"topic": "X", "direction": "old"},
            {"topic": "y"},
            {"topic": "x", "direction": "new"},
        ],
    )

    assert read.key_decisions == ("Do: b", "Do: A")
    assert [(t.topic, t.direction) for t in read.past_discussions] == [("y", ""), ("x", "new")]


def test_texts_are_one_line_of_bounded_length_without_lone_surrogates():
    read = parsed(current_discussion={"topic": "a\n\nb", "description": "\ud800" + "長" * 999})

    assert read.current_discussion.topic == "a b"
    assert len(read.current_discussion.description) == TEXT_CHARS
    read.current_discussion.description.encode()


def test_a_time_that_is_none_is_left_empty():
    times = ["2026-02-30 10:00", "yesterday", "2026-02-03T10:00:59Z", ""]

    read = parsed(past_discussions=[{"topic": t, "last_discussed": t} for t in times if t])

    assert [t.last_discussed for t in read.past_discussions] == ["", "", "2026-02-03 10:00"]


def test_the_old_keys_are_read():
    old = {
        "core_discussion": "買車",
        "discussion_log": [{"topic": "預算", "conclusion": "三十萬", "time": "2025-01-01 08:00"}],
        "confirmed_needs": ["不要：二手車", "省油"],
        "current_conclusion": ["油電車"],
    }

    assert read_summary(json.dumps(old)) == Summary(
        key_decisions=("Don't: 二手車", "Do: 省油"),
        past_discussions=(
            Topic(topic="預算", direction="三十萬", last_discussed="2025-01-01 08:00"),
        ),
        current_discussion=Current(topic="買車", direction="油電車"),
    )


@pytest.mark.parametrize(
    "answer",
    [
        "{}",
        '{"key_decisions": []}',
        '{"key_decisions": "Do: x", "past_discussions": []}',
        '{"key_decisions": [1], "past_discussions": []}',
        '{"key_decisions": [], "past_discussions": ["x"]}',
        '{"key_decisions": [], "past_discussions": [], "current_discussion": null}',
        '{"key_decisions": [], "past_discussions": [{"topic": {"deep": 1}}]}',
        to_json(FULL)[:-1],
        "I am sorry, I cannot do that.",
    ],
)
def test_what_is_no_summary_is_refused_whole(answer):
    assert read_summary(answer) is None


def test_chinese_becomes_taiwan_traditional_and_japanese_stays():
    chinese = replace(FULL, key_decisions=("Do: 用数据库保存", "Don't: 用软件"))
    japanese = Summary(
        key_decisions=("Do: 敬語で話す",),
        current_discussion=Current(topic="国会", description="開発計画についての話"),
    )

    assert in_taiwan_chinese(chinese).key_decisions == ("Do: 用資料庫儲存", "Don't: 用軟體")
    assert in_taiwan_chinese(japanese) == japanese


def test_a_summary_is_shortened_by_old_topics_first_and_decisions_last():
    summary, seen = FULL, []
    while summary is not None:
        seen.append(
            (
                len(summary.past_discussions),
                bool(summary.current_discussion.topic),
                len(summary.key_decisions),
            )
        )
        summary = without_least(summary)

    assert seen == [(1, True, 2), (0, True, 2), (0, False, 2), (0, False, 1), (0, False, 0)]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from([*summary_schema()["required"], "x"]), json_values))
def test_any_object_is_a_sound_summary_or_none(found):
    read = read_summary(json.dumps(found))

    assert read is None or read_summary(to_json(read)) == read
