"""The update benchmark's goals, with a scripted extractor, in a size for every run."""

import importlib.util
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("pool_updates", BENCHMARKS / "pool_updates.py")
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    sys.modules["pool_updates"] = module
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = before


async def test_the_current_value_comes_first_and_the_first_one_when_it_is_asked_for(benchmark):
    results = await benchmark.run(2)

    assert set(results) == {"en ids", "en words", "zh ids", "zh words"}
    for averages in results.values():
        assert averages["current-first"] >= 0.90
        assert averages["stale-above"] <= 0.05
        assert averages["earliest-first"] >= 0.85
