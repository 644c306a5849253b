import json

import pytest
from typer.testing import CliRunner

from bot.cli.root import app
from bot.config.datadir import owned


@pytest.fixture
def kith(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kith.toml").write_text(
        f'data_dir = "{tmp_path / "data"}"\ntimezone = "Asia/Taipei"\n'
    )

    def call(*words):
        return CliRunner().invoke(app, list(words))

    return call


@pytest.fixture
def old(tmp_path):
    directory = tmp_path / "old"
    directory.mkdir()
    (directory / "history.json").write_text(
        '[{"role": "user", "content": "綠茶", "sendAt": 5, "sender": "小明"}]'
    )
    (directory / "MEMORY.md").write_text("背景")
    return directory


def test_an_import_tells_a_program_what_came_of_it(kith, old):
    result = json.loads(kith("import", str(old), "--json").stdout)

    assert result["sessions"] == [
        {"session": "cli-old", "messages": 1, "known": 0, "entries": 0, "summary": False}
    ]
    assert result["pages"] == ["MEMORY.md"]


def test_a_dry_run_stores_nothing(kith, old, tmp_path):
    result = kith("import", str(old), "--dry-run")

    assert result.exit_code == 0
    assert "would be imported" in result.stdout
    assert not (tmp_path / "data").exists()


def test_problems_are_listed_with_file_and_line_and_fail(kith, old):
    (old / "history.json").write_text('[\n{"role": "user", "content": 7}\n]')

    result = kith("import", str(old))

    assert result.exit_code == 1
    assert "history.json:2: " in result.stderr


def test_an_export_reads_back_under_its_own_name(kith, old, tmp_path):
    kith("import", str(old), "--session", "tea")

    done = kith("export", "cli-tea")
    again = json.loads(kith("import", "cli-tea", "--json").stdout)

    assert done.exit_code == 0
    assert (tmp_path / "cli-tea/history.json").exists()
    [session] = again["sessions"]
    assert (session["session"], session["messages"], session["known"]) == ("cli-tea", 0, 1)


def test_while_another_process_owns_the_directory_nothing_is_imported(kith, old, tmp_path):
    with owned(tmp_path / "data"):
        result = kith("import", str(old))

    assert result.exit_code == 1
    assert "another Kith" in result.stderr


def test_exporting_what_is_not_there_says_so(kith, old):
    assert kith("export", "cli-none").exit_code == 2
    kith("import", str(old))
    assert "no session" in kith("export", "cli-none").stderr


def test_where_a_platform_may_keep_no_transcript_messages_need_a_memory_that_was_chosen(
    kith, old, tmp_path
):
    with (tmp_path / "kith.toml").open("a") as config:
        config.write('[telegram]\ndirect_mode = "pools"\n')

    foreseen = kith("import", str(old), "--session", "tg-1-456", "--dry-run")
    refused = kith("import", str(old), "--session", "tg-1-456")
    taken = kith("import", str(old), "--session", "main")

    assert (foreseen.exit_code, refused.exit_code) == (1, 1)
    assert "keeps none" in refused.stderr
    assert taken.exit_code == 0
