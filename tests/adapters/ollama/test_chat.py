"""The Ollama chat adapter against a server that speaks the real protocol."""

import asyncio
from contextlib import aclosing, asynccontextmanager

import pytest
from structlog.testing import capture_logs

from adapters.calls import CallScheduler
from adapters.ollama.adapter import open_chat
from adapters.ollama.options import OllamaOptions
from memory.errors import (
    ModelAnswerInvalid,
    ModelMissing,
    ModelRefused,
    ModelTimedOut,
    ModelUnreachable,
)
from memory.ports import (
    ChatMessage,
    ChatRequest,
    ChatRole,
    Completion,
    Finish,
    Priority,
    ToolCall,
    ToolSpec,
)
from tests.wire.ollama_server import (
    Fault,
    ScriptedBackend,
    ServedModel,
    Trouble,
    serve_ollama,
)

SECRET = "麻糬 sleeps in the bathtub"


@asynccontextmanager
async def chatting(*replies, calls=None, model=None, pause_s=0.0, **options):
    model = model or ServedModel()
    async with serve_ollama(ScriptedBackend(replies, models=[model], pause_s=pause_s)) as server:
        chosen = OllamaOptions(**{"url": server.url, "model": model.name} | options)
        async with open_chat(chosen, calls or CallScheduler().of("m")) as chat:
            yield chat, server


def ask(text="Hello", **changes):
    return ChatRequest(messages=(ChatMessage(role=ChatRole.USER, text=text),), **changes)


async def read(chat, request, into=None):
    pieces = [] if into is None else into
    async with aclosing(chat.stream(request)) as chunks:
        async for chunk in chunks:
            pieces.append(chunk.text)
    return pieces


async def test_every_call_states_context_reply_limit_and_keep_alive():
    async with chatting("a", "b", "c", num_ctx=4096, reply_tokens=200, keep_alive="1h") as (
        chat,
        server,
    ):
        await chat.complete(ask())
        await chat.complete(ask(max_tokens=7, temperature=0.0))
        await chat.complete(ask(priority=Priority.BACKGROUND))

    bodies = server.bodies("/api/chat")
    assert [body["options"]["num_ctx"] for body in bodies] == [4096] * 3
    assert [body["options"]["num_predict"] for body in bodies] == [200, 7, 200]
    assert [body["keep_alive"] for body in bodies] == ["1h"] * 3
    assert bodies[1]["options"]["temperature"] == 0.0
    assert "temperature" not in bodies[0]["options"]


@pytest.mark.parametrize(("given", "sent"), [("-1", -1), (300, 300), ("30m", "30m")])
async def test_keep_alive_that_is_a_number_is_sent_as_a_number(given, sent):
    async with chatting("a", keep_alive=given) as (chat, server):
        await chat.complete(ask())

    assert server.bodies("/api/chat")[0]["keep_alive"] == sent


async def test_limits_keep_the_reply_out_of_the_prompt():
    async with chatting(num_ctx=4096, reply_tokens=1000) as (chat, _):
        limits = await chat.limits()

    assert limits.context_tokens == 4096
    assert limits.prompt_tokens == 3096
    assert limits.reply_tokens == 1000
    assert limits.tools


async def test_context_is_never_larger_than_what_the_model_was_trained_for():
    model = ServedModel(context_tokens=2048)
    async with chatting(model=model, num_ctx=8192, reply_tokens=1500) as (chat, _):
        limits = await chat.limits()

    assert (limits.context_tokens, limits.reply_tokens) == (2048, 1024)


@pytest.mark.parametrize("capabilities", [("completion",), None])
async def test_tools_are_neither_promised_nor_sent_to_a_model_without_them(capabilities):
    model = ServedModel(capabilities=capabilities)
    tool = ToolSpec(name="t", description="d", parameters={"type": "object"})
    async with chatting("a", model=model) as (chat, server):
        limits = await chat.limits()
        await chat.complete(ask(tools=(tool,)))

    assert not limits.tools
    assert not server.bodies("/api/chat")[0].get("tools")


async def test_tool_round_is_sent_in_the_words_of_the_protocol():
    call = ToolCall(name="chat_history", arguments={"keyword": "麻糬"})
    tool = ToolSpec(
        name="chat_history",
        description="Search the past.",
        parameters={
            "type": "object",
            "properties": {"keyword": {"type": "string", "description": "what"}},
            "required": ["keyword"],
        },
    )
    messages = (
        ChatMessage(role=ChatRole.USER, text="Who?"),
        ChatMessage(role=ChatRole.ASSISTANT, text="", tool_calls=(call,)),
        ChatMessage(role=ChatRole.TOOL, text="Momo", tool_name="chat_history"),
    )
    async with chatting("Momo.") as (chat, server):
        await chat.complete(ChatRequest(messages=messages, tools=(tool,)))

    [body] = server.bodies("/api/chat")
    function = {"name": "chat_history", "arguments": {"keyword": "麻糬"}}
    assert body["messages"][1]["tool_calls"] == [{"function": function}]
    assert body["messages"][2] == {"role": "tool", "content": "Momo", "tool_name": "chat_history"}
    assert body["tools"][0]["function"]["parameters"] == tool.parameters


