import asyncio
import json

import pytest
from typer.testing import CliRunner

from bot.app.clock import SystemClock
from bot.app.schemas import SCHEMAS
from bot.cli.root import app
from bot.config.datadir import owned
from memory.database.database import open_database
from memory.tool_errors.error_memory import ErrorMemory
from memory.tool_errors.record import ActionOutcome, NewErrorRecord

NOTE = NewErrorRecord(
    tool="chat_history",
    keywords=("範圍",),
    symptom="time_range 2w 不被接受",
    action="改用 7d",
    outcome=ActionOutcome.RESOLVED,
)


def in_a_loop(work):
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(work)


async def note(directory):
    async with open_database(directory / "kith.db", SCHEMAS) as database:
        memory = ErrorMemory(database=database, embedder=None, clock=SystemClock())
        return (await memory.write(NOTE)).id


@pytest.fixture
def kith(tmp_path, monkeypatch):
    monkeypatch.setattr("bot.cli.boundary.asyncio.run", in_a_loop)
    (tmp_path / "kith.toml").write_text('timezone = "Asia/Taipei"\n')
    monkeypatch.chdir(tmp_path)

    def run(*words):
        return CliRunner().invoke(app, ["errors", *words, "--data-dir", str(tmp_path)])

    run.directory = tmp_path
    return run


def test_records_are_listed_shown_and_removed(kith):
    id_ = in_a_loop(note(kith.directory))

    listed = json.loads(kith("list", "--json").stdout)
    shown = kith("show", id_[:8]).stdout
    removed = json.loads(kith("remove", id_[:8], "--json").stdout)

    assert [(one["id"], one["outcome"]) for one in listed] == [(id_, "resolved")]
    assert "symptom: time_range 2w 不被接受" in shown
    assert f"id: {id_}" in shown
    assert removed == {"removed": id_}
    assert json.loads(kith("list", "--json").stdout) == []


def test_the_table_shows_a_short_id(kith):
    id_ = in_a_loop(note(kith.directory))

    assert id_[:12] in kith("list").stdout


def test_an_unknown_record_fails(kith):
    in_a_loop(note(kith.directory))

    for verb in ("show", "remove"):
        found = kith(verb, "ffffffff")
        assert found.exit_code == 1
        assert "there is no record" in found.output


def test_without_a_database_it_is_a_usage_error_and_makes_nothing(kith):
    for words in (["list"], ["show", "ffff"], ["remove", "ffff"]):
        assert kith(*words).exit_code == 2
    assert not (kith.directory / "kith.db").exists()


def test_a_directory_that_somebody_owns_is_not_written(kith):
    id_ = in_a_loop(note(kith.directory))

    with owned(kith.directory):
        assert kith("remove", id_[:8]).exit_code == 1

    assert len(json.loads(kith("list", "--json").stdout)) == 1
