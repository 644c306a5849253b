import json
import sqlite3

import pytest
from typer.testing import CliRunner

from bot.cli.data import service_or_here
from bot.cli.root import app
from bot.cli.settings import loaded
from bot.config.datadir import owned
from bot.errors import ControlRefused
from bot.service.control import serve_control
from bot.service.data_verbs import BACKUP, CHECK, IMPORT, database_verbs, import_verbs
from memory.archive import messages_table
from memory.database.database import open_database
from tests.fakes import FakeClock

HISTORY = '[{"role": "user", "content": "綠茶", "sendAt": 5, "sender": "小明"}]'


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kith.toml").write_text(f'data_dir = "{tmp_path / "data"}"\n')
    (tmp_path / "old").mkdir()
    (tmp_path / "old/history.json").write_text(HISTORY)
    return tmp_path


@pytest.fixture
def kith(home):
    def call(*words):
        return CliRunner().invoke(app, list(words))

    call("import", str(home / "old"))
    return call


def test_a_sound_database_is_told_so(kith):
    told = json.loads(kith("db", "check", "--json").stdout)

    assert told["sound"]
    assert told["messages"] == 1
    assert kith("db", "check").exit_code == 0


def test_drift_fails_the_check_and_is_repaired(kith, home):
    with sqlite3.connect(home / "data/kith.db") as database:
        database.execute("UPDATE hot_bytes SET bytes = 0")
    database.close()

    broken = kith("db", "check")

    assert broken.exit_code == 1
    assert "running size" in broken.stdout
    assert kith("db", "repair").exit_code == 0
    assert kith("db", "check").exit_code == 0


def test_a_backup_is_a_new_private_file(kith, home):
    done = kith("db", "backup", "copy.db")

    assert done.exit_code == 0
    assert (home / "copy.db").stat().st_mode & 0o077 == 0
    again = kith("db", "backup", "copy.db")
    assert again.exit_code == 2
    assert "already" in again.stderr


def test_without_a_database_nothing_is_made(home):
    result = CliRunner().invoke(app, ["db", "check"])

    assert result.exit_code == 2
    assert not (home / "data").exists()


async def test_a_running_service_does_the_work_itself(home):
    settings = loaded(None)

    def never(_database):
        raise AssertionError

    with owned(settings.data_dir) as directory:
        async with open_database(directory / "kith.db") as database:
            imports = import_verbs(
                database=database,
                directory=directory,
                zone=None,
                clock=FakeClock(),
                prefixes=("cli-",),
                wordless=(),
            )
            async with serve_control(directory, {**database_verbs(database), **imports}):
                told = await service_or_here(settings, IMPORT, {"source": str(home / "old")}, never)
                found = await service_or_here(settings, CHECK, {}, never)
                await service_or_here(settings, BACKUP, {"target": str(home / "copy.db")}, never)
                with pytest.raises(ControlRefused, match=r"nothing was imported(.|\n)*not there"):
                    await service_or_here(settings, IMPORT, {"source": str(home / "none")}, never)
            async with database.reading() as reader:
                assert await messages_table.count_all(reader) == 1

    assert told["sessions"][0]["messages"] == 1
    assert found["sound"]
    assert (home / "copy.db").stat().st_size > 0
