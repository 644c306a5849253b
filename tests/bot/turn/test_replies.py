import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.turn.replies import ReplyCleaner


def clean(reply):
    """A whole reply, cleaned."""
    cleaner = ReplyCleaner()
    return (cleaner.feed(reply) + cleaner.finish()).strip()


def streamed(reply, size):
    cleaner = ReplyCleaner()
    pieces = [cleaner.feed(reply[at : at + size]) for at in range(0, len(reply), size)]
    return ("".join(pieces) + cleaner.finish()).strip()


CASES = {
    "plain": ("Hello there.", "Hello there."),
    "thoughts go": ("<think>hm\nhm</think>\nHello.", "Hello."),
    "thoughts in the middle go": ("One <think>x</think>two.", "One two."),
    "unclosed thoughts hide the rest": ("<think>and so on", ""),
    "upper case": ("<THINK>x</Think>Yes", "Yes"),
    "other tags stay": ("Use <b>bold</b> and a<b.", "Use <b>bold</b> and a<b."),
    "a leaked summary goes": ('Sure.<summary>{"a": 1}</summary>', "Sure."),
    "a leaked summary in brackets cuts the reply": ("Sure. [Summary]{}[/summary] x", "Sure."),
    "a summary's JSON cuts the reply": ('好的。\n{\n  "key_decisions": []}', "好的。"),
    "a printed heading cuts the reply": ("Yes.\n## Prior summary\n{}", "Yes."),
    "nothing but printed memory is nothing": ('{"past_discussions": [', ""),
    "other JSON stays": ('Use {"key": 1} or {} or [1].', 'Use {"key": 1} or {} or [1].'),
    "other headings stay": ("# Notes\n## Prior work\n#", "# Notes\n## Prior work\n#"),
    "an imitated metadata line goes": ("[2026-11-30 18:15 you]\n你好！", "你好！"),
    "two of them go": ("[2026-11-30 18:15 you]\n[2026-11-30 18:15 you]\nHi", "Hi"),
    "metadata behind thoughts goes": ("<think>a</think>\n[2026-11-30 18:15 you]\nHi", "Hi"),
    "what is made up for the next speaker goes": ("Hi.\n[2026-11-30 18:16 Ann]\nI said", "Hi."),
    "metadata before the text in one line goes": ("[2026-11-30 18:15 you] 你好！", "你好！"),
    "metadata without a name goes": ("[2026-11-30 18:15]\nHi", "Hi"),
    "what looks like it and is none stays": ("[2026-11-30 18:1x] a", "[2026-11-30 18:1x] a"),
    "a list in brackets stays": ("[1] one\n[2026] two", "[1] one\n[2026] two"),
    "a date in a sentence stays": (
        "On [2026-11-30 18:15 x] we met",
        "On [2026-11-30 18:15 x] we met",
    ),
    "white space round it goes": ("\n\n  Hello \n", "Hello"),
    "nothing but metadata is nothing": ("[2026-11-30 18:15 you]", ""),
}


@pytest.mark.parametrize(("reply", "shown"), CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_a_reply_is_cleaned_however_it_is_cut(reply, shown, size):
    assert streamed(reply, size) == shown
    assert clean(reply) == shown


def test_what_is_surely_part_of_the_reply_is_shown_at_once():
    cleaner = ReplyCleaner()

    assert cleaner.feed("Hello wor") == "Hello wor"
    assert cleaner.feed("ld <t") == "ld "
    assert cleaner.feed("able>") == "<table>"


@given(
    st.text(alphabet='<>/thinksumary[]2026-113: \nab{"key_dcisons#p', max_size=80),
    st.integers(1, 9),
)
def test_the_cut_of_the_stream_never_matters(reply, size):
    assert streamed(reply, size) == clean(reply)


@given(st.text(max_size=200))
def test_text_without_the_marks_of_tags_and_memory_passes_unchanged(text):
    plain = text.translate(dict.fromkeys(map(ord, "<[{#")))

    assert clean(plain) == plain.strip()