async def test_schema_is_sent_as_format():
    schema = {"type": "object", "properties": {"facts": {"type": "array"}}, "required": ["facts"]}
    async with chatting('{"facts": []}', "plain") as (chat, server):
        await chat.complete(ask(schema=schema))
        await chat.complete(ask())

    with_schema, without = server.bodies("/api/chat")
    assert with_schema["format"] == schema
    assert "format" not in without


async def test_think_is_sent_only_to_a_model_that_lists_it():
    thinker = ServedModel(capabilities=("completion", "thinking"))
    async with chatting("a", "b", model=thinker, think=True) as (chat, server):
        await chat.complete(ask())
        await chat.complete(ask(schema={"type": "object"}))
    async with chatting("a", think=True) as (chat, plain_server):
        await chat.complete(ask())

    assert [body["think"] for body in server.bodies("/api/chat")] == [True, False]
    assert "think" not in plain_server.bodies("/api/chat")[0]


async def test_lone_surrogates_do_not_stop_a_request():
    async with chatting("a") as (chat, server):
        await chat.complete(ask("half an emoji \ud83d here"))

    assert server.bodies("/api/chat")[0]["messages"][0]["content"].startswith("half an emoji")


async def test_counts_of_the_model_are_handed_on():
    async with chatting(Completion(text="a", prompt_tokens=321, reply_tokens=12)) as (chat, _):
        whole = await chat.complete(ask())

    assert (whole.prompt_tokens, whole.reply_tokens) == (321, 12)


@pytest.mark.parametrize("counted", [0, -1], ids=["zero", "absent"])
async def test_prompt_count_that_the_server_leaves_out_is_unknown(counted):
    async with chatting(Completion(text="a", prompt_tokens=counted)) as (chat, _):
        whole = await chat.complete(ask())

    assert whole.prompt_tokens is None
    assert whole.text == "a"


@pytest.mark.parametrize("counted", [2047, 2048, 1026])
async def test_prompt_that_the_server_cut_is_logged_without_its_text(counted):
    long = f"{SECRET} " * 400
    async with chatting(Completion(text="a", prompt_tokens=counted), num_ctx=2048) as (chat, _):
        with capture_logs() as logs:
            await chat.complete(ask(long))

    [event] = [entry for entry in logs if entry["event"] == "prompt.cut"]
    assert event["counted_tokens"] == counted
    assert SECRET not in str(logs)


async def test_prompt_that_fitted_is_not_taken_for_a_cut_one():
    async with chatting("a", num_ctx=2048) as (chat, _):
        with capture_logs() as logs:
            await chat.complete(ask(f"{SECRET} " * 50))

    assert [entry for entry in logs if entry["event"] == "prompt.cut"] == []


async def test_reply_cut_by_the_server_is_marked():
    async with chatting(Completion(text='{"facts": [', finish=Finish.LENGTH)) as (chat, _):
        whole = await chat.complete(ask())

    assert whole.finish is Finish.LENGTH


async def test_answer_that_only_loaded_the_model_is_asked_for_again():
    async with chatting("here I am") as (chat, server):
        server.faults.append(Fault(trouble=Trouble.ONLY_LOADED))
        whole = await chat.complete(ask())

    assert whole.text == "here I am"
    assert len(server.bodies("/api/chat")) == 2


async def test_model_that_only_ever_loads_is_an_error():
    async with chatting("never") as (chat, server):
        server.faults.extend([Fault(trouble=Trouble.ONLY_LOADED)] * 2)
        with pytest.raises(ModelAnswerInvalid, match="ollama run tiny"):
            await chat.complete(ask())


async def test_cold_load_may_take_longer_than_the_idle_limit():
    async with chatting("warm now", first_token_s=10.0, idle_s=0.4) as (chat, server):
        server.faults.append(Fault(trouble=Trouble.SLOW_START, seconds=0.7))
        whole = await chat.complete(ask())

    assert whole.text == "warm now"


async def test_model_that_never_begins_is_given_up_after_the_first_token_limit():
    async with chatting("never", first_token_s=0.15, idle_s=60) as (chat, server):
        server.faults.append(Fault(trouble=Trouble.SILENCE))
        with pytest.raises(ModelTimedOut, match=r"did not begin to answer within 0.15 s"):
            await chat.complete(ask())


async def test_model_that_falls_silent_is_given_up_after_the_idle_limit():
    pieces = []
    async with chatting("one two three", first_token_s=60, idle_s=0.4) as (chat, server):
        server.faults.append(Fault(trouble=Trouble.SILENCE, after=2))
        with pytest.raises(ModelTimedOut, match=r"stopped in the middle of an answer within 0.4 s"):
            await read(chat, ask(), pieces)

    assert "".join(pieces) == "one two "


