import sqlite3
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory.language.segments import (
    FTS5_TOKENIZE,
    indexed,
    keywords,
    match_all,
    phrase,
    segments,
    terms,
)


@pytest.fixture(scope="module")
def index():
    with_fts = sqlite3.connect(":memory:")
    with_fts.execute(f'CREATE VIRTUAL TABLE words USING fts5(body, tokenize="{FTS5_TOKENIZE}")')
    yield with_fts
    with_fts.close()


def found(index, text, query):
    index.execute("DELETE FROM words")
    index.execute("INSERT INTO words VALUES (?)", (indexed(7, text),))
    return index.execute("SELECT count(*) FROM words WHERE words MATCH ?", (query,)).fetchone()[0]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我每天早上喝一杯綠茶", "綠茶"),
        ("我每天早上喝一杯绿茶", "綠茶"),
        ("我每天早上喝一杯綠茶", "绿茶"),
        ("我每天早上喝一杯綠茶", "茶"),
        ("我每天早上喝一杯綠茶", "早上喝一杯"),
        ("来週は東京に行きます", "東京"),
        ("ｶﾞﾗｽが割れた", "ガラス"),
        ("오늘 회의가 있어요", "회의"),
        ("she turned 90 in May", "90"),
        ("I write c++ and C# for a living", "c++"),
        ("I write c++ and C# for a living", "C#"),
        ("I write c++ and C# for a living", "c"),
        ("it's raining", "it's"),
        ("it’s raining", "it's"),
        ("Caroline's bag", "caroline"),
        ("she tries again", "try"),
        ("we don't know", "dont"),
        ("set memory:safe there", "memory:safe"),
        ("say (python please", "(python"),
        ("two meetings and a painted box", "meeting paint"),
        ("Café Müller", "cafe muller"),
        ("so happy 😀 today", "😀"),
        ("well done 👍🏽", "👍"),
        ("ＦＵＬＬ width", "full"),
    ],
)
def test_what_was_written_is_found_by_what_people_type(index, text, query):
    assert found(index, text, match_all(terms(query), scope=7))


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("the letter c alone", "c++"),
        ("綠色的茶", "綠茶"),
        ("safe memory", "memory:safe"),
        ("she turned 90", "9"),
        ("a painter", "sculptor"),
    ],
)
def test_what_was_not_written_is_not_found(index, text, query):
    assert not found(index, text, match_all(terms(query), scope=7))


def test_all_words_must_match_in_any_order(index):
    assert found(index, "tea in Taipei 喝茶", match_all(terms("taipei 茶 tea"), scope=7))
    assert not found(index, "tea in Taipei", match_all(terms("taipei coffee"), scope=7))


def test_a_phrase_must_stand_together(index):
    text = "其實我愛 c++ 勝過一切"

    assert found(index, text, match_all([phrase("我愛 c++")], scope=7))
    assert not found(index, text, match_all([phrase("c++ 我愛")], scope=7))


def test_a_question_keeps_what_carries_meaning():
    assert keywords("What did Caroline's sister do in C++?") == ["carolin", "sister", "c++"]
    assert keywords("我的綠茶呢") == ["的綠", "綠茶", "茶呢", "綠", "茶"]
    assert keywords("what is it?") == []


def test_another_scope_finds_nothing(index):
    assert not found(index, "綠茶 and tea", match_all(terms("茶"), scope=70))


def test_no_words_make_no_query():
    assert terms('" ( ) * -') == []
    assert match_all([], scope=7) == ""


@given(st.text(), st.text())
@example("c++", '"')
@example("\x00", "NEAR(a, b) OR - ^ *")
@example("\ud800", "\ud800x")
@settings(max_examples=300, deadline=None)
def test_no_text_can_break_a_query(index, text, query):
    text, query = (part.encode("utf-8", "replace").decode() for part in (text, query))

    for match in (
        match_all(terms(query), scope=7),
        match_all([(word,) for word in keywords(query)], scope=7),
        match_all([phrase(query)], scope=7),
    ):
        if match.strip('"'):
            found(index, text, match)


@given(st.text(alphabet="綠茶東京ab c+'90😀", min_size=1))
def test_every_text_is_found_by_itself(index, text):
    if words := phrase(text):
        assert found(index, f"前文 {text} after", match_all([words], scope=7))


def test_segmenting_twenty_thousand_messages_takes_seconds_not_minutes():
    message = "昨天去了東京的咖啡店，然後 I was painting with my sisters 喝了綠茶 until 9:30 pm 😀"
    began = time.perf_counter()

    for number in range(2_000):
        segments(f"{message} {number}")

    assert time.perf_counter() - began < 1.0
