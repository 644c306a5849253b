"""What every ChatModel does, over the fake and the real adapters.

A new implementation adds one opener: to SCRIPTED when it can be made to answer given replies, to
REAL when a real model answers as it likes (it then ignores the replies and is given the tiny model,
which is loaded once).
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager

import pytest

from adapters.calls import CallScheduler
from adapters.embedded.chat import EmbeddedChat
from adapters.embedded.runtime import Runtime
from adapters.ollama.adapter import open_chat
from adapters.ollama.options import OllamaOptions
from memory.errors import ModelError, ModelUnreachable
from memory.ports import (
    ChatMessage,
    ChatModel,
    ChatRequest,
    ChatRole,
    Completion,
    Finish,
    ModelLimits,
    Priority,
    ToolCall,
    ToolSpec,
)
from tests.fakes import Breaks, FakeChatModel, Reply
from tests.wire.model_backend import ModelBackend
from tests.wire.ollama_server import ScriptedBackend, ServedModel, serve_ollama

Opener = Callable[[Sequence[Reply]], AbstractAsyncContextManager[ChatModel]]


@asynccontextmanager
async def fake(replies: Sequence[Reply]):
    yield FakeChatModel(replies)


@asynccontextmanager
async def ollama(replies: Sequence[Reply]):
    model = ServedModel(capabilities=("completion", "tools", "thinking"))
    async with serve_ollama(ScriptedBackend(replies, models=[model])) as server:
        options = OllamaOptions(url=server.url, model=model.name, num_ctx=4096)
        async with open_chat(options, CallScheduler().of("m")) as chat:
            yield chat


def embedded(runtime: Runtime) -> Opener:
    @asynccontextmanager
    async def opened(_: Sequence[Reply]):
        limits = ModelLimits(context_tokens=2048, prompt_tokens=1024, reply_tokens=128)
        yield EmbeddedChat(
            name="embedded:tiny", runtime=runtime, limits=limits, calls=CallScheduler().of("m")
        )

    return opened


def ollama_over_a_real_model(runtime: Runtime) -> Opener:
    @asynccontextmanager
    async def opened(_: Sequence[Reply]):
        async with (
            embedded(runtime)([]) as behind,
            serve_ollama(ModelBackend(behind)) as server,
            open_chat(
                OllamaOptions(url=server.url, model="tiny", num_ctx=2048), CallScheduler().of("m")
            ) as chat,
        ):
            yield chat

    return opened


SCRIPTED: dict[str, Opener] = {"fake": fake, "ollama": ollama}
REAL: dict[str, Callable[[Runtime], Opener]] = {
    "embedded": embedded,
    "ollama-real": ollama_over_a_real_model,
}
PATIENCE_S = 60
"""Longest that any one call of this suite may take with a real model on a busy machine."""

LONG = "a b c d e f g h i j k l m n o p"


@pytest.fixture(params=[*SCRIPTED, *(pytest.param(name, marks=pytest.mark.model) for name in REAL)])
def open_model(request):
    if request.param in SCRIPTED:
        return SCRIPTED[request.param]
    return REAL[request.param](request.getfixturevalue("tiny_runtime"))


@pytest.fixture(params=SCRIPTED.values(), ids=SCRIPTED.keys())
def open_scripted(request):
    return request.param


def ask(text="Count from one to twenty, in words. 請用文字從一數到二十。", **changes):
    messages = (
        ChatMessage(role=ChatRole.SYSTEM, text="Be brief. 請簡短。"),
        ChatMessage(role=ChatRole.USER, text=text),
    )
    changes.setdefault("max_tokens", 24)
    return ChatRequest(messages=messages, **changes)


async def collect(model, request):
    async with asyncio.timeout(PATIENCE_S), aclosing(model.stream(request)) as chunks:
        return [chunk async for chunk in chunks]


async def test_name_says_provider_then_model(open_model):
    async with open_model([]) as model:
        provider, _, name = model.name.partition(":")

    assert provider
    assert name


async def test_limits_leave_room_for_the_reply(open_model):
    async with open_model([]) as model:
        limits = await model.limits()

    assert limits.reply_tokens > 0
    assert limits.prompt_tokens > 0
    assert limits.prompt_tokens + limits.reply_tokens <= limits.context_tokens


async def test_pieces_of_a_stream_add_up_to_the_completion(open_model):
    async with open_model([LONG]) as model:
        chunks = await collect(model, ask())

    assert "".join(chunk.text for chunk in chunks) == chunks[-1].done.text
    assert chunks[-1].done.text.strip()


async def test_only_the_last_chunk_is_done(open_model):
    async with open_model([LONG]) as model:
        chunks = await collect(model, ask())

    assert len(chunks) > 2
    assert [chunk.done is not None for chunk in chunks] == [False] * (len(chunks) - 1) + [True]


async def test_who_follows_a_call_is_told_before_the_model_is_asked(open_model):
    told = []

    class Watch:
        async def waits(self):
            raise AssertionError("nobody else calls")

        async def begins(self):
            told.append("begins")

    async with open_model([LONG]) as model:
        async with (
            asyncio.timeout(PATIENCE_S),
            aclosing(model.stream(ask(watch=Watch()))) as chunks,
        ):
            async for _ in chunks:
                assert told == ["begins"]

    assert told == ["begins"]


async def test_what_a_follower_raises_ends_the_call_and_the_model_answers_the_next(open_model):
    class Watch:
        async def waits(self):
            pass

        async def begins(self):
            raise OSError("disk full")

    async with open_model([LONG]) as model:
        with pytest.raises(OSError, match="disk full"):
            await collect(model, ask(watch=Watch()))
        chunks = await collect(model, ask())

    assert chunks[-1].done is not None


@pytest.mark.parametrize("priority", Priority)
async def test_complete_answers_at_either_priority(open_model, priority):
    async with open_model(["one two"]) as model, asyncio.timeout(PATIENCE_S):
        whole = await model.complete(ask(priority=priority))

    assert whole.text.strip()


async def test_reply_cut_at_the_token_limit_says_so(open_model):
    async with open_model([LONG]) as model, asyncio.timeout(PATIENCE_S):
        whole = await model.complete(ask(max_tokens=3))

    assert whole.finish is Finish.LENGTH
    assert 0 < len(whole.text) < len(LONG)


async def test_schema_is_answered_with_json_of_that_schema(open_model):
    schema = {
        "type": "object",
        "properties": {"cat": {"type": "boolean"}},
        "required": ["cat"],
        "additionalProperties": False,
    }
    async with open_model(['{"cat": true}']) as model, asyncio.timeout(PATIENCE_S):
        request = ask("麻糬 is a cat. Is it a cat?", schema=schema, temperature=0, max_tokens=64)
        answer = json.loads((await model.complete(request)).text)

    assert list(answer) == ["cat"]
    assert isinstance(answer["cat"], bool)


async def test_stream_that_is_left_early_does_not_block_the_next_call(open_model):
    async with open_model([LONG, "next"]) as model, asyncio.timeout(PATIENCE_S):
        async with aclosing(model.stream(ask(max_tokens=None))) as chunks:
            await anext(chunks)

        assert (await model.complete(ask())).text.strip()


async def test_call_that_is_cancelled_does_not_block_the_next_one(open_model):
    async with open_model([LONG, "next"]) as model, asyncio.timeout(PATIENCE_S):
        async with asyncio.TaskGroup() as group:
            first = group.create_task(model.complete(ask(max_tokens=None)))
            await asyncio.sleep(0)
            first.cancel()

        assert (await model.complete(ask())).text.strip()


async def test_reader_may_call_again_as_soon_as_it_has_seen_done(open_model):
    async with (
        open_model(["first", "second"]) as model,
        asyncio.timeout(PATIENCE_S),
        aclosing(model.stream(ask())) as chunks,
    ):
        async for chunk in chunks:
            if chunk.done is not None:
                nested = await model.complete(ask())

    assert nested.text.strip()


async def test_several_calls_at_once_all_get_an_answer(open_model):
    async with (
        open_model(["one", "two", "three", "four"]) as model,
        asyncio.timeout(PATIENCE_S),
        asyncio.TaskGroup() as group,
    ):
        calls = [
            group.create_task(model.complete(ask(priority=priority, max_tokens=8)))
            for priority in (Priority.BACKGROUND, Priority.INTERACTIVE) * 2
        ]

    assert all(call.result().text.strip() for call in calls)


@pytest.mark.parametrize("text", ["Your cat is called Momo.", "你的貓叫麻糬。🐈", " x ", "a\n\nb"])
async def test_text_of_the_model_arrives_unchanged(open_scripted, text):
    async with open_scripted([text, text]) as model:
        chunks = await collect(model, ask(max_tokens=None))
        whole = await model.complete(ask(max_tokens=None, priority=Priority.BACKGROUND))

    assert "".join(chunk.text for chunk in chunks) == text
    assert chunks[-1].done == whole
    assert whole.text == text
    assert whole.finish is Finish.STOP


async def test_thinking_is_kept_apart_from_the_reply(open_scripted):
    async with open_scripted([Completion(text="42", thinking="six times seven")]) as model:
        chunks = await collect(model, ask())

    assert "".join(chunk.text for chunk in chunks) == "42"
    assert "".join(chunk.thinking for chunk in chunks) == "six times seven"
    assert chunks[-1].done.thinking == "six times seven"


async def test_tool_calls_come_back_as_data(open_scripted):
    call = ToolCall(name="chat_history", arguments={"keyword": "麻糬", "limit": 3})
    tool = ToolSpec(
        name="chat_history",
        description="Search.",
        parameters={"type": "object", "properties": {"keyword": {"type": "string"}}},
    )
    async with open_scripted([Completion(text="", tool_calls=(call,))]) as model:
        whole = await model.complete(ask(tools=(tool,)))

    assert whole.tool_calls == (call,)


async def test_failure_in_the_middle_is_a_model_error_after_the_pieces_that_came(open_scripted):
    pieces = []

    async def read(model):
        async with aclosing(model.stream(ask())) as chunks:
            async for chunk in chunks:
                assert chunk.done is None
                pieces.append(chunk.text)

    async with open_scripted([Breaks(text="half an ", error=ModelUnreachable("gone"))]) as model:
        with pytest.raises(ModelError):
            await read(model)

    assert "".join(pieces) == "half an "


async def test_failure_in_the_middle_of_complete_is_a_model_error(open_scripted):
    async with open_scripted([Breaks(text="half", error=ModelUnreachable("gone"))]) as model:
        with pytest.raises(ModelError):
            await model.complete(ask())


async def test_model_answers_again_after_a_failure(open_scripted):
    async with open_scripted([Breaks(error=ModelUnreachable("gone")), "back"]) as model:
        with pytest.raises(ModelError):
            await model.complete(ask())

        assert (await model.complete(ask())).text == "back"
