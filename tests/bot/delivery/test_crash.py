import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from adapters.telegram.options import TELEGRAM
from bot.delivery.intake import ATTEMPTS
from bot.ports import Platform
from bot.texts.keys import Text
from bot.texts.language import Language
from bot.texts.tables import say
from tests.bot.delivery.crash_victim import PART_CHARS, POINTS, WORDS, Wire, access_for
from tests.bot.stack import open_stack

ROOT = Path(__file__).parents[3]
IN_DOUBT = ("sent", "second part")
"""Killed after the platform had the part and before that was written down."""


def crash(directory, point, platform, mode="full"):
    directory.mkdir(exist_ok=True)
    victim = subprocess.run(
        [sys.executable, "-m", "tests.bot.delivery.crash_victim", directory, point, platform, mode],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert victim.returncode == -9, victim.stderr
    return victim.stdout + victim.stderr


def wire(directory):
    path = directory.parent / "wire.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [tuple(json.loads(line)) for line in lines]


def parts():
    replies = [f"re: {text}" for text in WORDS]
    return [r[at : at + PART_CHARS] for r in replies for at in range(0, len(r), PART_CHARS)]


@pytest.mark.parametrize("platform", ["discord", "telegram"])
@pytest.mark.parametrize("point", POINTS)
async def test_kill_9_loses_nothing_and_repeats_at_most_the_part_in_doubt(
    tmp_path, point, platform
):
    directory = tmp_path / "data"
    crash(directory, point, platform)

    async with open_stack(directory, adapter=Wire(directory, Platform(platform), "")) as stack:
        await stack.settled()

        arrived = wire(directory)
        shown = list(dict.fromkeys(arrived))  # what a platform that knows nonces shows
        assert [text for _nonce, text in shown] == parts()
        repeated = [nonce for nonce, times in Counter(arrived).items() if times > 1]
        assert len(repeated) == (point in IN_DOUBT)
        assert len(arrived) == len(shown) + len(repeated)
        assert set(await stack.states("inbox")) == {"answered"}
        assert set(await stack.states("outbox")) == {"delivered"}
        [transcript] = await stack.rows("SELECT count(*) FROM messages")
        assert transcript == (4,)

    async with open_stack(directory, adapter=Wire(directory, Platform(platform), "")) as stack:
        await stack.settled()
        assert stack.adapter.tried == []


async def test_a_message_that_ends_the_process_every_time_is_given_up_and_the_next_is_answered(
    tmp_path,
):
    directory = tmp_path / "data"
    for _ in range(ATTEMPTS):
        crash(directory, "model", "telegram")

    async with open_stack(directory) as stack:
        await stack.later(10)

        assert await stack.states("inbox") == ["failed", "answered"]
        [answer, apology] = sorted(stack.adapter.texts(), key=lambda text: "re: " not in text)
        assert answer == f"re: {WORDS[1]}"
        assert say(Text.FAULT, Language.CHINESE) in apology


async def test_kill_9_in_pools_mode_leaves_no_word_and_asks_again(tmp_path):
    directory = tmp_path / "data"
    log = crash(directory, "accepted", "telegram", "pools")

    files = [path for path in directory.rglob("*") if path.is_file()]
    assert files
    assert all(b"swordfish" not in path.read_bytes() for path in files)
    assert "swordfish" not in log
    adapter = Wire(directory, TELEGRAM, "")
    async with open_stack(directory, adapter=adapter, access=access_for("pools")) as stack:
        await stack.later(10)

        text = "".join(text for _nonce, text in wire(directory))
        assert "再傳一次" in text or "send it again" in text
        assert set(await stack.states("inbox")) == {"lost"}
