"""What a call of `kith` costs before it does anything: CPU seconds, user and system.

    python benchmarks/start.py [--rounds 9]

Each call is a process of its own. Left out: the first call after an installation, which also
compiles every module (one call is made and thrown away), and what a verb does when it is not
asked for help.
"""

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
CALLS = ("version", "--help", "memory --help", "jobs --help", "memory list --help", "chat --help")


def cpu_s(words: Sequence[str]) -> float:
    """CPU seconds of one call."""
    before = os.times()
    subprocess.run(
        [sys.executable, "-m", "bot", *words], cwd=ROOT, stdout=subprocess.DEVNULL, check=True
    )
    after = os.times()
    user_s = after.children_user - before.children_user
    return user_s + after.children_system - before.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    for call in CALLS:
        words = call.split()
        cpu_s(words)
        samples = [cpu_s(words) for _ in range(rounds)]
        print(f"{statistics.median(samples):.2f} s CPU (median of {rounds})  kith {call}")


if __name__ == "__main__":
    main()
