import asyncio
import threading

import numpy as np
import pytest

from memory.recall.index import VectorIndex, VectorsInvalid, open_indexes


def units(count, dimension=8, seed=0):
    rows = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def ids(*numbers):
    return np.array(numbers, dtype=np.int64)


def filled(count=20):
    index = VectorIndex(8)
    index.add(np.arange(1, count + 1), units(count))
    return index


def test_the_nearest_come_first_and_the_vector_itself_is_nearest():
    near = filled().search(units(20)[6], limit=5)

    assert near.seqs[0] == 7
    assert near.cosines[0] == pytest.approx(1.0, abs=1e-2)
    assert list(near.cosines) == sorted(near.cosines, reverse=True)


def test_an_empty_index_finds_nothing():
    assert len(VectorIndex(8).search(units(1)[0], limit=5).seqs) == 0


def test_asking_for_more_than_there_is_gives_what_there_is():
    assert sorted(filled(3).search(units(1)[0], limit=50).seqs.tolist()) == [1, 2, 3]


@pytest.mark.parametrize("spoiled", [np.nan, np.inf, 0.0, 7.0])
def test_a_vector_that_is_no_unit_vector_is_refused_whole(spoiled):
    index, vectors = VectorIndex(8), units(3)
    vectors[1] = spoiled

    with pytest.raises(VectorsInvalid):
        index.add(ids(1, 2, 3), vectors)
    assert len(index) == 0


def test_another_dimension_is_refused_and_asking_with_one_finds_nothing():
    index = filled()

    with pytest.raises(VectorsInvalid):
        index.add(ids(99), units(1, dimension=9))
    assert len(index.search(units(1, dimension=9)[0], limit=5).seqs) == 0


def test_a_question_that_is_not_finite_finds_nothing():
    assert len(filled().search(np.full(8, np.nan, dtype=np.float32), limit=5).seqs) == 0


def test_an_id_twice_is_refused():
    with pytest.raises(VectorsInvalid):
        VectorIndex(8).add(ids(1, 1), units(2))


def test_a_known_id_is_replaced():
    index = filled(3)

    index.add(ids(2), units(1, seed=9))

    near = index.search(units(1, seed=9)[0], limit=3)
    assert near.seqs[0] == 2
    assert sorted(near.seqs.tolist()) == [1, 2, 3]


def test_what_was_removed_is_never_found_again():
    index = filled()

    index.remove(ids(7, 12_345))

    assert 7 not in index.search(units(20)[6], limit=20).seqs
    assert len(index) == 19


def test_keeping_only_some_removes_the_rest():
    index = filled()

    index.keep_only(ids(3, 4, 999))

    assert sorted(index.search(units(1)[0], limit=20).seqs.tolist()) == [3, 4]


def test_the_filter_applies_before_the_best_are_chosen():
    index = VectorIndex(8)
    crowd = np.tile(units(1, seed=5), (500, 1))
    index.add(np.arange(1, 501), crowd)
    index.add(ids(501, 502), units(2, seed=1))

    near = index.search(units(1, seed=5)[0], limit=10, among=ids(501, 502, 9_999))

    assert sorted(near.seqs.tolist()) == [501, 502]


def test_only_rows_before_the_window_are_found():
    near = filled().search(units(20)[6], limit=20, before=7)

    assert sorted(near.seqs.tolist()) == [1, 2, 3, 4, 5, 6]
    among = filled().search(units(20)[6], limit=20, before=7, among=ids(2, 8))
    assert among.seqs.tolist() == [2]


def test_typical_is_the_median_cosine():
    near = filled().search(units(20)[0], limit=1)

    assert near.typical == pytest.approx(float(np.median(units(20) @ units(20)[0])), abs=1e-2)


def test_vectors_come_back_in_order_with_nan_for_the_unknown():
    vectors = filled().vectors(ids(3, 77, 1))

    assert vectors[0] == pytest.approx(units(20)[2], abs=1e-2)
    assert np.isnan(vectors[1]).all()
    assert vectors[2] == pytest.approx(units(20)[0], abs=1e-2)


async def test_the_least_recently_used_index_goes_when_memory_is_short():
    size = filled().size_bytes
    async with open_indexes(limit_bytes=2 * size) as indexes:
        indexes.put("a", filled())
        indexes.put("b", filled())
        indexes.get("a")

        indexes.put("c", filled())

        assert indexes.get("b") is None
        assert indexes.get("a") is not None
        assert indexes.get("c") is not None


async def test_one_index_larger_than_the_limit_still_serves():
    async with open_indexes(limit_bytes=1) as indexes:
        indexes.put("big", filled())

        assert indexes.get("big") is not None


async def test_work_runs_in_one_thread_of_its_own():
    async with open_indexes(limit_bytes=1) as indexes:
        names = await asyncio.gather(
            *(indexes.run(lambda: threading.current_thread().name) for _ in range(5))
        )

    assert len(set(names)) == 1
    assert names[0] != threading.current_thread().name
