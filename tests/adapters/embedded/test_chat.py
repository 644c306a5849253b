import asyncio
import threading
from contextlib import aclosing

import pytest

from adapters.calls import CallScheduler
from adapters.embedded import runtime as native
from adapters.embedded.chat import EmbeddedChat, limits_of, open_chat
from adapters.embedded.errors import ExtraMissing, WeightsAbsent
from adapters.embedded.runtime import open_runtime
from adapters.embedded.store import Store
from adapters.embedded.weights import KNOWN, find
from memory.errors import ModelError, ModelMissing, ModelRefused
from memory.ports import ChatMessage, ChatRequest, ChatRole, ModelLimits, Priority

LIMITS = ModelLimits(context_tokens=2048, prompt_tokens=500, reply_tokens=200)


def ask(text="hello", **changes):
    return ChatRequest(messages=(ChatMessage(role=ChatRole.USER, text=text),), **changes)


def piece(text="", finish=None):
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish}]}


class ScriptedRuntime:
    """Sends chunks as llama.cpp does; `blocks` makes it go on until it is stopped."""

    def __init__(self, *chunks, blocks=False):
        self.chunks = chunks or (piece("he"), piece("llo"), piece(finish="stop"))
        self.blocks = blocks
        self.payloads = []
        self.running = 0
        self.most_running = 0
        self.stopped = 0
        self.began = threading.Event()

    def chat(self, payload, on_chunk):
        self.payloads.append(payload)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        self.began.set()
        try:
            self._send(on_chunk)
        finally:
            self.running -= 1

    def _send(self, on_chunk):
        for chunk in self.chunks:
            if isinstance(chunk, Exception):
                raise chunk
            if on_chunk(chunk):
                self.stopped += 1
                return
        while self.blocks:
            if on_chunk(piece("more ")):
                self.stopped += 1
                return


def chat(runtime, calls=None):
    return EmbeddedChat(
        name="embedded:toy", runtime=runtime, limits=LIMITS, calls=calls or CallScheduler().of("m")
    )


async def test_people_and_passes_have_a_prompt_cache_each():
    runtime = ScriptedRuntime()
    model = chat(runtime)
    await model.complete(ask())
    await model.complete(ask(priority=Priority.BACKGROUND))

    assert [payload["id_slot"] for payload in runtime.payloads] == [0, 1]
    assert all(payload["cache_prompt"] for payload in runtime.payloads)


async def test_leaving_a_stream_stops_the_native_call_before_its_place_is_free():
    runtime = ScriptedRuntime(blocks=True)
    model = chat(runtime)
    async with aclosing(model.stream(ask())) as chunks:
        await anext(chunks)

    assert runtime.running == 0
    assert runtime.stopped == 1


async def test_person_preempts_a_pass_and_the_pass_is_answered_afterwards():
    runtime = ScriptedRuntime(blocks=True)
    model = chat(runtime)
    async with asyncio.TaskGroup() as group:
        background = group.create_task(model.complete(ask(priority=Priority.BACKGROUND)))
        await asyncio.to_thread(runtime.began.wait)
        runtime.blocks = False
        person = await model.complete(ask())

    assert person.text == "hello"
    assert background.result().text == "hello"
    assert runtime.most_running == 1


async def test_call_that_is_cancelled_ends_in_the_thread_first():
    runtime = ScriptedRuntime(blocks=True)
    model = chat(runtime)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(model.complete(ask()))
        await asyncio.to_thread(runtime.began.wait)
        task.cancel()

    assert runtime.running == 0
    assert runtime.stopped == 1


async def test_failure_in_the_thread_comes_after_the_pieces():
    runtime = ScriptedRuntime(piece("half"), ModelRefused("no"))
    pieces = []

    async def read():
        async with aclosing(chat(runtime).stream(ask())) as chunks:
            pieces.extend([chunk.text async for chunk in chunks])

    with pytest.raises(ModelRefused):
        await read()


async def test_refusal_in_the_stream_frees_its_place():
    calls = CallScheduler().of("m")
    runtime = ScriptedRuntime({"error": {"code": 400}})
    with pytest.raises(ModelRefused):
        await chat(runtime, calls).complete(ask())

    assert (await chat(ScriptedRuntime(), calls).complete(ask())).text == "hello"


async def test_missing_file_is_told_with_the_command_that_fetches_it(tmp_path):
    opening = open_chat(
        find("tiny"), store=Store(models_dir=tmp_path), calls=CallScheduler().of("m")
    )

    with pytest.raises(WeightsAbsent, match="kith model get tiny"):
        await opening.__aenter__()


async def test_missing_library_is_told_with_the_command_that_installs_it(monkeypatch, tmp_path):
    def refuse(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(native.importlib, "import_module", refuse)
    opening = open_runtime(tmp_path / "x.gguf", context_tokens=512)

    with pytest.raises(ExtraMissing, match=r"pip install 'kithbot\[embedded\]'") as caught:
        await opening.__aenter__()

    assert isinstance(caught.value, ModelMissing)


async def test_file_that_is_no_model_is_told_with_the_next_step(tmp_path, capfd):
    (tmp_path / "x.gguf").write_bytes(b"no model")
    opening = open_runtime(tmp_path / "x.gguf", context_tokens=512)

    with pytest.raises(ModelError, match="no GGUF model"):
        await opening.__aenter__()

    assert capfd.readouterr().err == ""


async def test_file_that_is_gone_is_missing(tmp_path):
    with pytest.raises(ModelMissing):
        await open_runtime(tmp_path / "gone.gguf", context_tokens=512).__aenter__()


@pytest.mark.parametrize("weights", KNOWN, ids=lambda w: w.name)
def test_budgets_fit_the_context(weights):
    limits = limits_of(weights)

    assert limits.prompt_tokens + limits.reply_tokens <= limits.context_tokens
    assert not limits.tools


def test_one_core_is_left_alone_also_where_the_system_tells_only_their_number(monkeypatch):
    monkeypatch.delattr(native.os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(native.os, "cpu_count", lambda: 8)

    assert native.default_threads() == 7

    monkeypatch.setattr(native.os, "cpu_count", lambda: None)

    assert native.default_threads() == 1
