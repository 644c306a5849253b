import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.turn.taiwan_reply import TaiwanSentences, wants_taiwan


def streamed(text, size):
    sentences = TaiwanSentences()
    pieces = [sentences.feed(text[at : at + size]) for at in range(0, len(text), size)]
    return "".join(pieces) + sentences.finish()


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("你对花生过敏。", "你對花生過敏。"),
        ("我们的数据库在这里！你说呢？", "我們的資料庫在這裡！你說呢？"),
        ("Yes, 你的猫叫麻糬。\nBye.", "Yes, 你的貓叫麻糬。\nBye."),
        ("這個程序很重要。", "這個程序很重要。"),
        ("国の予算はまだです。", "国の予算はまだです。"),
        ("Momo is your cat.", "Momo is your cat."),
        ("没有句号", "沒有句號"),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_a_slip_is_put_right_however_the_stream_is_cut(reply, shown, size):
    assert streamed(reply, size) == shown


def test_a_sentence_is_shown_as_soon_as_it_is_whole():
    sentences = TaiwanSentences()

    assert sentences.feed("Hello, ") == "Hello, "
    assert sentences.feed("你对花") == ""
    assert sentences.feed("生过敏。我") == "你對花生過敏。"
    assert sentences.finish() == "我"


def test_text_without_an_end_is_not_held_back_for_ever():
    assert TaiwanSentences().feed("国" * 300) == "國" * 300


@given(st.text(max_size=40), st.integers(1, 9))
def test_nothing_but_simplified_chinese_is_changed(text, size):
    if text.isascii():
        assert streamed(text, size) == text


@pytest.mark.parametrize("text", ["我的貓叫什麼名字？", "你好", "我用 Python 寫程式"])
def test_who_writes_chinese_reads_it_as_in_taiwan(text):
    assert wants_taiwan(text)


@pytest.mark.parametrize(
    "text",
    ["我的猫叫什么名字？", "Say hello in Chinese.", "私の猫の名前は？", "請用簡體字寫一句話", ""],
)
def test_who_writes_or_wants_anything_else_gets_what_the_model_wrote(text):
    assert not wants_taiwan(text)
