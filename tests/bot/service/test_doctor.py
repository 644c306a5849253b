import pytest

from adapters.discord.options import DISCORD
from adapters.registry import MANIFESTS
from bot.access.access import Access
from bot.config.access_settings import AccessSettings, IdLists
from bot.config.config import load
from bot.errors import ConfigError
from bot.service.doctor import (
    Level,
    access_findings,
    clock_finding,
    config_refused,
    config_used,
    database_findings,
    file_findings,
    nobody_may_speak,
    stop_timeout_s,
    unit_findings,
)
from memory.database.database import open_database
from tests.fakes import FakeClock


@pytest.fixture
def loaded(tmp_path):
    path = tmp_path / "kith.toml"
    path.write_text('data_dir = "data"\n')
    return load(MANIFESTS, path, env={"KITH_TELEGRAM_TOKEN_FILE": str(tmp_path / "token")})


def levels(findings):
    return {finding.level for finding in findings}


def test_each_problem_of_a_refused_configuration_is_a_finding(tmp_path):
    path = tmp_path / "kith.toml"
    path.write_text("a = 1\nb = 2\n")
    with pytest.raises(ConfigError) as caught:
        load(MANIFESTS, path, env={})

    found = config_refused(caught.value)

    assert len(found) == 2
    assert levels(found) == {Level.FAILED}


def test_the_file_that_is_used_is_named(loaded, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert str(tmp_path / "kith.toml") in config_used(loaded).what


def test_a_private_directory_is_well(loaded):
    loaded.data_dir.mkdir(mode=0o700)

    assert levels(file_findings(loaded)) == {Level.OK}


def test_what_others_can_read_is_named_with_the_command_that_closes_it(loaded, tmp_path):
    loaded.data_dir.mkdir()
    loaded.data_dir.chmod(0o755)
    token = tmp_path / "token"
    token.write_text("12:secret")
    token.chmod(0o644)

    fixes = {finding.fix for finding in file_findings(loaded)}

    assert fixes == {f"chmod 700 {loaded.data_dir}", f"chmod 600 {token}"}


def test_a_readable_database_in_a_closed_directory_is_no_matter(loaded):
    loaded.data_dir.mkdir(mode=0o700)
    (loaded.data_dir / "kith.db").touch(mode=0o644)

    assert Level.WARNING not in levels(file_findings(loaded))


async def test_a_sound_database_is_found_sound(tmp_path):
    async with open_database(tmp_path / "kith.db"):
        assert levels(await database_findings(tmp_path)) == {Level.OK}


async def test_no_database_yet_is_no_fault_and_none_is_made(tmp_path):
    assert levels(await database_findings(tmp_path)) == {Level.OK}
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "content", [b"no database at all" * 100, b"SQLite format 3\0" + b"x" * 9000]
)
async def test_a_damaged_database_is_found_damaged(tmp_path, content):
    (tmp_path / "kith.db").write_bytes(content)

    assert Level.FAILED in levels(await database_findings(tmp_path))


def test_a_clock_that_was_never_set_is_found(loaded):
    assert clock_finding(FakeClock(), "UTC").level is Level.FAILED
    assert clock_finding(FakeClock(1_800_000_000 * 10**9), "UTC").level is Level.OK


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("TimeoutStopSec=45", 45),
        ("TimeoutStopSec=45s", 45),
        ("TimeoutStopSec=2min", 120),
        ("TimeoutStopSec=infinity", None),
        ("#TimeoutStopSec=1", None),
        ("TimeoutStopSec=1\nTimeoutStopSec=90", 90),
    ],
)
def test_the_stop_timeout_of_a_unit_is_read(line, seconds):
    assert stop_timeout_s(f"[Service]\n{line}\nRestart=always\n") == seconds


@pytest.mark.parametrize(("given", "level"), [("75", Level.OK), ("45", Level.FAILED)])
def test_a_unit_that_kills_before_a_stop_has_ended_is_found(loaded, tmp_path, given, level):
    unit = tmp_path / "kith.service"
    unit.write_text(f"[Service]\nTimeoutStopSec={given}\n")

    [finding] = unit_findings(loaded, [tmp_path / "nowhere", unit])

    assert finding.level is level
    if level is Level.FAILED:
        assert "TimeoutStopSec=75" in finding.fix


def test_a_door_that_is_open_to_everybody_is_warned_of():
    access = Access({DISCORD: AccessSettings(allow=IdLists(guilds=("*",)))})

    found = list(access_findings(access, speaks=["discord"]))

    assert [finding.level for finding in found] == [Level.WARNING, Level.OK]
    assert "discord.allow.guilds" in found[0].what


def test_a_platform_that_lets_nobody_in_is_warned_of_with_the_key_to_set():
    assert "[telegram.allow]" in nobody_may_speak("telegram").fix
