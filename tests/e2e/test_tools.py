"""Tools over the real doors: a model that calls them behind Ollama's API, both platforms, the pipe."""

import asyncio
import re

import pytest

from bot.app.schemas import SCHEMAS
from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.values import NewMessage, PersonId, Role, Speaker
from tests.cli.process import Kith
from tests.e2e.harness import open_world, running, until
from tests.fakes import bigram_vector
from tests.wire.ollama_server import ServedModel, serve_ollama
from tests.wire.telegram_values import private

START_NS = 1_700_000_000 * 10**9
NOTE = {
    "tool_name": "chat_history",
    "keywords": ["time_range", "range"],
    "symptom": "time_range 2w is refused",
    "action": "use 7d or 1m",
    "outcome": "resolved",
}


class Librarian:
    """A model that looks up what it is told to, and answers with the line that it found."""

    models = (ServedModel(),)

    async def chat(self, body):
        yield self._reply(body)
        yield {"done_reason": "stop", "prompt_eval_count": 10, "eval_count": 3}

    def _reply(self, body):
        last = body["messages"][-1]
        text = last["content"]
        if "format" in body:
            return {"content": "{}"}
        if last["role"] == "tool":
            return self._after(text)
        if found := re.search(r"look up (.+)", text):
            return self._call("chat_history", {"keyword": found[1], "match": "keyword"})
        if "break it" in text:
            return self._call("chat_history", {"keyword": "x", "time_range": "2w"})
        return {"content": "hello"}

    def _after(self, result):
        if "Related earlier errors" in result:
            return {"content": f"I know: {result.splitlines()[-1]}"}
        if "invalid parameter" in result:
            return self._call("write_error", NOTE)
        if "kept as" in result:
            return {"content": "noted"}
        found = [line for line in result.splitlines() if "code" in line or "烏龜" in line]
        return {"content": f"found: {found[0] if found else 'nothing'}"}

    def _call(self, name, arguments):
        return {
            "content": "",
            "tool_calls": [{"function": {"name": name, "arguments": arguments}}],
        }

    async def embed(self, texts):
        return [bigram_vector(text, 64) for text in texts]


async def remember(directory, *names):
    """Two things worth knowing, and 500 messages since, in each session."""
    directory.mkdir(exist_ok=True)
    ann = Speaker(person=PersonId("telegram:1"), name="Ann")
    texts = ["my locker code is zebra-41", *"abcdef", "我弟弟養了一隻烏龜"]
    texts += [f"line {n}: " + "this and that about the weather of the day " * 2 for n in range(500)]
    async with open_database(directory / "kith.db", SCHEMAS) as database:
        for name in names:
            entries = [
                NewMessage(role=Role.USER, text=text, sent_at_ns=START_NS + at * 10**9, speaker=ann)
                for at, text in enumerate(texts)
            ]
            async with database.unit() as unit:
                number, _ = await sessions_table.touch(unit, name, title="", now_ns=START_NS)
                await messages_table.append(unit, number, entries)


@pytest.fixture
async def world(tmp_path):
    async with open_world(tmp_path) as world:
        world.ollama.backend = Librarian()
        yield world


async def test_what_was_said_500_messages_ago_is_answered_on_both_platforms(world):
    [person], [user] = world.people(1)
    telegram = f"tg-{world.telegram.bot.id}-{person.id}"
    discord = f"dc-{world.discord.bot.id}-u{user.id}"
    await remember(world.data, telegram, discord)

    async with running(world):
        for question in ("please look up locker code", "請幫我 look up 烏龜"):
            world.telegram.say(private(person), person, question)
            world.discord.dm(user, question)
        channel = world.discord.world.direct(user)
        await until(lambda: len(world.telegram.sent_now(person.id)) >= 2)
        await until(lambda: len(world.discord.posted(channel)) >= 2)

    answers = [sent.text for sent in world.telegram.sent_now(person.id)]
    answers += [message["content"] for message in world.discord.posted(channel)]
    assert len(answers) == 4
    for code, turtle in (answers[:2], answers[2:]):
        assert "my locker code is zebra-41" in code
        assert "我弟弟養了一隻烏龜" in turtle


async def test_an_error_noted_on_one_platform_is_a_hint_on_the_other(world):
    [person], [user] = world.people(1)
    async with running(world):
        world.telegram.say(private(person), person, "break it")
        await until(lambda: world.telegram.sent_now(person.id))
        world.discord.dm(user, "break it")
        channel = world.discord.world.direct(user)
        await until(lambda: world.discord.posted(channel))

    [noted] = [sent.text for sent in world.telegram.sent_now(person.id)]
    [known] = [message["content"] for message in world.discord.posted(channel)]
    assert noted == "noted"
    assert known.startswith("I know: - apply: use 7d or 1m")


async def test_the_pipe_finds_it_too_and_prints_only_the_answer(tmp_path):
    async with serve_ollama(Librarian()) as ollama:
        kith = Kith(home=tmp_path, extra={})
        kith.configure(f'[ollama]\nurl = "{ollama.url}"\n[models]\nembed = "none"\n')
        await remember(kith.data, "cli-main")
        process = await kith.start("chat", "--data-dir", kith.data)

        out, _ = await asyncio.wait_for(
            process.communicate("please look up locker code\n請 look up 烏龜\n".encode()), 60
        )

    code, turtle = out.decode().splitlines()
    assert "my locker code is zebra-41" in code
    assert "我弟弟養了一隻烏龜" in turtle
