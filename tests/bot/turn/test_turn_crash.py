import os
import subprocess
import sys
from pathlib import Path

from memory.archive import messages_table
from memory.database.database import open_database
from memory.values import NO_SEQ, SessionId

ROOT = Path(__file__).parents[3]


async def test_a_turn_that_is_killed_at_any_step_is_there_whole_or_not_at_all(tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/bot/turn/crashing_turns.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    outcomes = [line.split() for line in done.stdout.splitlines() if line.endswith("ed")]
    steps = [step for step, outcome in outcomes if outcome == "killed"]

    turns = set()
    for step in steps:
        async with open_database(tmp_path / step / "kith.db") as database:
            assert await database.check_integrity() == []
            async with database.reading() as reader:
                found = await messages_table.latest(
                    reader, SessionId("cli-main"), from_seq=NO_SEQ, limit=100
                )
        assert [m.text for m in found] == ["the question", "the reply"] * (len(found) // 2)
        turns.add(len(found) // 2)

    assert len(steps) > 20
    assert turns == {0, 1, 2}
