import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.language.loose_json import objects, without_thinking

ANSWER = {"a": {"b": [1, {"c": "}"}]}, "話": "好"}
WRITTEN = json.dumps(ANSWER, ensure_ascii=False)


@pytest.mark.parametrize(
    "text",
    [
        WRITTEN,
        f"```json\n{WRITTEN}\n```",
        f"Here you are: {WRITTEN} Hope it helps {{smile}}!",
        f"好的，這是結果：<summary>{WRITTEN}</summary>",
        f"[summary]{WRITTEN}[/summary]",
        f'<think>maybe {{"x": 1}}?</think>{WRITTEN}',
        f'so {{"x": 1}}, then</think>\n{WRITTEN}',
        f"set {{x | x > 0}} and {WRITTEN}",
    ],
)
def test_the_object_is_found_in_whatever_stands_round_it(text):
    assert objects(text) == [ANSWER]


@pytest.mark.parametrize("said", ["closed </think> here", "opened <think> here", "<think></think>"])
def test_an_answer_that_is_one_object_keeps_the_tags_that_stand_in_its_texts(said):
    assert objects(f"\n{json.dumps({'a': said})}\n") == [{"a": said}]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON here",
        "[1, 2]",
        '{"a": NaN}',
        '{"a": 1',
        "<think>" + WRITTEN,
        "{'a': 1}",
        "{" * 5_000,
        '{"a":' + "[" * 100_000,
        '{"n": ' + "9" * 5_000 + "}",
    ],
)
def test_what_is_no_complete_object_is_not_made_into_one(text):
    assert objects(text) == []


def test_of_a_cut_off_object_only_the_complete_ones_inside_are_found():
    assert objects('{"list": [{"a": 1}, {"b": 2}, {"c": ') == [{"a": 1}, {"b": 2}]


def test_a_raw_line_break_inside_a_string_passes():
    assert objects('{"a": "one\ntwo"}') == [{"a": "one\ntwo"}]


def test_thinking_is_taken_out_whole_unclosed_and_without_its_start():
    assert without_thinking("<think>a</think>b<THINKING>c</thinking>d") == "bd"
    assert without_thinking("b<think>a") == "b"
    assert without_thinking("a</think>b") == "b"


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='{}[]":,\\a1<>/think \ud800', max_size=300))
def test_no_text_makes_it_raise(text):
    assert all(isinstance(found, dict) for found in objects(text))
