from bot.access.positions import Moves
from tests.bot.stack import group


def test_a_place_that_moved_twice_is_known_by_all_its_ids():
    moves = Moves()
    for old, new in (("-1", "-2"), ("-2", "-3")):
        moves.add("telegram", "1", old=old, new=new)

    assert [moves.current(group(chat)) for chat in ("-1", "-2", "-3")] == ["-3", "-3", "-3"]
    assert [moves.first(group(chat)) for chat in ("-1", "-2", "-3")] == ["-1", "-1", "-1"]
    assert moves.former(group("-3")) == ("-2", "-1")


def test_a_place_that_never_moved_has_the_id_that_it_has():
    moves = Moves()

    assert (moves.current(group("-1")), moves.first(group("-1"))) == ("-1", "-1")
    assert moves.former(group("-1")) == ()


def test_a_move_that_would_close_a_circle_is_left_out():
    moves = Moves()
    moves.add("telegram", "1", old="-1", new="-2")
    moves.add("telegram", "1", old="-2", new="-1")
    moves.add("telegram", "1", old="-2", new="-2")

    assert moves.current(group("-1")) == "-2"
    assert moves.current(group("-2")) == "-2"


def test_a_move_is_of_one_bots_place_alone():
    moves = Moves()
    moves.add("telegram", "2", old="-1", new="-2")

    assert moves.current(group("-1")) == "-1"
