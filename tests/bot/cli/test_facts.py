import asyncio
import json

import pytest
from typer.testing import CliRunner

from bot.app.clock import SystemClock
from bot.app.schemas import SCHEMAS
from bot.cli.root import app
from bot.service.control import serve_control
from bot.service.memory_verbs import memory_verbs
from memory.database import sessions_table
from memory.database.database import open_database
from memory.pools import entries_table
from memory.pools.service import PoolService
from tests.fakes import NOON_NS
from tests.memory.pools.stage import MING, ROOM, entry, message


def kith(*words, directory):
    return CliRunner().invoke(app, ["memory", *words, "--data-dir", str(directory)])


def in_a_loop(work):
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(work)


async def remember(directory):
    async with open_database(directory / "kith.db", SCHEMAS) as database, database.unit() as unit:
        await sessions_table.touch(unit, ROOM, title="", now_ns=NOON_NS)
        old = await entries_table.add(unit, ROOM, entry("小明住在台北", speaker=MING))
        new = await entries_table.add(
            unit, ROOM, entry("小明住在台南", speaker=MING, sources=(message(7),))
        )
        await entries_table.supersede(unit, old, by=new)


@pytest.fixture
def directory(tmp_path, monkeypatch):
    monkeypatch.setattr("bot.cli.boundary.asyncio.run", in_a_loop)
    monkeypatch.chdir(tmp_path)
    in_a_loop(remember(tmp_path))
    return tmp_path


def test_facts_are_listed_and_searched(directory):
    assert kith("list", ROOM, directory=directory).stdout == "2  [short] 小明: 小明住在台南\n"
    assert "台北" in kith("list", ROOM, "--history", directory=directory).stdout
    assert kith("find", ROOM, "台南", directory=directory).stdout.startswith("2 ")
    assert "nothing is noted" in kith("find", ROOM, "kayak", directory=directory).stdout


def test_a_fact_is_shown_with_its_source_and_its_history(directory):
    shown = kith("show", ROOM, "2", directory=directory).stdout
    found = json.loads(kith("show", ROOM, "2", "--json", directory=directory).stdout)

    assert "from: message 7" in shown
    assert [one["content"] for one in found["before"]] == ["小明住在台北"]
    assert list(found)[:3] == ["content", "tag", "timestamp"]
    assert found["timestamp"] == "2023-11-14T22:13:20+00:00"


def test_without_a_service_facts_are_written_into_the_file(directory):
    added = json.loads(
        kith("add", ROOM, "We meet on Fridays", "--json", directory=directory).stdout
    )
    assert (added[0]["tag"], added[0]["scope"], added[0]["pool"]) == ("fact", "group", "long")

    assert "Mondays" in kith("edit", ROOM, "3", "We meet on Mondays", directory=directory).stdout
    assert kith("delete", ROOM, "3", directory=directory).stdout == "deleted 3\n"
    assert "Mondays" not in kith("list", ROOM, directory=directory).stdout


def test_what_is_not_there_is_said_with_the_exit_code_of_a_usage_error(directory, tmp_path):
    for words in (("show", ROOM, "99"), ("delete", ROOM, "99"), ("edit", ROOM, "99", "some text")):
        assert kith(*words, directory=directory).exit_code == 2
    empty = tmp_path / "empty"
    assert kith("list", ROOM, directory=empty).exit_code == 2


async def test_a_running_service_does_the_writing(tmp_path):
    await remember(tmp_path)
    async with open_database(tmp_path / "kith.db", SCHEMAS) as database:
        desk = PoolService(database=database, clock=SystemClock())
        async with serve_control(tmp_path, memory_verbs(desk)):
            words = ["memory", "add", ROOM, "We meet on Fridays", "--data-dir", str(tmp_path)]
            done = await asyncio.to_thread(CliRunner().invoke, app, words)
            refused = await asyncio.to_thread(
                CliRunner().invoke, app, ["memory", "delete", ROOM, "99", *words[-2:]]
            )

        assert done.exit_code == 0
        assert refused.exit_code != 0
        async with database.reading() as reader:
            assert [one.content for one in await entries_table.every(reader, ROOM)][-1] == (
                "We meet on Fridays"
            )
