import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from memory.language.text import clip, estimate_tokens, has_cjk, one_line, scrub, visible_boundary

VISIBLE = ("a", "字", "👩‍👩‍👧‍👦", "🇹🇼", "👍🏽", "❤️", "e\u0301", "\r\n", "\u1112\u1161\u11ab", "क्षि")


def test_a_lone_surrogate_is_replaced_and_a_pair_becomes_its_character():
    assert scrub("cut \ud83d here") == "cut \ufffd here"
    assert scrub("\ud83d\ude00") == "\U0001f600"


def test_control_bytes_go_and_line_breaks_stay():
    assert scrub("a\x00b\x1b[31mc\r\nd\re\tf") == "ab[31mc\nd\ne\tf"


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_scrubbed_text_can_always_be_stored(text):
    scrub(text).encode("utf-8")


def test_clipping_keeps_a_joined_emoji_and_its_accents_together():
    assert clip("ab👩‍👩‍👧 family", 5) == "ab…"
    assert clip("cafe\u0301 au lait", 5) == "caf…"
    assert clip("麻糬是一隻貓", 4) == "麻糬是…"
    assert clip("short", 5) == "short"


@given(st.lists(st.sampled_from(VISIBLE), min_size=1, max_size=20), st.data())
def test_a_boundary_stands_between_two_visible_characters_and_is_the_last(characters, data):
    text = "".join(characters)
    starts = [len("".join(characters[:count])) for count in range(len(characters))]
    at = data.draw(st.integers(0, len(text) - 1))

    assert visible_boundary(text, at) == max(start for start in starts if start <= at)


def test_clipping_keeps_a_flag_and_a_conjunct_together():
    assert clip("ab🇹🇼🇯🇵 flags", 6) == "ab🇹🇼…"
    assert clip("क्षिक्षि", 6) == "क्षि…"


@given(st.text(), st.integers(1, 50))
def test_clipped_text_is_never_longer_than_its_limit(text, limit):
    assert len(clip(text, limit)) <= limit


def test_chinese_weighs_more_tokens_a_character_than_english():
    assert estimate_tokens("記憶" * 50) > 2 * estimate_tokens("ab" * 50)


def test_every_space_becomes_one():
    assert one_line("  a\n\n b\u3000c ") == "a b c"


def test_scripts_without_spaces_are_known():
    assert all(map(has_cjk, ("東京", "ひらがな", "회의")))
    assert not has_cjk("café " + unicodedata.lookup("CYRILLIC SMALL LETTER A"))
