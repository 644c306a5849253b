import pytest

from memory.smalltalk import is_small_talk


@pytest.mark.parametrize(
    "text",
    [
        "Hi!",
        "Thanks so much!",
        "ok",
        "謝謝你！",
        "好的，晚安～",
        "ありがとうございます！",
        "haha 😂😂",
        "👍",
        "hello there Kith",
        "哈哈哈哈哈",
        "こんにちは",
        "Good morning everyone!",
        "了解です",
        "谢谢",
        "",
    ],
)
def test_greetings_thanks_and_okays_are_small_talk(text):
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Tainan",
        "yes",
        "no",
        "はい",
        "對",
        "不要",
        "我叫小明",
        "hi, I'm Anna",
        "thanks, my birthday is in May",
        "好吃的拉麵",
        "早餐吃蛋餅",
        "good restaurant",
        "明天見客戶",
        "123",
        "ok, Friday then at 5",
    ],
)
def test_whatever_may_hold_a_fact_is_not(text):
    assert not is_small_talk(text)
