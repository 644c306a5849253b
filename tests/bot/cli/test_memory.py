import asyncio
import json

import pytest
from typer.testing import CliRunner

from bot.app.schemas import SCHEMAS
from bot.cli.root import app
from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.summary import summaries_table
from memory.summary.summaries_table import Cursor
from memory.summary.value import Summary
from memory.values import NewMessage, Role, SessionId
from tests.fakes import NOON_NS

SESSION = SessionId("cli-main")


def kith(*words):
    return CliRunner().invoke(app, [*words])


def in_a_loop(work):
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(work)


async def remember(directory):
    async with open_database(directory / "kith.db", SCHEMAS) as database, database.unit() as unit:
        number, _ = await sessions_table.touch(unit, SESSION, title="書房", now_ns=NOON_NS)
        message = NewMessage(role=Role.USER, text="hello", sent_at_ns=NOON_NS)
        [seq] = await messages_table.append(unit, number, [message])
        await summaries_table.save(
            unit,
            SESSION,
            summary=Summary(key_decisions=("Do: 喝茶",)),
            cursor=Cursor(seq=seq),
            expected=await summaries_table.state(unit, SESSION),
            now_ns=NOON_NS + 1,
        )


@pytest.fixture
def directory(tmp_path, monkeypatch):
    monkeypatch.setattr("bot.cli.boundary.asyncio.run", in_a_loop)
    (tmp_path / "kith.toml").write_text('timezone = "Asia/Taipei"\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_summary_is_shown_with_its_cursors_time(directory):
    in_a_loop(remember(directory))

    found = kith("memory", "summary", SESSION, "--data-dir", str(directory))

    assert "up to 2023-11-15 06:13:20" in found.stdout
    assert "- Do: 喝茶" in found.stdout


def test_conversations_are_listed_under_the_names_that_the_other_verbs_take(directory):
    in_a_loop(remember(directory))

    found = kith("memory", "sessions", "--data-dir", str(directory))
    as_json = kith("memory", "sessions", "--json", "--data-dir", str(directory))

    assert (found.exit_code, as_json.exit_code) == (0, 0)
    assert "cli-main" in found.stdout
    assert "2023-11-15 06:13:20" in found.stdout
    assert json.loads(as_json.stdout) == [
        {"session": "cli-main", "title": "書房", "active_at_ns": NOON_NS}
    ]


def test_without_a_database_no_conversation_is_listed(directory):
    found = kith("memory", "sessions", "--data-dir", str(directory / "nowhere"))

    assert found.exit_code == 2
    assert "nothing is remembered" in found.stderr


def test_as_json_it_is_the_exchange_format_and_the_cursor(directory):
    in_a_loop(remember(directory))

    found = json.loads(
        kith("memory", "summary", SESSION, "--json", "--data-dir", str(directory)).stdout
    )

    assert found["summary"]["key_decisions"] == ["Do: 喝茶"]
    assert found["summary_cursor"] == "2023-11-15 06:13:20"
    assert found["saved_at_ns"] == NOON_NS + 1


def test_a_conversation_that_is_not_there_is_a_usage_error(directory):
    in_a_loop(remember(directory))

    found = kith("memory", "summary", "cli-other", "--data-dir", str(directory))

    assert found.exit_code == 2
    assert "no conversation" in found.output


def test_reading_an_empty_directory_makes_nothing_in_it(directory):
    found = kith("memory", "summary", "cli-other", "--data-dir", str(directory))

    assert found.exit_code == 2
    assert [path.name for path in directory.iterdir()] == ["kith.toml"]
