"""What is said in pools mode stands nowhere; the same search in full mode shows that it would see."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bot.delivery.talk_script import HIDDEN, KNOWN, open_talk

ROOT = Path(__file__).parents[3]
TURNS = 200


class Unwatched:
    async def show(self, text):
        """Show nothing."""


def _said(turn):
    return f"I tell you about known{turn}x and hidden{turn}x today"


def _found(directory, pattern):
    """Words that stand in any file under a directory, in the encodings that text is stored in."""
    found = set()
    for path in directory.rglob("*"):
        if path.is_file():
            raw = path.read_bytes()
            for encoding in ("latin-1", "utf-16-le", "utf-16-be"):
                found |= set(pattern.findall(raw.decode(encoding, "ignore")))
    return found


@pytest.mark.parametrize(("mode", "clean"), [("pools", True), ("full", False)])
async def test_after_two_hundred_turns_no_file_holds_what_was_not_noted(tmp_path, mode, clean):
    async with open_talk(tmp_path, mode) as talk:
        for turn in range(TURNS):
            reply = await talk.answer(_said(turn), Unwatched())
            assert f"hidden{turn}x" in reply.text
            if turn in {50, TURNS - 1}:
                await asyncio.sleep(0.05)
                # While it runs: the WAL and the shared memory are files too.
                assert (not _found(tmp_path, HIDDEN)) is clean

    assert (not _found(tmp_path, HIDDEN)) is clean
    assert len(_found(tmp_path, KNOWN)) > 20


@pytest.mark.parametrize(("mode", "clean"), [("pools", True), ("full", False)])
def test_the_same_holds_for_a_process_with_all_it_prints(tmp_path, mode, clean):
    data, home = tmp_path / "data", tmp_path / "home"
    home.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "tests.bot.delivery.talk_script", str(data), mode],
        input="".join(f"{_said(turn)}\n" for turn in range(TURNS)),
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        env={**os.environ, "HOME": str(home), "PYTHONPATH": str(ROOT), "TMPDIR": str(home)},
        check=True,
    )

    assert len(HIDDEN.findall(done.stdout)) == TURNS
    assert not HIDDEN.findall(done.stderr)
    assert "turn.ended" in done.stderr
    assert (not _found(tmp_path, HIDDEN)) is clean
    with sqlite3.connect(data / "kith.db") as database:
        [[messages]] = database.execute("SELECT count(*) FROM messages")
        [[facts]] = database.execute("SELECT count(*) FROM pool_entries")
        [[lost]] = database.execute("SELECT coalesce(sum(lost_turns), 0) FROM pool_sessions")
        [[waiting]] = database.execute("SELECT count(*) FROM to_distil")
    database.close()
    assert messages == (0 if clean else 2 * TURNS)
    assert facts > 20
    assert lost == 0
    assert waiting < TURNS / 4
