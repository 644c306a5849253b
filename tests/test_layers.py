"""The contracts of imports in `pyproject.toml` hold, and notice what breaks them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The packages and their contracts, to plant imports in."""
    directory = tmp_path_factory.mktemp("planted")
    for name in ("bot", "adapters", "memory"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, directory / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", directory)
    return directory


def lint(directory):
    """Exit code and output of `lint-imports`."""
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(directory)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_the_contracts_hold(copy):
    code, output = lint(copy)

    assert code == 0, output


@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        ("memory/recall/lookup.py", "import memory.summary.service", "Memory: imports only go down"),
        ("memory/summary/slot.py", "import memory.pools.slot", "Memory: imports only go down"),
        ("memory/pools/slot.py", "import memory.tool_errors.record", "Memory: imports only go down"),
        ("memory/tool_errors/ranking.py", "import memory.recall.query", "Memory: imports only go down"),
        ("memory/archive/passages.py", "import memory.recall.query", "Memory: imports only go down"),
        ("memory/language/text.py", "import memory.prompt.prompt", "Memory: imports only go down"),
        ("memory/modes/pools.py", "import memory.archive.passages", "Pools mode reaches no transcript"),
        ("memory/modes/pools.py", "import memory.recall.query", "Pools mode reaches no transcript"),
        ("memory/pools/entry.py", "import memory.archive.passages", "Pools mode reaches no transcript"),
        ("memory/prompt/prompt.py", "import bot.ports", "Memory knows nobody outside"),
        ("memory/summary/judge.py", "import sqlite3", "Only the database opens SQLite"),
        ("memory/pools/ranking.py", "import faiss", "Only recall opens FAISS"),
        ("bot/turn/loop.py", "import bot.delivery.inbox", "Bot: imports only go down"),
        ("bot/delivery/intake.py", "import bot.commands.registry", "Bot: imports only go down"),
        ("bot/delivery/intake.py", "import adapters.registry", "Only the command line and the composition root know an adapter"),
        ("bot/app/app.py", "import discord", "Foreign clients stay in the adapters"),
        ("adapters/telegram/adapter.py", "import adapters.discord.options", "Adapters: none knows another"),
        ("adapters/ollama/adapter.py", "import bot.config.config", "Adapters know ports, values, errors and language"),
        ("memory/modes/window.py", "import memory.modes.pools", "Modes: none knows another"),
        ("memory/modes/pools.py", "import memory.modes.window", "Modes: none knows another"),
        ("bot/delivery/answers.py", "import memory.archive.messages_table", "The bot asks memory and touches no tier's table, pass or mode"),
        ("bot/delivery/intake.py", "import memory.modes.full", "The bot asks memory and touches no tier's table, pass or mode"),
        ("bot/tools/facts.py", "import memory.summary.summaries_table", "The bot asks memory and touches no tier's table, pass or mode"),
        ("memory/settings.py", "import sqlite3", "Only the database opens SQLite"),
        ("memory/ports.py", "import faiss", "Only recall opens FAISS"),
        ("memory/diary.py", "", "Memory: imports only go down"),
        ("bot/misc/__init__.py", "", "Bot: imports only go down"),
    ],
)  # fmt: skip
def test_a_planted_import_and_a_module_without_a_place_break_their_contract(
    copy, file, line, contract
):
    path = copy / file
    before = path.read_text() if path.exists() else None
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{before or ''}\n{line}\n")
    try:
        code, output = lint(copy)
    finally:
        if before is None:
            path.unlink()
        else:
            path.write_text(before)

    assert code == 1
    assert f"{contract} BROKEN" in " ".join(output.split())
