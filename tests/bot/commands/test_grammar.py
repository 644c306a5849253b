import pytest

from bot.commands.grammar import read_arguments
from bot.ports import CommandOption, OptionKind


def option(name, kind=OptionKind.TEXT, choices=()):
    return CommandOption(name=name, descriptions={"en": "x"}, kind=kind, choices=choices)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("yes", {"confirm": "true"}),
        ("好", {"confirm": "true"}),
        ("確定 all", {"confirm": "true", "what": "all"}),
        ("all yes", {"what": "all", "confirm": "true"}),
        ("everything", {}),
        ("no", {}),
        ("7 all", {"count": "7", "what": "all"}),
    ],
)
def test_each_word_fills_the_first_free_option_that_takes_it(text, found):
    offered = (
        option("what", choices=("all",)),
        option("count", OptionKind.INTEGER),
        option("confirm", OptionKind.FLAG),
    )

    assert read_arguments(offered, text) == found


LINE = option("text", OptionKind.LINE)
NUMBER = option("id", OptionKind.INTEGER)


@pytest.mark.parametrize("text", ["green tea", '"green tea"', "「綠茶」 好喝", "7 green  teas"])
def test_a_line_takes_all_that_follows_as_it_stands(text):
    assert read_arguments((LINE,), f"  {text} ") == {"text": text}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("3 likes tea", {"id": "3", "text": "likes tea"}),
        ("3 4 cats", {"id": "3", "text": "4 cats"}),
        ("likes 3 teas", {"text": "likes 3 teas"}),
        ("3", {"id": "3"}),
    ],
)
def test_a_line_begins_where_no_option_before_it_takes_the_word(text, found):
    assert read_arguments((NUMBER, LINE), text) == found


@pytest.mark.parametrize("text", ['"cli-my talk" yes', "“cli-my talk” yes", "「cli-my talk」 是"])
def test_words_in_quotation_marks_are_one_word(text):
    offered = (option("target"), option("confirm", OptionKind.FLAG))

    assert read_arguments(offered, text) == {"target": "cli-my talk", "confirm": "true"}


def test_a_quoted_word_is_text_and_confirms_nothing():
    offered = (NUMBER, option("confirm", OptionKind.FLAG), option("target"))

    assert read_arguments(offered, '"yes"') == {"target": "yes"}
    assert read_arguments(offered, '"7"') == {"target": "7"}


def test_quotation_marks_round_nothing_are_no_word():
    assert read_arguments((option("target"),), '"" cli-5') == {"target": "cli-5"}


def test_a_quotation_mark_that_is_never_closed_is_part_of_its_word():
    assert read_arguments((option("target"),), 'cli-5"') == {"target": 'cli-5"'}
    assert read_arguments((option("target"),), '"cli-5') == {"target": '"cli-5'}


def test_words_that_no_option_takes_are_left_out():
    assert read_arguments((), "a b c") == {}
    assert read_arguments((option("target"),), "a b c") == {"target": "a"}


def test_a_word_in_quotation_marks_is_at_most_as_long_as_a_name():
    long = f'"{"a b " * 60}"'

    assert read_arguments((option("target"),), long) == {"target": '"a'}
