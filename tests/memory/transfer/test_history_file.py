import json
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.language.text import scrub
from memory.transfer.history_file import record_of, to_line
from memory.transfer.interface import BadValue
from memory.values import NewMessage, PersonId, Role, Speaker

TAIPEI = ZoneInfo("Asia/Taipei")
AT_NS = 1_700_000_000_123_456_789


def record(**fields):
    return record_of({"role": "user", "content": "hi"} | fields, 1, TAIPEI)


def test_a_record_keeps_role_text_time_and_sender():
    found = record(content="綠茶", sendAt=AT_NS, sender="小明")

    assert (found.role, found.text, found.sent_at_ns) == (Role.USER, "綠茶", AT_NS)
    assert found.speaker == Speaker(person=PersonId("imported:小明"), name="小明")


def test_the_text_of_a_list_is_its_text_parts_a_line_each():
    parts = [
        {"type": "text", "text": "one"},
        {"type": "image_url", "image_url": {"url": "x"}},
        {"type": "text", "text": "二"},
    ]

    assert record(content=parts).text == "one\n二"


@pytest.mark.parametrize(
    "fields",
    [
        {"content": ""},
        {"content": " \n"},
        {"content": None},
        {"content": [{"type": "image_url"}]},
        {"content": "\x00"},
        {"role": "system"},
        {"role": "tool", "content": "result"},
    ],
)
def test_blank_messages_and_tool_traffic_are_passed_over(fields):
    assert record(**fields) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"role": "robot"},
        {"role": None},
        {"role": ["user"]},
        {"content": 7},
        {"content": ["text"]},
        {"content": [{"type": "text"}]},
        {"sendAt": "2024-01-01"},
        {"sendAt": 1.5e18},
        {"sendAt": True},
        {"sendAt": -1},
        {"sendAt": 2**63},
        {"sender": 7},
    ],
)
def test_a_record_that_is_none_is_refused(fields):
    with pytest.raises(BadValue):
        record(**fields)


def test_control_characters_and_lone_surrogates_do_not_come_in():
    found = record(content="a\x00b\ud800c", sender="n\x00\ud800m")

    assert found.text == "ab�c"
    assert found.speaker.name == "n�m"


def test_the_time_line_of_early_versions_is_taken_for_local_and_leaves_the_text():
    found = record(content="sendAt: 2023-11-15 06:13:20, sender: 小明\nhello")

    assert (found.text, found.sent_at_ns) == ("hello", 1_700_000_000 * 10**9)
    assert found.speaker.name == "小明"


def test_the_time_block_of_early_versions_leaves_the_text():
    found = record(content="---\n當前時間: 2023-11-15 06:13:20\n工作目錄: /home\n---\nhello")

    assert (found.text, found.sent_at_ns) == ("hello", 1_700_000_000 * 10**9)


@pytest.mark.parametrize(
    "text",
    [
        "---\na rule\n---\ntext",
        "---\n當前時間: soon\n---\ntext",
        "text\nsendAt: 2023-11-15 06:13:20\n",
    ],
)
def test_text_between_dashes_is_text(text):
    assert record(content=text).text == text


def test_a_record_with_a_time_of_its_own_keeps_text_that_looks_like_a_header():
    text = "sendAt: 2023-11-15 06:13:20, sender: x\nhello"

    assert record(content=text, sendAt=AT_NS).text == text


texts = st.text().map(scrub).filter(str.strip)
names = texts.map(lambda text: " ".join(text.split())).filter(bool)


@given(
    role=st.sampled_from(Role),
    text=texts,
    at_ns=st.integers(1, 2**63 - 1),
    name=names,
    person=st.integers(0).map(lambda n: f"telegram:{n}"),
    platform_id=st.none() | st.integers(1).map(str),
)
def test_what_is_written_reads_back_equal(role, text, at_ns, name, person, platform_id):
    speaker = Speaker(person=PersonId(person), name=name) if role is Role.USER else None
    message = NewMessage(
        role=role, text=text, sent_at_ns=at_ns, speaker=speaker, platform_id=platform_id
    )

    found = record_of(json.loads(to_line(message)), 1, None)

    assert (found.role, found.text, found.sent_at_ns) == (role, text, at_ns)
    assert (found.speaker, found.platform_id) == (speaker, platform_id)
