"""The service as its own process, between a model and both platforms that all live on loopback."""

import asyncio
import json
import os
import signal
import socket
import sqlite3
import sys
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path

from tests.wire.discord_server import DiscordServer, discord_server
from tests.wire.ollama_server import OllamaServer, ServedModel, serve_ollama
from tests.wire.telegram_server import TelegramServer, open_telegram_server
from tests.wire.telegram_values import Person

ROOT = Path(__file__).parents[2]


class Echo:
    """A model that repeats what was said last; `on_call` runs before each answer."""

    models = (ServedModel(),)

    def __init__(self):
        self.on_call = None
        self.asked = []

    @staticmethod
    def noted(_body):
        """The answer to a call that wants JSON: nothing worth noting."""
        return '{"facts": []}'

    async def chat(self, body):
        if body.get("format"):
            yield {"content": self.noted(body)}
            yield {"done_reason": "stop", "prompt_eval_count": 10, "eval_count": 3}
            return
        said = body["messages"][-1]["content"].splitlines()[-1]
        self.asked.append(said)
        if self.on_call is not None:
            await self.on_call(said)
        yield {"content": f"re: {said}"}
        yield {"done_reason": "stop", "prompt_eval_count": 10, "eval_count": 3}

    async def embed(self, texts):
        return [[1.0, 0.0]] * len(texts)


@dataclass
class World:
    directory: Path
    telegram: TelegramServer
    discord: DiscordServer
    ollama: OllamaServer
    echo: Echo
    tokens: dict = field(default_factory=dict)
    allow: dict = field(default_factory=dict)
    """Platform to a line of TOML for its allow table."""
    deny: dict = field(default_factory=dict)
    limits: str = ""
    ollama_options: str = ""
    mode: str = "full"

    def config(self):
        path = self.directory / "kith.toml"
        path.write_text(
            f"""
data_dir = "data"
[models]
chat = "ollama:tiny"
embed = "none"
[ollama]
url = "{self.ollama.url}"
{self.ollama_options}
[limits]
{self.limits}
[telegram]
api_url = "{self.telegram.base_url.removesuffix("/bot")}"
poll_s = 2
mode = "{self.mode}"
[telegram.allow]
{self.allow.get("telegram", "")}
[telegram.deny]
{self.deny.get("telegram", "")}
[discord]
mode = "{self.mode}"
api_url = "{self.discord.api_url}"
gateway_url = "{self.discord.gateway_url}"
[discord.allow]
{self.allow.get("discord", "")}
[discord.deny]
{self.deny.get("discord", "")}
""",
            encoding="utf-8",
        )
        return path

    @property
    def data(self):
        return self.directory / "data"

    def people(self, count, *, first_id=1001):
        """As many Telegram people and Discord users, let in from the next start on."""
        tellers = [Person(id=first_id + n, first_name=f"T{n}") for n in range(count)]
        users = [self.discord.user(f"D{n}") for n in range(count)]
        self.allow["telegram"] = f"users = {[person.id for person in tellers]}"
        self.allow["discord"] = f"users = {json.dumps([user.id for user in users])}"
        return tellers, users


@asynccontextmanager
async def open_world(directory):
    async with AsyncExitStack() as stack:
        echo = Echo()
        telegram = await stack.enter_async_context(open_telegram_server())
        discord = await stack.enter_async_context(discord_server())
        ollama = await stack.enter_async_context(serve_ollama(echo))
        tokens = {"KITH_TELEGRAM_TOKEN": telegram.token, "KITH_DISCORD_TOKEN": discord.token}
        yield World(directory, telegram, discord, ollama, echo, tokens)


class Process:
    """A running `kith`, with what it logs."""

    def __init__(self, process):
        self._process = process
        self.lines = []
        self._logged = asyncio.Event()

    async def read(self):
        async for line in self._process.stderr:
            self.lines.append(line.decode())
            self._logged.set()
            self._logged = asyncio.Event()

    async def logged(self, event, *, timeout_s=20.0):
        """Wait for an event in the log."""
        try:
            async with asyncio.timeout(timeout_s):
                while not any(event in line for line in self.lines):
                    await self._logged.wait()
        except TimeoutError:
            raise AssertionError(f"no {event} in:\n{self.log}") from None

    @property
    def log(self):
        return "".join(self.lines)

    def kill(self):
        """As the kernel does it: nothing is finished."""
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)

    def terminate(self):
        self._process.send_signal(signal.SIGTERM)

    async def ended(self, *, timeout_s=20.0):
        """Its exit status; negative for a signal."""
        try:
            async with asyncio.timeout(timeout_s):
                return await self._process.wait()
        except TimeoutError:
            raise AssertionError(f"still running:\n{self.log}") from None


@asynccontextmanager
async def kith(world, *arguments, **environment):
    """`kith ARGUMENTS` as a process of its own; killed if it still runs at the end."""
    started = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", *arguments, "--config", str(world.config()),
        cwd=world.directory,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "HOME": str(world.directory),
            **world.tokens,
            **environment,
        },
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        limit=2**22,
    )  # fmt: skip
    process = Process(started)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(process.read())
        try:
            yield process
        except BaseException:
            print(process.log)
            raise
        finally:
            process.kill()
            await started.wait()


@asynccontextmanager
async def running(world, **environment):
    """The service, up on both platforms."""
    async with kith(world, "run", **environment) as process:
        await process.logged("service.ready")
        yield process


def open_rows(world):
    """How many messages wait for an answer, read beside the service."""
    with closing(sqlite3.connect(f"{(world.data / 'kith.db').as_uri()}?mode=ro", uri=True)) as door:
        [[rows]] = door.execute("SELECT count(*) FROM inbox WHERE state IN ('waiting', 'working')")
    return rows


async def until(holds, *, timeout_s=30.0, what="the condition"):
    try:
        async with asyncio.timeout(timeout_s):
            while not holds():
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(
            f"waited {timeout_s} s for {what() if callable(what) else what}"
        ) from None


def notify_socket(path):
    receiving = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiving.bind(str(path))
    receiving.setblocking(False)
    return receiving


def datagrams(receiving):
    found = []
    while True:
        try:
            found.append(receiving.recv(200).decode())
        except BlockingIOError:
            return found
