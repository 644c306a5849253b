import contextlib
from dataclasses import replace

import pytest

from adapters.embedded import runtime as native
from adapters.embedded.errors import ExtraMissing
from adapters.embedded.manifest import EmbeddedSettings
from adapters.ollama.manifest import OllamaSettings
from adapters.registry import MANIFESTS
from bot.app.model_choice import Choice, NoDownloads, open_models, parse
from bot.config.config import Loaded
from bot.config.settings import ModelsSettings
from bot.config.tables import config_type
from bot.errors import ConfigError
from bot.manifests import Manifests
from memory.errors import ModelMissing
from tests.cli.process import NOBODY_LISTENS
from tests.servers.parrot.manifest import MANIFEST as PARROT
from tests.servers.parrot.manifest import Parrot, ParrotSettings
from tests.wire.ollama_server import ScriptedBackend, ServedModel, serve_ollama


class Fledgling(Parrot):
    """Says that it has a model for vectors, and has not."""

    async def usual_embedder(self):
        return "egg"


FLEDGLING = replace(PARROT, scheme="fledgling", open=Fledgling)


class Refusing:
    """Has no embedded model; remembers which one was asked for."""

    def __init__(self):
        self.asked = []

    async def ensure(self, name, models_dir):
        self.asked.append(name)
        raise ModelMissing("none here")


@pytest.fixture
def provider():
    return Refusing()


@contextlib.asynccontextmanager
async def opened(provider, url, *, chat="auto", embed="none", decision="", model="", embedded=""):
    config = config_type(MANIFESTS)(
        models=ModelsSettings(chat=chat, embed=embed, decision=decision),
        ollama=OllamaSettings(url=url, model=model),
        embedded=EmbeddedSettings(model=embedded or "default"),
    )
    async with open_models(
        Loaded(config=config, source=None, manifests=MANIFESTS), provider
    ) as models:
        yield models


def serving(*names):
    return serve_ollama(ScriptedBackend(models=[ServedModel(name=name) for name in names]))


async def test_auto_takes_the_first_chat_model_that_ollama_lists(provider):
    async with (
        serving("nomic-embed-text:latest", "qwen3:8b", "gemma3:4b") as server,
        opened(provider, server.url) as models,
    ):
        assert models.chat.name == "ollama:qwen3:8b"
        assert models.summary is models.extract is models.chat
        assert models.decision is models.embed is None


async def test_auto_takes_the_model_that_the_configuration_names(provider):
    async with (
        serving("qwen3:8b", "gemma3:4b") as server,
        opened(provider, server.url, model="gemma3:4b") as models,
    ):
        assert models.chat.name == "ollama:gemma3:4b"


async def test_auto_takes_the_embedded_model_where_ollama_does_not_answer(provider):
    with pytest.raises(ModelMissing, match="none here"):
        async with opened(provider, NOBODY_LISTENS, embedded="small"):
            pass

    assert provider.asked == ["small"]


async def test_auto_takes_the_embedded_model_where_ollama_can_only_embed(provider):
    async with serving("nomic-embed-text:latest") as server:
        with pytest.raises(ModelMissing, match="none here"):
            async with opened(provider, server.url):
                pass

    assert provider.asked == ["default"]


async def test_auto_goes_without_vectors_where_the_model_for_them_cannot_be_had():
    manifests = Manifests(platforms=(), servers=(FLEDGLING,))
    config = config_type(manifests)(fledgling=ParrotSettings(awake=True))
    loaded = Loaded(config=config, source=None, manifests=manifests)

    async with open_models(loaded, NoDownloads()) as models:
        assert models.chat.name == "parrot:polly"
        assert models.embed is None


async def test_a_model_that_plays_two_parts_is_opened_once(provider):
    async with (
        serving("qwen3:8b") as server,
        opened(provider, server.url, decision="ollama:qwen3:8b") as models,
    ):
        assert models.decision is models.chat


async def test_nothing_is_fetched_for_a_library_that_is_missing(provider, monkeypatch):
    def refuse(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(native.importlib, "import_module", refuse)

    with pytest.raises(ExtraMissing, match=r"pip install 'kithbot\[embedded\]'"):
        async with opened(provider, NOBODY_LISTENS):
            pass

    assert provider.asked == []


@pytest.mark.parametrize(
    ("written", "choice"),
    [
        ("ollama:qwen3:8b", Choice(scheme="ollama", name="qwen3:8b")),
        ("embedded:small", Choice(scheme="embedded", name="small")),
        ("tiny", Choice(scheme="embedded", name="tiny")),
        ("auto", Choice(scheme="auto", name="")),
    ],
)
def test_a_model_is_named_with_or_without_its_provider(written, choice):
    assert parse(written, "models.chat", MANIFESTS) == choice


@pytest.mark.parametrize("written", ["qwen3", "ollama:", "openai:x", ":", ""])
def test_what_names_no_model_is_reported_by_its_key(written):
    with pytest.raises(ConfigError, match=r"models\.chat"):
        parse(written, "models.chat", MANIFESTS)
