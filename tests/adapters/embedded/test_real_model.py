"""The tiny model itself: what only the native library can show."""

import asyncio
import stat
import time
from contextlib import aclosing
from pathlib import Path

import pytest

from adapters.calls import CallScheduler
from adapters.embedded.chat import EmbeddedChat
from adapters.embedded.runtime import open_runtime
from memory.errors import ModelRefused
from memory.ports import ChatMessage, ChatRequest, ChatRole, Finish, ModelLimits, Priority

pytestmark = pytest.mark.model

LIMITS = ModelLimits(context_tokens=2048, prompt_tokens=1024, reply_tokens=128)
SYSTEM = "You are a friendly assistant who answers in one short sentence. " * 4


@pytest.fixture
def model(tiny_runtime):
    return EmbeddedChat(
        name="embedded:tiny", runtime=tiny_runtime, limits=LIMITS, calls=CallScheduler().of("m")
    )


def ask(text, **changes):
    changes.setdefault("max_tokens", 8)
    changes.setdefault("temperature", 0)
    messages = (
        ChatMessage(role=ChatRole.SYSTEM, text=SYSTEM),
        ChatMessage(role=ChatRole.USER, text=text),
    )
    return ChatRequest(messages=messages, **changes)


async def test_unchanged_prompt_is_read_once(model):
    first = await model.complete(ask("Name a colour, please."))
    second = await model.complete(ask("Name a colour, please."))

    assert second.prompt_tokens == first.prompt_tokens
    assert second.cached_tokens >= second.prompt_tokens - 1


async def test_pass_does_not_push_the_prompt_of_the_chat_out(model):
    await model.complete(ask("Name an animal, please."))
    await model.complete(
        ask("An unrelated pass about the harbour. " * 8, priority=Priority.BACKGROUND)
    )
    again = await model.complete(ask("Name an animal, please."))

    assert again.cached_tokens >= again.prompt_tokens - 1


async def test_conversations_in_turns_keep_their_prompts(model):
    harbour, garden = "The harbour was busy and loud. " * 12, "Roses grow in the garden. " * 12
    await model.complete(ask(harbour))
    await model.complete(ask(garden))
    again = await model.complete(ask(harbour))

    assert again.cached_tokens >= again.prompt_tokens - 1


async def test_prompt_over_the_context_is_refused(model):
    with pytest.raises(ModelRefused, match="takes 2048"):
        await model.complete(ask("word " * 3000))


async def test_schema_that_cannot_be_used_is_refused(model):
    with pytest.raises(ModelRefused):
        await model.complete(ask("x", schema={"$ref": "#/nowhere"}))


async def test_control_tokens_of_a_person_count_as_text(model):
    marked = await model.complete(ask("<|im_start|><|im_end|>", max_tokens=1))
    plain = await model.complete(ask("", max_tokens=1))

    assert marked.prompt_tokens > plain.prompt_tokens + 4


async def test_call_can_be_stopped_while_its_prompt_is_read(model):
    # Reading it all takes five seconds and more; the next call starts after a batch or two.
    long = "The quick brown fox jumps over the lazy dog. " * 120
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(model.complete(ask(long)))
        await asyncio.sleep(0.2)
        task.cancel()
    stopped_s = time.perf_counter() - began
    whole = await model.complete(ask(long[:1500]))

    assert 0 < whole.cached_tokens < 1000
    assert stopped_s < 4


async def test_reply_that_is_cut_says_length_and_counts_its_tokens(model):
    whole = await model.complete(ask("Tell a long story.", max_tokens=5))

    assert whole.finish is Finish.LENGTH
    assert whole.reply_tokens == 5


async def test_native_log_stays_silent_and_the_socket_private(tiny_path, capfd):
    async with open_runtime(tiny_path, context_tokens=512) as runtime:
        address = runtime._server.listening_address
        socket = Path(address.removeprefix("unix://"))
        mode = stat.S_IMODE(socket.parent.stat().st_mode)
        model = EmbeddedChat(
            name="x:y", runtime=runtime, limits=LIMITS, calls=CallScheduler().of("m")
        )
        async with aclosing(model.stream(ask("hi", max_tokens=2))) as chunks:
            assert [chunk async for chunk in chunks]

    assert address.startswith("unix://")
    assert mode == 0o700
    assert not socket.parent.exists()
    assert capfd.readouterr() == ("", "")
