"""The Ollama embedder against a server that speaks the real protocol."""

import asyncio
from contextlib import asynccontextmanager

import numpy as np
import pytest

from adapters.calls import CallScheduler
from adapters.ollama.adapter import open_chat
from adapters.ollama.embedder import open_embedder
from adapters.ollama.options import OllamaOptions
from memory.errors import (
    ModelAnswerInvalid,
    ModelMissing,
    ModelRefused,
    ModelTimedOut,
    ModelUnreachable,
)
from memory.ports import ChatMessage, ChatRequest, ChatRole, Priority
from tests.wire.ollama_server import Fault, ScriptedBackend, Trouble, serve_ollama


@asynccontextmanager
async def embedding(backend=None, calls=None, **options):
    async with serve_ollama(backend or ScriptedBackend()) as server:
        chosen = OllamaOptions(**{"url": server.url, "model": "tiny"} | options)
        async with open_embedder(chosen, calls or CallScheduler().of("m")) as embedder:
            yield embedder, server


async def test_every_call_states_context_and_keep_alive_and_asks_to_truncate():
    async with embedding(num_ctx=512, keep_alive="2h") as (embedder, server):
        await embedder.embed(["a", "貓"])
        await embedder.embed(["b"], priority=Priority.BACKGROUND)

    for body in server.bodies("/api/embed"):
        assert body["options"] == {"num_ctx": 512}
        assert body["keep_alive"] == "2h"
        assert body["truncate"] is True
    assert server.bodies("/api/embed")[0]["input"] == ["a", "貓"]


async def test_many_texts_go_out_in_batches():
    async with embedding() as (embedder, server):
        rows = await embedder.embed([f"text {number}" for number in range(70)])

    assert [len(body["input"]) for body in server.bodies("/api/embed")] == [32, 32, 6]
    assert rows.shape == (70, 128)


async def test_vectors_of_any_length_come_back_as_unit_vectors():
    async with embedding() as (embedder, server):
        server.faults.append(Fault(trouble=Trouble.VECTORS, vectors=[[3.0, 4.0]]))
        rows = await embedder.embed(["a"])

    np.testing.assert_allclose(rows, [[0.6, 0.8]], atol=1e-6)
    assert rows.dtype == np.float32


@pytest.mark.parametrize(
    "vectors",
    [
        [[float("nan"), 1.0], [1.0, 0.0]],
        [[float("inf"), 1.0], [1.0, 0.0]],
        [[0.0, 0.0], [1.0, 0.0]],
        [[1.0, 0.0]],
        [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]],
        [[1.0, 0.0], [1.0]],
        [[], []],
        [],
        None,
        [["a", "b"], ["c", "d"]],
    ],
    ids=["nan", "inf", "zero", "few", "many", "ragged", "empty", "none", "null", "words"],
)
async def test_vectors_that_cannot_be_used_are_refused(vectors):
    async with embedding() as (embedder, server):
        server.faults.append(Fault(trouble=Trouble.VECTORS, vectors=vectors))
        with pytest.raises(ModelAnswerInvalid):
            await embedder.embed(["a", "b"])

        assert (await embedder.embed(["a", "b"])).shape == (2, 128)


async def test_vectors_of_another_dimension_than_before_are_refused():
    async with embedding() as (embedder, server):
        await embedder.embed(["a"])
        server.faults.append(Fault(trouble=Trouble.VECTORS, vectors=[[1.0, 0.0]]))
        with pytest.raises(ModelAnswerInvalid, match=r"\[2\] numbers, before 128"):
            await embedder.embed(["a"])


async def test_nan_that_the_server_could_not_write_is_an_invalid_answer():
    error = "failed to encode response: json: unsupported value: NaN"
    async with embedding() as (embedder, server):
        server.faults.append(Fault(trouble=Trouble.STATUS, status=500, text=error))
        with pytest.raises(ModelAnswerInvalid, match="not numbers"):
            await embedder.embed(["a"])


@pytest.mark.parametrize("text", ["word " * 400, "字" * 2000])
async def test_text_that_the_server_does_not_truncate_is_represented_by_its_beginning(text):
    too_long = Fault(
        trouble=Trouble.STATUS, status=400, text="the input length exceeds the context length"
    )
    async with embedding() as (embedder, server):
        server.faults.extend([too_long, too_long])
        rows = await embedder.embed([text, "short"])

    assert rows.shape == (2, 128)
    sent = server.bodies("/api/embed")[-1]["input"]
    assert sent == [text[:500], "short"]


async def test_server_that_finds_every_text_too_long_is_not_asked_for_ever():
    too_long = Fault(trouble=Trouble.STATUS, status=400, text="exceeds the context length")
    async with embedding() as (embedder, server):
        server.faults.extend([too_long] * 50)
        with pytest.raises(ModelRefused):
            await embedder.embed(["word " * 400])

    assert len(server.bodies("/api/embed")) < 8


async def test_cold_load_may_take_longer_than_the_idle_limit():
    async with embedding(first_token_s=5, idle_s=0.1) as (embedder, server):
        server.faults.append(Fault(trouble=Trouble.SLOW_START, seconds=0.3))

        assert (await embedder.embed(["a"])).shape == (1, 128)


async def test_server_that_stays_silent_is_given_up():
    async with embedding(first_token_s=0.15) as (embedder, server):
        server.faults.append(Fault(trouble=Trouble.SILENCE))
        with pytest.raises(ModelTimedOut, match="did not embed"):
            await embedder.embed(["a"])


async def test_dropped_connection_is_unreachable():
    async with embedding() as (embedder, server):
        server.faults.append(Fault(trouble=Trouble.DROP))
        with pytest.raises(ModelUnreachable):
            await embedder.embed(["a"])


async def test_unknown_model_names_the_command_that_fetches_it():
    async with embedding(model="bge-m3") as (embedder, _):
        with pytest.raises(ModelMissing, match="ollama pull bge-m3"):
            await embedder.embed(["a"])


async def test_background_batch_gives_way_to_a_chat_through_the_shared_scheduler():
    calls = CallScheduler().of("m")
    request = ChatRequest(messages=(ChatMessage(role=ChatRole.USER, text="hi"),))
    async with embedding(ScriptedBackend(["hello"]), calls=calls) as (embedder, server):
        server.faults.append(Fault(trouble=Trouble.SILENCE))
        async with (
            open_chat(OllamaOptions(url=server.url, model="tiny"), calls) as chat,
            asyncio.timeout(10),
            asyncio.TaskGroup() as group,
        ):
            backlog = group.create_task(embedder.embed(["a", "b"], priority=Priority.BACKGROUND))
            await server.entered.wait()
            assert (await chat.complete(request)).text == "hello"

    assert backlog.result().shape == (2, 128)
    assert len(server.bodies("/api/embed")) == 2
