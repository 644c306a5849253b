from hypothesis import given
from hypothesis import strategies as st

from memory.prompt.window import first_shown


def test_a_window_that_fits_is_shown_whole():
    assert first_shown([10] * 16, budget=160, kept=0) == 0


def test_a_window_that_overflows_is_cut_in_one_coarse_step():
    assert first_shown([10] * 16, budget=100, kept=0) == 9


def test_the_start_stays_where_it_was_while_everything_behind_it_fits():
    assert first_shown([10] * 16, budget=100, kept=6) == 6


def test_a_start_that_leaves_most_of_the_room_empty_is_given_up():
    assert first_shown([10] * 16, budget=400, kept=12) == 0


def test_a_message_larger_than_the_coarse_share_is_still_shown_when_it_fits():
    assert first_shown([10, 20, 90], budget=100, kept=0) == 2


def test_nothing_is_shown_when_not_even_the_newest_fits():
    assert first_shown([10, 200], budget=100, kept=0) == 2


@given(st.lists(st.integers(1, 500), max_size=30), st.integers(0, 3000), st.integers(0, 30))
def test_what_is_shown_always_fits(costs, room, kept):
    first = first_shown(costs, budget=room, kept=min(kept, len(costs)))

    assert 0 <= first <= len(costs)
    assert sum(costs[first:]) <= room