async def test_slow_but_steady_stream_may_take_longer_than_any_limit():
    async with chatting("a" * 40, pause_s=0.1, first_token_s=0.8, idle_s=0.8) as (chat, _):
        whole = await chat.complete(ask())

    assert whole.text == "a" * 40


@pytest.mark.parametrize("after", [0, 2])
async def test_model_killed_in_the_middle_is_unreachable_and_the_next_call_works(after):
    async with chatting("one two three", "back again") as (chat, server):
        server.faults.append(Fault(trouble=Trouble.DROP, after=after))
        with pytest.raises(ModelUnreachable, match="broke the connection off"):
            await chat.complete(ask())

        assert (await chat.complete(ask())).text == "back again"


async def test_error_line_in_the_middle_of_a_stream_ends_it():
    async with chatting("one two three") as (chat, server):
        server.faults.append(
            Fault(trouble=Trouble.ERROR_LINE, after=1, text="llama runner process has terminated")
        )
        with pytest.raises(ModelUnreachable, match="runner process has terminated"):
            await chat.complete(ask())


@pytest.mark.parametrize("line", ["{broken", "[1, 2]", '"text"', '{"message": 7}'])
async def test_line_that_is_not_the_protocol_is_refused_without_quoting_it(line):
    async with chatting(SECRET) as (chat, server):
        server.faults.append(Fault(trouble=Trouble.GARBAGE, after=1, text=line))
        with pytest.raises(ModelAnswerInvalid, match="not Ollama's protocol") as caught:
            await chat.complete(ask())

    assert line not in str(caught.value)
    assert caught.value.__cause__ is None


async def test_stream_that_ends_politely_without_done_is_refused():
    async with chatting("one two three") as (chat, server):
        server.faults.append(Fault(trouble=Trouble.NO_DONE, after=1))
        with pytest.raises(ModelAnswerInvalid, match="before it was done"):
            await chat.complete(ask())


async def test_unknown_model_names_the_command_that_fetches_it():
    async with chatting("a", model=ServedModel(name="other")) as (_, server):
        options = OllamaOptions(url=server.url, model="qwen3:4b")
        async with open_chat(options, CallScheduler().of("m")) as chat:
            with pytest.raises(ModelMissing, match="ollama pull qwen3:4b"):
                await chat.complete(ask())


@pytest.mark.parametrize("tail", ["/v1", "/api"])
async def test_address_with_a_wrong_path_is_named(tail):
    async with chatting("a") as (_, server):
        options = OllamaOptions(url=server.url + tail, model="tiny")
        async with open_chat(options, CallScheduler().of("m")) as chat:
            with pytest.raises(ModelUnreachable, match="without /v1 or /api"):
                await chat.limits()


@pytest.mark.parametrize(
    ("status", "text", "error", "word"),
    [
        (500, "model requires more system memory", ModelRefused, "more system memory"),
        (503, "server busy, please try again", ModelRefused, "busy"),
        (401, "unauthorized", ModelRefused, "token"),
        (403, "forbidden", ModelRefused, "does not accept"),
        (400, "bad", ModelRefused, "bad"),
    ],
)
async def test_status_of_the_server_says_what_to_do(status, text, error, word):
    async with chatting("a") as (chat, server):
        server.faults.append(Fault(trouble=Trouble.STATUS, status=status, text=text))
        with pytest.raises(error, match=word):
            await chat.complete(ask())


async def test_token_is_sent_and_never_shown():
    async with chatting("a", token="s3cret") as (chat, server):
        await chat.complete(ask())

    assert server.requests[-1].headers["authorization"] == "Bearer s3cret"
    assert "s3cret" not in repr(OllamaOptions(model="m", token="s3cret"))


async def test_leaving_a_stream_early_stops_the_model():
    async with chatting("a" * 4000, pause_s=0.02) as (chat, server):
        async with aclosing(chat.stream(ask(max_tokens=4000))) as chunks:
            await anext(chunks)
        async with asyncio.timeout(5):
            await server.left.wait()

    assert server.running == 0


async def test_interactive_call_preempts_a_background_one_on_the_wire():
    calls = CallScheduler().of("m")
    async with chatting("s" * 4000, "for the person", "the summary", calls=calls, pause_s=0.02) as (
        chat,
        server,
    ):
        async with asyncio.timeout(10), asyncio.TaskGroup() as group:
            request = ask("background", priority=Priority.BACKGROUND, max_tokens=4000)
            background = group.create_task(chat.complete(request))
            await server.began.wait()
            person = await chat.complete(ask("person"))
            assert not background.done()

    assert person.text == "for the person"
    assert background.result().text == "the summary"
    asked = [body["messages"][0]["content"] for body in server.bodies("/api/chat")]
    assert asked == ["background", "person", "background"]
    assert server.hung_up == 1
    assert server.most_running <= 2  # the hang-up travels behind the new call


async def test_one_place_lets_one_call_through_at_a_time():
    async with chatting(*["answer"] * 6, pause_s=0.01) as (chat, server):
        async with asyncio.TaskGroup() as group:
            for _ in range(6):
                group.create_task(chat.complete(ask()))

    assert server.most_running == 1
