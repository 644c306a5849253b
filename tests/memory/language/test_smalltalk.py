import pytest

from memory.language.smalltalk import is_plain_question, is_small_talk


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


@pytest.mark.parametrize(
    "text",
    ["Why is the sky blue?", "今天台北會下雨嗎？", "東京の天気はどうですか？", "What's 2 + 2??"],
)
def test_a_question_about_the_world_tells_nothing_of_the_person(text):
    assert is_plain_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "Can I eat shrimp with my allergy?",
        "我可以吃蝦子嗎？",
        "It is my birthday. What now?",
        "I moved to Tainan, where is a good doctor?",
        "Momo is sick! What helps?",
        "下週要去東京。要帶什麼？",
        "私は何を食べたらいい？",
        "Will you remember that Anna's party is on Friday?",
        "a statement",
    ],
)
def test_a_question_that_may_tell_something_is_not_plain(text):
    assert not is_plain_question(text)
