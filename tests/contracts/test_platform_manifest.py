"""What every platform's manifest has, so that a new one fails here and not at its first message."""

import subprocess
import sys
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from inspect import iscoroutinefunction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.access.sessions import patterns_of, session_of
from bot.app.checkup import examine_all
from bot.config.config import load, parse
from bot.errors import ConfigError, LoginRefused
from bot.manifests import AdapterParts, Level, Manifests
from bot.ports import Author, ChatKind, ChatRef, Secret
from bot.turn.saying import repeats
from memory.transfer.checking import session_named
from memory.values import PersonId
from tests.cli.process import NOBODY_LISTENS
from tests.fakes import FakeClock, FakeCommandRunner, FakeIntake
from tests.registry import MANIFESTS
from tests.wire.discord_server import discord_server
from tests.wire.telegram_server import open_telegram_server

ABSENT = {
    "discord": {"api_url": NOBODY_LISTENS},
    "telegram": {"api_url": NOBODY_LISTENS},
    "shout": {"board": "/nowhere/board"},
}
"""Settings under which a platform cannot be reached."""


@asynccontextmanager
async def _discord(_directory):
    async with discord_server() as server:
        yield {"api_url": server.api_url}, server.token


@asynccontextmanager
async def _telegram(_directory):
    async with open_telegram_server() as server:
        yield {"api_url": server.base_url.removesuffix("/bot")}, server.token


@asynccontextmanager
async def _shout(directory):
    (directory / "token").write_text("knock")
    yield {"board": str(directory)}, "knock"


THERE = {"discord": _discord, "telegram": _telegram, "shout": _shout}
"""Each platform, there to be asked: settings and token."""
TOKEN = Secret("12:abc")
ROOT = Path(__file__).parents[2]
HEAVY = {"aiohttp", "discord", "faiss", "httpx", "telegram"}


@pytest.fixture(params=MANIFESTS.platforms.values(), ids=lambda one: one.name)
def manifest(request):
    return request.param


@pytest.fixture(params=MANIFESTS.connectors, ids=str)
def connected(request):
    return MANIFESTS.platforms[request.param]


def test_its_name_and_prefix_are_plain_words(manifest):
    for word in (manifest.name, manifest.prefix):
        assert word.isidentifier()
        assert word == word.lower()


@pytest.mark.parametrize(
    "change",
    [
        {"name": "telegram"},
        {"name": "ollama"},
        {"prefix": "tg"},
        {"prefix": "sh-out"},
        {"prefix": ""},
        {"prefix": "temp"},
        {"bare_id": "(["},
    ],
    ids=str,
)
def test_one_that_would_be_taken_for_another_is_refused(change):
    wrong = replace(MANIFESTS.platforms["shout"], **change)
    others = [one for one in MANIFESTS.platforms.values() if one.name != "shout"]

    with pytest.raises(ValueError, match=r"name or a prefix|dash|swept|pattern"):
        Manifests(platforms=(*others, wrong), servers=MANIFESTS.servers.values())


def test_it_says_how_often_a_part_in_doubt_is_sent(manifest):
    assert 1 <= manifest.most_sends <= 5


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(("kind", "topic"), [("direct", None), ("group", None), ("group", "5")])
def test_its_sessions_are_its_own_and_an_import_knows_them(manifest, kind, topic, own):
    chat = ChatRef(platform=manifest.name, bot="1", chat="-100", kind=ChatKind(kind), topic=topic)
    ann = Author(person=PersonId(f"{manifest.name}:7"), name="Ann")

    session = session_of(manifest, chat, ann, own=own)

    owners = [one for one in MANIFESTS.platforms.values() if session.startswith(f"{one.prefix}-")]
    assert owners == [manifest]
    assert session_named(session, MANIFESTS.session_prefixes) == session
    if manifest.connector:
        assert any(fnmatchcase(session, one) for one in patterns_of(manifest, chat))


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
def test_no_record_of_an_error_may_hold_the_id_of_a_person(manifest, data):
    ids = [f"{manifest.name}:7"]
    if manifest.bare_id:
        ids.append(data.draw(st.from_regex(manifest.bare_id, fullmatch=True)))

    for one in ids:
        assert repeats(f"the tool knew {one} no more", (), (), MANIFESTS.person_ids)


