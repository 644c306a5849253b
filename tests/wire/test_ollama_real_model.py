"""The real Ollama client, over HTTP, against a real model."""

import json
from contextlib import aclosing

import pytest

from adapters.calls import CallScheduler
from adapters.embedded.chat import EmbeddedChat
from adapters.embedded.embed import open_embedder as open_embedded_embedder
from adapters.ollama.adapter import open_chat
from adapters.ollama.embedder import open_embedder
from adapters.ollama.options import OllamaOptions
from memory.ports import ChatMessage, ChatRequest, ChatRole, Finish, ModelLimits
from tests.wire.model_backend import ModelBackend
from tests.wire.ollama_server import serve_ollama

pytestmark = pytest.mark.model

LIMITS = ModelLimits(context_tokens=2048, prompt_tokens=1024, reply_tokens=128)


@pytest.fixture
async def options(tiny_runtime):
    chat = EmbeddedChat(
        name="embedded:tiny", runtime=tiny_runtime, limits=LIMITS, calls=CallScheduler().of("m")
    )
    async with (
        open_embedded_embedder(CallScheduler().of("m")) as embedder,
        serve_ollama(ModelBackend(chat, embedder)) as server,
    ):
        yield OllamaOptions(url=server.url, model="tiny", num_ctx=2048)


def ask(text, **changes):
    return ChatRequest(messages=(ChatMessage(role=ChatRole.USER, text=text),), **changes)


async def test_client_streams_and_counts_what_the_model_says(options):
    async with (
        open_chat(options, CallScheduler().of("m")) as model,
        aclosing(model.stream(ask("Say hello to Momo.", max_tokens=12, temperature=0))) as stream,
    ):
        chunks = [chunk async for chunk in stream]

    whole = chunks[-1].done
    assert len(chunks) > 3
    assert "".join(chunk.text for chunk in chunks) == whole.text
    assert whole.finish is Finish.LENGTH
    assert whole.reply_tokens == 12
    assert whole.prompt_tokens > 5


async def test_schema_binds_the_model_through_the_client(options):
    schema = {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": {"type": "string"}, "maxItems": 1}},
        "required": ["facts"],
        "additionalProperties": False,
    }
    async with open_chat(options, CallScheduler().of("m")) as model:
        request = ask("Momo is a cat.", schema=schema, temperature=0, max_tokens=100)
        answer = json.loads((await model.complete(request)).text)

    assert list(answer) == ["facts"]
    assert all(isinstance(fact, str) for fact in answer["facts"])


async def test_vectors_come_through_the_client(options):
    async with open_embedder(options, CallScheduler().of("m")) as embedder:
        question, right, wrong = await embedder.embed(
            ["What is my cat called?", "我的貓叫麻糬。", "The harbour was closed on Monday."]
        )

    assert question @ right > question @ wrong
