import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.split import SMALLEST_LIMIT, split, utf16_units

FENCE = re.compile(r"^```\w*$", re.MULTILINE)
PIECES = st.sampled_from(
    [
        "word ",
        "字",
        "句子。",
        "Done. ",
        "\n",
        "\n\n",
        "  ",
        "👩‍👩‍👧‍👦",
        "🇹🇼",
        "👍🏽",
        "e\u0301",
        "漢字、",
        "x" * 90,
    ]
)
PROSE = st.lists(PIECES, max_size=400).map("".join)


@st.composite
def with_code(draw):
    blocks = draw(st.lists(st.tuples(PROSE, st.sampled_from(["", "py", "c"]), PROSE), max_size=4))
    return "\n".join(f"{prose}\n```{info}\n{code}\n```" for prose, info, code in blocks)


def visible(text):
    return "".join(text.split())


@given(PROSE, st.integers(SMALLEST_LIMIT, 400))
@example("x" * 20_000, 4096)
@example("字" * 20_000, 4096)
@example("🇹🇼" * 10_000, 4096)
@example("a" + "\u0301" * 20_000, 4096)
@settings(deadline=None)
def test_no_visible_character_of_prose_is_lost_or_added(text, limit):
    parts = split(text, limit=limit)

    assert visible("".join(parts)) == visible(text)
    assert all(part.strip() for part in parts)
    assert all(len(part) <= limit for part in parts)


@given(with_code(), st.integers(SMALLEST_LIMIT, 400), st.sampled_from([len, utf16_units]))
@settings(deadline=None)
def test_every_part_of_a_text_with_code_fits_with_balanced_fences(text, limit, length):
    parts = split(text, limit=limit, length=length)

    assert all(length(part) <= limit for part in parts)
    if len(parts) > 1:
        assert all(len(FENCE.findall(part)) % 2 == 0 for part in parts)
        assert visible(FENCE.sub("", "\n".join(parts))) == visible(FENCE.sub("", text))


@given(st.text(max_size=1500), st.integers(SMALLEST_LIMIT, 300))
@settings(deadline=None)
def test_any_text_at_all_ends_in_parts_that_fit(text, limit):
    parts = split(text, limit=limit, length=utf16_units)

    assert all(part.strip() and utf16_units(part) <= limit for part in parts)


def test_a_text_that_fits_stays_as_it_is():
    assert split("# Hi\n\n```py\n  x\n```\nあ", limit=200) == ["# Hi\n\n```py\n  x\n```\nあ"]


@pytest.mark.parametrize("text", ["", " ", "\n \n", "\u3000"])
def test_a_blank_text_has_no_parts(text):
    assert split(text, limit=200) == []


def test_a_limit_without_room_for_a_fence_is_refused():
    with pytest.raises(ValueError, match="too small"):
        split("x", limit=SMALLEST_LIMIT - 1)


@pytest.mark.parametrize(
    ("between", "ends_with"),
    [
        ("\n\n", "a"),
        ("\n", "a"),
        (". ", "a."),
        ("。", "a。"),
        ("！", "a！"),
        ("，", "a，"),
        (" ", "a"),
    ],
)
def test_a_part_ends_at_the_natural_cut(between, ends_with):
    text = "a" * 80 + between + "b" * 80

    assert split(text, limit=128) == ["a" * 79 + ends_with, "b" * 80]


def test_a_blank_line_is_better_than_a_later_newline_or_space():
    text = "a" * 60 + "\n\n" + "b" * 20 + "\nc d " + "e" * 80

    assert split(text, limit=128)[0] == "a" * 60


def test_a_cut_far_ahead_of_the_limit_is_passed_over_for_a_fuller_part():
    text = "a\n\n" + "b c " * 60

    assert len(split(text, limit=128)[0]) > 100


def test_a_code_block_is_closed_and_opened_again_with_its_language():
    code = "\n".join(f"    line_{n} = {n}" for n in range(20))

    parts = split(f"Look:\n```python\n{code}\n```\nDone.", limit=200)

    assert parts[0].startswith("Look:\n```python\n    line_0 = 0\n")
    assert parts[0].endswith("\n```")
    assert parts[1].startswith("```python\n    line_")
    assert parts[-1].endswith("```\nDone.")


def test_a_code_block_is_never_opened_at_the_very_end_of_a_part():
    text = "a" * 118 + "\n```py\n" + "b\n" * 30 + "```"

    first, second = split(text, limit=128)

    assert first == "a" * 118
    assert second.startswith("```py\nb\n")


def test_a_code_block_that_fits_exactly_is_not_followed_by_an_empty_one():
    for size in range(90, 130):
        parts = split(f"```py\n{'b' * size}\n```\nafter the code", limit=128)

        assert not any(re.search(r"```(py)?\n```", part) for part in parts)


def test_a_code_block_left_open_by_the_model_is_closed_in_each_part():
    parts = split("```py\n" + "abc = 1\n" * 40, limit=128)

    assert all(part.startswith("```py\n") and part.endswith("\n```") for part in parts)


def test_one_line_of_code_longer_than_a_part_is_cut_inside_fences():
    parts = split("```\n" + "x" * 500 + "\n```", limit=128)

    assert "".join(part.removeprefix("```\n").removesuffix("\n```") for part in parts) == "x" * 500


def test_a_longer_fence_may_hold_a_shorter_one():
    parts = split("````md\n```py\n" + "x = 1\n" * 60 + "```\n````", limit=128)

    assert all(part.startswith("````md\n") and part.endswith("\n````") for part in parts)


@pytest.mark.parametrize("emoji", ["👩‍👩‍👧‍👦", "🇹🇼", "👍🏽", "❤️", "e\u0301", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "한", "क्षि"])
def test_a_combined_character_is_never_torn(emoji):
    for padding in range(12):
        parts = split("a" * padding + emoji * 60, limit=128)

        assert all(not part.replace(emoji, "").strip("a") for part in parts)


def test_only_a_character_that_is_absurdly_long_is_torn():
    accents = "\u0301" * 60

    assert split("a" * 97 + "e" + accents, limit=128)[0] == "a" * 97
    assert len(split("a" * 96 + "e" + accents, limit=128)[0]) == 128


def test_telegram_length_counts_emoji_twice():
    assert utf16_units("a字😀") == 4
    assert [len(part) for part in split("😀" * 2100, limit=4096, length=utf16_units)] == [2048, 52]


def test_an_indented_line_keeps_its_indent_at_the_start_of_a_part():
    text = "- " + "a" * 110 + "\n    - " + "b" * 60

    assert split(text, limit=128)[1] == "    - " + "b" * 60
