import io
import json
import logging
import time

import pytest
import structlog

from adapters.registry import MANIFESTS
from bot.ports import Secret
from bot.service.logs import configure
from memory.errors import StorageFull


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def _restored():
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def test_off_a_terminal_each_event_is_one_json_line():
    stream = io.StringIO()
    configure(level="info", stream=stream, quiet=())

    structlog.get_logger().info("turn.ended", session="麻糬", elapsed_ms=3)

    [line] = stream.getvalue().splitlines()
    event = json.loads(line)
    assert event["event"] == "turn.ended"
    assert event["session"] == "麻糬"


def test_times_are_utc_wherever_the_machine_stands(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Taipei")
    time.tzset()
    stream = io.StringIO()
    configure(level="info", stream=stream, quiet=())

    structlog.get_logger().info("turn.ended")

    monkeypatch.undo()
    time.tzset()
    assert json.loads(stream.getvalue())["timestamp"].endswith("Z")


def test_on_a_terminal_it_is_readable():
    stream = Terminal()
    configure(level="info", stream=stream, quiet=())

    structlog.get_logger().info("turn.ended", elapsed_ms=3)

    assert "turn.ended" in stream.getvalue()
    assert not stream.getvalue().startswith("{")


@pytest.mark.parametrize("stream_type", [io.StringIO, Terminal])
def test_secrets_are_blotted_out_everywhere(stream_type):
    stream = stream_type()
    configure(level="debug", stream=stream, secrets=[Secret("hunter2")], quiet=())
    log = structlog.get_logger()

    log.info("token hunter2", url="https://x/bothunter2/getMe")
    logging.getLogger("telegram").warning("got %s", "hunter2")
    if stream_type is io.StringIO:
        try:
            raise ValueError("bad token hunter2")
        except ValueError:
            log.exception("adapter.failed")

    assert "hunter2" not in stream.getvalue()


@pytest.mark.parametrize("stream_type", [io.StringIO, Terminal])
def test_a_traceback_shows_no_local_variables(stream_type):
    stream = stream_type()
    configure(level="info", stream=stream, quiet=())

    private = "something private"

    def answer(said):
        raise RuntimeError

    try:
        answer(private)
    except RuntimeError:
        structlog.get_logger().exception("turn.broke")

    assert "turn.broke" in stream.getvalue()
    assert "something private" not in stream.getvalue()


def test_the_libraries_that_print_urls_with_tokens_are_quiet():
    stream = io.StringIO()
    for name in ("httpx", "telegram", "discord"):
        logging.getLogger(name).setLevel(
            logging.NOTSET
        )  # what another test has set counts for nothing
    configure(level="debug", stream=stream, quiet=MANIFESTS.loggers)

    for name in ("httpx", "telegram", "discord"):
        logging.getLogger(name).info("GET https://api/botTOKEN/getMe")

    assert stream.getvalue() == ""


@pytest.mark.parametrize("tty", [False, True])
def test_what_an_exception_says_is_not_logged_only_its_type_and_place(tty):
    stream = Terminal() if tty else io.StringIO()
    configure(level="debug", stream=stream, quiet=())

    def encode(text):
        try:
            text.encode("ascii")
        except UnicodeEncodeError as error:
            raise ValueError(f"cannot take {text}") from error

    said = "秘密 my " + "secret"
    try:
        encode(said)
    except ValueError:
        structlog.get_logger().exception("turn.broke")

    told = stream.getvalue()
    assert "ValueError" in told
    assert "UnicodeEncodeError" in told
    assert "in encode" in told
    assert said not in told


def test_what_our_own_errors_say_is_logged():
    stream = io.StringIO()
    configure(level="debug", stream=stream, quiet=())

    try:
        raise StorageFull("the disk is full")
    except StorageFull:
        structlog.get_logger().exception("turn.broke")

    assert "StorageFull: the disk is full" in stream.getvalue()
