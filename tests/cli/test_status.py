"""What `kith status` and `kith doctor` print, over a socket and a directory of their own."""

import asyncio
import json
import logging
import threading

import pytest
import structlog
from typer.testing import CliRunner

from bot.cli.root import app
from bot.service.control import serve_control

STATUS = {
    "version": "1.0",
    "pid": 42,
    "started_at_ns": 1_700_000_000 * 10**9,
    "adapters": [
        {"platform": "telegram", "standing": "up", "since_ns": 1_700_000_000 * 10**9,
         "restarts": 0, "error": "an old one"},
        {"platform": "discord", "standing": "down", "since_ns": 1_700_000_000 * 10**9,
         "restarts": 3, "error": "Discord cannot be reached"},
    ],
    "chat_model": "ollama:qwen3",
    "search": "words",
    "lanes": 2,
    "inbox_open": 5,
    "outbox_open": 7,
    "perhaps_delivered": 0,
    "quarantined": 1,
    "troubles": [{"at_ns": 1_700_000_000 * 10**9, "event": "poll.failed", "error": "TimedOut"}],
}  # fmt: skip


@pytest.fixture
def kith(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("KITH_TELEGRAM_TOKEN", raising=False)
    monkeypatch.delenv("KITH_DISCORD_TOKEN", raising=False)
    config = tmp_path / "kith.toml"
    config.write_text('data_dir = "data"\ntimezone = "Asia/Taipei"\n')
    (tmp_path / "data").mkdir(mode=0o700)

    def run(*arguments):
        return CliRunner().invoke(app, [*arguments, "--config", str(config)])

    handlers = logging.getLogger().handlers
    yield run
    structlog.reset_defaults()
    logging.getLogger().handlers = handlers


@pytest.fixture
def service(tmp_path):
    """A control socket served from another thread, as the command has a loop of its own."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    over = asyncio.Event()

    async def status(_arguments):
        return STATUS

    async def serve():
        async with serve_control(tmp_path / "data", {"status": status}):
            ready.set()
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    ready.wait(5)
    yield
    loop.call_soon_threadsafe(over.set)
    thread.join(5)
    loop.close()


def test_the_status_of_a_running_service_fits_on_a_screen(kith, service):
    shown = kith("status")

    assert shown.exit_code == 0
    for told in ("process 42", "2023-11-15 06:13:20", "down", "Discord cannot be reached", "5", "7",
                 "ollama:qwen3", "poll.failed TimedOut"):  # fmt: skip
        assert told in shown.output
    assert "an old one" not in shown.output


def test_a_program_gets_the_status_as_json(kith, service):
    found = json.loads(kith("status", "--json").output)

    assert found["running"] is True
    assert found["inbox_open"] == 5


def test_without_a_service_status_says_so_and_fails(kith):
    plain, as_json = kith("status"), kith("status", "--json")

    assert (plain.exit_code, as_json.exit_code) == (1, 1)
    assert "kith run" in plain.output
    assert json.loads(as_json.output) == {"running": False}


def test_the_doctor_fails_without_a_token_and_names_the_next_step(kith):
    plain = kith("doctor", "--offline")
    found = json.loads(kith("doctor", "--offline", "--json").output)

    assert plain.exit_code == 1
    assert "KITH_TELEGRAM_TOKEN" in plain.output
    assert {one["check"] for one in found if one["level"] == "failed"} == {"tokens"}


def test_the_doctor_tells_of_a_configuration_that_cannot_be_used(kith, tmp_path):
    (tmp_path / "kith.toml").write_text("[telegram]\ntoken = '12:abc'\n")

    shown = kith("doctor", "--offline")

    assert shown.exit_code == 1
    assert "telegram.token" in shown.output
    assert "12:abc" not in shown.output


@pytest.mark.parametrize(
    ("text", "level", "told"),
    [
        (
            '[models]\nchat = "embedded:tiny"\n[embedded]\nmodels_dir = "m"\n',
            "warning",
            "model get tiny",
        ),
        ('[models]\nchat = "nobody knows it"\n', "failed", "no model"),
        ('[models]\nchat = "none"\n', "failed", "cannot be none"),
        ('[models]\nchat = "ollama:qwen3"\n', "skipped", "not asked"),
    ],
)
def test_the_doctor_tells_what_becomes_of_each_choice_of_a_model(kith, tmp_path, text, level, told):
    (tmp_path / "kith.toml").write_text(f'data_dir = "data"\n{text}')

    found = json.loads(kith("doctor", "--offline", "--json").output)

    [model] = [one for one in found if one["check"] == "model"]
    assert model["level"] == level
    assert told in model["what"] + model["fix"]


def test_the_doctor_falls_back_to_the_embedded_model_where_no_ollama_answers(kith, tmp_path):
    (tmp_path / "kith.toml").write_text(
        'data_dir = "data"\n[ollama]\nurl = "http://127.0.0.1:9"\n[embedded]\nmodels_dir = "m"\n'
    )

    found = json.loads(kith("doctor", "--json").output)

    [model] = [one for one in found if one["check"] == "model"]
    assert "kith model get" in model["fix"]


def test_a_token_file_that_cannot_be_read_is_a_finding(kith, monkeypatch):
    monkeypatch.setenv("KITH_TELEGRAM_TOKEN_FILE", "/nowhere/token")

    found = json.loads(kith("doctor", "--offline", "--json").output)

    [tokens] = [one for one in found if one["check"] == "tokens"]
    assert "/nowhere/token" in tokens["what"]


def test_running_without_a_token_is_a_matter_of_configuration(kith):
    shown = kith("run")

    assert shown.exit_code == 78
    assert "kith chat" in shown.output
