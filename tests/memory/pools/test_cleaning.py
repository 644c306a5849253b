import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.pools.cleaning import cleaned, in_language_of, is_none
from memory.pools.entry import CONTENT_CHARS


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("1. Anna likes tea.", "Anna likes tea."),
        ("- 「小明喜歡喝茶」", "小明喜歡喝茶"),
        ("The user likes tea.", "Anna likes tea."),
        ("使用者喜歡喝茶", "Anna喜歡喝茶"),
        ("我住在台北", "Anna住在台北"),
        ("Anna 喜歡喝绿茶和软件", "Anna 喜歡喝綠茶和軟體"),
        ("3 cats live with Anna.", "3 cats live with Anna."),
        ("2.5 km is what Anna runs.", "2.5 km is what Anna runs."),
        ("他吃素", "他吃素"),
        ("Anna wrote: My dog is called Rex.", "Anna's dog is called Rex."),
        ("Anna is allergic to shrimp,", "Anna is allergic to shrimp"),
        ("Anna說：喜歡喝茶", "喜歡喝茶"),
    ],
)
def test_a_fact_loses_its_trimmings_and_names_the_person(written, stored):
    assert cleaned(written, name="Anna") == stored


@pytest.mark.parametrize(
    "written",
    [
        "",
        "無",
        "無。",
        "沒有",
        "none",
        "None.",
        "Nothing to note",
        "N/A",
        "abcd",
        "吃素",
        "{}",
        "...",
        "fact",
        "There is no fact here.",
        "Anna said hello",
        "🎉🎉🎉🎉🎉",
    ],
)
def test_what_says_nothing_is_no_fact(written):
    assert cleaned(written) is None


def test_a_fact_about_a_conversation_is_kept():
    assert cleaned("小明喜歡對話練習") == "小明喜歡對話練習"


@given(st.text(max_size=400))
def test_no_fact_is_longer_than_an_entry_or_more_than_one_line(written):
    fact = cleaned(written, name="Anna")

    assert fact is None or (len(fact) <= CONTENT_CHARS and "\n" not in fact)


@pytest.mark.parametrize("answer", ["無", "「無」", "無。", " None ", "none.", "なし", '"無"'])
def test_a_clear_none_is_understood(answer):
    assert is_none(answer)


def test_a_fact_in_another_language_than_the_message_is_noticed():
    assert in_language_of("小明喜歡茶", "我喜歡喝茶", name="小明")
    assert not in_language_of("小明 likes tea", "我喜歡喝茶", name="小明")
    assert not in_language_of("Anna喜歡茶", "I like tea", name="Anna")
    assert in_language_of("小明 likes tea", "I like tea", name="小明")
    assert not in_language_of("小明はお茶が好き", "我喜歡喝茶", name="小明")
    assert in_language_of("小明はお茶が好き", "お茶が好きです", name="小明")