def test_its_table_has_defaults_and_takes_who_may_speak(connected):
    name, own = connected.name, connected.connector.settings()

    found = parse(f"[{name}]\nallow.users = ['7']\n", "x", MANIFESTS).platform(name)

    assert found.enabled
    assert found.allow.users == ("7",)
    assert all(getattr(found, one.name) == getattr(own, one.name) for one in fields(own))


def test_a_key_that_it_does_not_know_is_reported_beside_its_own_and_the_common_ones(connected):
    name, keys = connected.name, [one.name for one in fields(connected.connector.settings)]
    written = "".join(f"{key}x = 1\n" for key in [*keys, "admins"])

    with pytest.raises(ConfigError) as caught:
        parse(f"[{name}]\n{written}", "x", MANIFESTS)

    found = {one.key: one.what for one in caught.value.problems}
    assert set(found) == {f"{name}.{key}x" for key in [*keys, "admins"]}
    assert all("did you mean" in what for what in found.values())


def test_its_token_is_a_secret_that_is_known(connected):
    assert f"{connected.name}-token" in MANIFESTS.secrets
    with pytest.raises(ConfigError, match=f"KITH_{connected.name.upper()}_TOKEN"):
        parse(f"[{connected.name}]\ntoken = 'x'\n", "x", MANIFESTS)


async def test_a_check_logs_in_and_says_who_is_let_in_and_who_is_not(connected, tmp_path):
    async with THERE[connected.name](tmp_path) as (own, token):
        check, settings_there = connected.connector.check, connected.connector.settings(**own)

        found = await check(settings_there, Secret(token))
        with pytest.raises(LoginRefused):
            await check(settings_there, Secret(f"{token}x"))

    assert {one.check for one in found} == {connected.name}
    assert found[0].level is Level.OK


async def test_one_that_cannot_be_reached_is_a_finding_and_offline_it_is_not_tried(
    connected, tmp_path
):
    name, config = connected.name, tmp_path / "kith.toml"
    own = "".join(f'{key} = "{value}"\n' for key, value in ABSENT[name].items())
    config.write_text(f'data_dir = "data"\n[models]\nchat = "parrot:polly"\n[{name}]\n{own}')
    loaded = load(MANIFESTS, config, env={f"KITH_{name.upper()}_TOKEN": TOKEN.reveal()})

    levels = {}
    for offline in (False, True):
        found = await examine_all(loaded, FakeClock(), offline=offline)
        levels[offline] = [one.level for one in found if one.check == name]

    assert levels == {False: [Level.FAILED], True: [Level.SKIPPED]}


async def test_open_gives_its_adapter_with_every_verb(connected):
    own = connected.connector.settings(**ABSENT[connected.name])
    parts = AdapterParts(
        intake=FakeIntake(), commands=FakeCommandRunner(), specs=(), clock=FakeClock()
    )
    chat = ChatRef(platform=connected.name, bot="1", chat="7", kind=ChatKind.DIRECT)

    async with connected.connector.open(own, TOKEN, parts) as adapter:
        assert adapter.platform == connected.name
        assert iscoroutinefunction(adapter.run)
        assert iscoroutinefunction(adapter.send)
        for text in ("", "one", "two words " * 2_000):
            pieces = adapter.split(text)
            assert pieces
            assert all(pieces)
        assert hasattr(adapter.typing(chat), "__aenter__")


def test_naming_every_one_imports_no_library():
    code = "import sys, tests.registry; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert not HEAVY & set(done.stdout.split())
