"""What every Embedder does, over the fake and the real adapters.

A new implementation adds one opener to OPENERS: an async context manager that yields an Embedder.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import numpy as np
import pytest

from adapters.calls import CallScheduler
from adapters.embedded.embed import open_embedder as open_embedded
from adapters.ollama.embedder import open_embedder
from adapters.ollama.options import OllamaOptions
from memory.ports import Embedder, Priority
from tests.fakes import FakeEmbedder
from tests.wire.ollama_server import ScriptedBackend, serve_ollama

Opener = Callable[[], AbstractAsyncContextManager[Embedder]]


@asynccontextmanager
async def fake():
    yield FakeEmbedder()


@asynccontextmanager
async def ollama():
    async with serve_ollama(ScriptedBackend()) as server:
        options = OllamaOptions(url=server.url, model="tiny", num_ctx=2048)
        async with open_embedder(options, CallScheduler().of("m")) as opened:
            yield opened


@asynccontextmanager
async def embedded():
    async with open_embedded(CallScheduler().of("m")) as opened:
        yield opened


OPENERS: dict[str, Opener] = {"fake": fake, "ollama": ollama, "embedded": embedded}


@pytest.fixture(params=OPENERS.values(), ids=OPENERS.keys())
async def embedder(request):
    async with request.param() as opened:
        yield opened


async def test_name_says_provider_then_model(embedder):
    provider, _, name = embedder.name.partition(":")

    assert provider
    assert name


@pytest.mark.parametrize("priority", Priority)
async def test_one_unit_row_of_float32_per_text(embedder, priority):
    rows = await embedder.embed(["Momo is a cat.", "麻糬是一隻貓。", "東京"], priority=priority)

    assert rows.shape[0] == 3
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-3)


async def test_rows_keep_the_order_of_the_texts_past_a_batch(embedder):
    texts = [f"fact number {number} 號" for number in range(70)]

    together = await embedder.embed(texts)
    last = await embedder.embed(texts[-1:])

    assert together.shape[0] == 70
    np.testing.assert_allclose(together[-1], last[0], atol=1e-3)


async def test_nothing_to_embed_gives_no_rows(embedder):
    rows = await embedder.embed([])

    assert rows.ndim == 2
    assert rows.shape[0] == 0


@pytest.mark.parametrize("text", ["", " ", "\x00", "a\x00b", "🐈" * 50, "字" * 3000])
async def test_odd_texts_get_a_usable_row(embedder, text):
    rows = await embedder.embed([text])

    assert rows.shape[0] == 1
    assert np.isfinite(rows).all()


@pytest.mark.parametrize(
    ("near", "near_too", "far"),
    [
        ("My cat is called Momo.", "The cat's name is Momo.", "It rains in Lisbon today"),
        ("我的貓叫麻糬。", "我家的貓名叫麻糬", "明天東京會下雨嗎"),
    ],
)
async def test_similar_texts_are_nearer_than_others(embedder, near, near_too, far):
    first, second, third = await embedder.embed([near, near_too, far])

    assert first @ second > first @ third
