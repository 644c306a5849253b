import ast
import subprocess
from pathlib import Path

import pytest

from scripts.mutation.breaks import LIST, Unsound, standing
from scripts.mutation.drawing import drawn, possible
from scripts.mutation.running import KILLED, SURVIVED, Reach, RunOptions, run_all

ROOT = Path(__file__).parents[2]
SOURCE = """
_FIND = "SELECT a FROM b WHERE c > ? AND d = 1"


def grown(age):
    return age >= 18
"""
TEST = """
from memory.pools.age import grown


def test_at_eighteen_one_is_grown():
    assert grown(18)
    assert not grown(17)
"""
STANDING = """
["memory/pools/age.py"]
privacy = [["age >= 18", "age > 18"], ["c > ?", "c >= ?"]]
"""


@pytest.fixture
def tree(tmp_path):
    files = {
        "memory/__init__.py": "",
        "memory/pools/__init__.py": "",
        "memory/pools/age.py": SOURCE,
        "tests/memory/pools/test_age.py": TEST,
        str(LIST): STANDING,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


async def run(tree, reach=Reach.NEAREST):
    results = []
    options = RunOptions(reach=reach, jobs=1, limit_s=60)
    await run_all(tree, standing(tree), options, results.append)
    return results


async def test_a_break_is_killed_by_the_test_that_fails_or_survives(tree):
    first, second = await run(tree)

    killer = "tests/memory/pools/test_age.py::test_at_eighteen_one_is_grown"
    assert (first.outcome, first.killer) == (KILLED, killer)
    assert first.place == "memory/pools/age.py:6"
    assert first.diff == ["-    return age >= 18", "+    return age > 18"]
    assert second.outcome == SURVIVED
    assert (tree / "memory/pools/age.py").read_text() == SOURCE


async def test_a_test_that_fails_without_a_break_proves_nothing(tree):
    (tree / "tests/memory/pools/test_age.py").write_text("def test_x():\n    assert False\n")

    with pytest.raises(Unsound, match="fails without a break"):
        await run(tree)


def test_a_text_of_the_list_that_is_gone_is_named(tree):
    (tree / "memory/pools/age.py").write_text(SOURCE.replace("age >= 18", "age >= ADULT"))

    with pytest.raises(Unsound, match="age >= 18"):
        standing(tree)


def test_a_file_offers_breaks_of_its_code_and_its_sql(tree):
    source = SOURCE.encode()
    kinds = {one.kind for one in possible("memory/pools/age.py", source)}

    assert kinds == {"wrong comparison", "off by one", "drop SQL clause", "SQL off by one"}


def test_a_sample_is_the_same_for_a_seed_and_still_python():
    sample = drawn(ROOT, 1, 40, [])

    assert sample == drawn(ROOT, 1, 40, [])
    assert len({one.path.rpartition("/")[0] for one in sample}) > 20
    for one in sample:
        broken = one.broken((ROOT / one.path).read_bytes())
        assert broken != (ROOT / one.path).read_bytes()
        if one.path.endswith(".py"):
            ast.parse(broken)
