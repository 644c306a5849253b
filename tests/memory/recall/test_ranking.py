from dataclasses import replace

import numpy as np
import pytest

from memory.recall.ranking import Candidates, Comparable, collapse, hopped, information, pack, score
from memory.settings import RecallWeights

WEIGHTS = RecallWeights()


def candidates(count, **known):
    plain = {
        "hits": np.zeros((1, count), bool),
        "information": np.array([1.0]),
        "cosines": np.full(count, np.nan, np.float32),
        "typical_cosine": 0.8,
        "linked": np.zeros(count, bool),
        "of_named_speaker": np.zeros(count, bool),
        "of_named_day": np.zeros(count),
        "asks": np.zeros(count, bool),
    }
    return Candidates(**{**plain, **known})


def order(rows, weights=WEIGHTS):
    return np.argsort(-score(rows, weights).total, kind="stable").tolist()


def test_a_rare_word_tells_more_than_a_common_one():
    rare, common, absent = information(np.array([1, 50, 0]), 100)

    assert rare > common > 0
    assert absent == 0


def test_a_message_with_more_of_what_the_question_tells_ranks_higher():
    hits = np.array([[1, 0, 1], [0, 1, 1]], bool)

    assert order(candidates(3, hits=hits, information=np.array([3.0, 1.0]))) == [2, 0, 1]


def test_words_are_a_share_of_the_question():
    hits = np.ones((2, 1), bool)

    assert score(candidates(1, hits=hits, information=np.array([3.0, 1.0])), WEIGHTS).words == 1


def test_what_is_below_typical_counts_as_nothing():
    rows = candidates(3, cosines=np.array([0.7, 0.79, 0.9], np.float32))

    assert score(rows, WEIGHTS).meaning.tolist() == pytest.approx([0, 0, 0.1], abs=1e-6)


def test_a_message_without_a_vector_is_still_ranked_by_its_words():
    rows = candidates(
        2, cosines=np.array([np.nan, 0.81], np.float32), hits=np.array([[1, 0]], bool)
    )

    assert np.isfinite(score(rows, WEIGHTS).total).all()
    assert score(rows, WEIGHTS).total[0] == 1


def test_an_answer_is_lifted_by_the_question_before_it():
    rows = candidates(3, hits=np.array([[0, 1, 0]], bool), linked=np.array([False, False, True]))

    total = score(rows, WEIGHTS).total
    assert total[2] == pytest.approx(WEIGHTS.previous_share)
    assert total[0] == 0, "the first message belongs to another talk"


def test_context_halves_with_each_step_and_ends():
    rows = candidates(
        6, hits=np.array([[1, 0, 0, 0, 0, 0]], bool), linked=np.array([0, 1, 1, 1, 1, 1], bool)
    )

    assert score(rows, WEIGHTS).total.tolist() == pytest.approx([1, 0.5, 0.25, 0.125, 0, 0])


def test_a_named_speaker_and_a_statement_come_before_others():
    hits = np.ones((1, 3), bool)
    rows = candidates(3, hits=hits, of_named_speaker=np.array([False, True, False]))

    assert order(rows)[0] == 1
    assert order(replace(rows, asks=np.array([True, True, False])))[:2] == [1, 2]


def test_a_named_day_comes_first_even_without_a_word():
    rows = candidates(3, of_named_day=np.array([0, 1, 0.5]))

    assert order(rows) == [1, 2, 0]


def test_nothing_known_scores_nothing():
    rows = candidates(2, hits=np.zeros((0, 2), bool), information=np.zeros(0))

    assert score(rows, WEIGHTS).total.tolist() == [0, 0]


def saying(vector, speaker="momo", words="a b c d"):
    return Comparable(
        vector=np.array(vector, np.float32), speaker=speaker, words=lambda: frozenset(words.split())
    )


def test_the_same_said_twice_is_kept_once_in_its_better_place():
    assert collapse([saying([1, 0]), saying([0, 1]), saying([1, 0])], WEIGHTS) == [0, 1]


@pytest.mark.parametrize(
    "other",
    [saying([1, 0], words="quite other words"), saying([0.95, 0.3], words="a b c d e")],
    ids=["very close", "close and in the same words"],
)
def test_what_says_the_same_is_collapsed(other):
    assert collapse([saying([1, 0]), other], WEIGHTS) == [0]


@pytest.mark.parametrize(
    "other",
    [
        saying([1, 0], speaker="nina"),
        saying([0.95, 0.3], words="a b x y"),
        saying([1, 0], words="a b c d 70"),
        saying([0.5, 0.5]),
        saying([np.nan, np.nan]),
    ],
    ids=["another speaker", "other words", "another number", "another meaning", "no vector"],
)
def test_what_differs_is_kept(other):
    assert collapse([saying([1, 0]), other], WEIGHTS) == [0, 1]


def test_packing_stops_at_the_budget_and_lets_shorter_ones_in():
    cost = [40, 70, 30, 31]

    packed = pack(range(4), lambda chosen: sum(cost[at] for at in chosen), budget_tokens=100)

    assert packed == [0, 2]


def test_packing_nothing_is_possible():
    assert pack([], len, budget_tokens=10) == []
    assert pack([0], lambda chosen: 11 * len(chosen), budget_tokens=10) == []


def test_a_message_that_stands_alone_can_win_against_the_middle_of_a_talk():
    rows = candidates(
        4,
        cosines=np.array([0.85, 0.86, 0.85, 0.875], np.float32),
        linked=np.array([False, True, True, False]),
    )

    assert order(rows)[0] == 3
    assert order(rows, replace(WEIGHTS, context_mean=0))[0] == 1


def test_the_next_search_lies_between_the_question_and_the_best_messages():
    asked, best = np.eye(4, dtype=np.float32)[0], np.eye(4, dtype=np.float32)[1:3]

    onward = hopped(asked, best, WEIGHTS)

    assert np.linalg.norm(onward) == pytest.approx(1)
    assert onward[0] > onward[1] == onward[2] > onward[3] == 0


def test_best_messages_without_vectors_lead_nowhere():
    asked = np.eye(4, dtype=np.float32)[0]

    assert hopped(asked, np.full((2, 4), np.nan, np.float32), WEIGHTS).tolist() == asked.tolist()
