"""A script: turns that are killed at the n-th step of the database, one forked process for each n.

`python crashing_turns.py DIRECTORY` prints a line for each n: whether the process got past it.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

import aiosqlite

from bot.turn.interface import TurnContext
from bot.turn.turns import TurnEngine
from memory.database.database import open_database
from memory.engine import open_engine
from memory.ports import Models
from memory.settings import MemorySettings
from memory.values import NewMessage, PersonId, Role, SessionId, Speaker
from tests.fakes import FakeChatModel, FakeClock

TURNS = 2
MOST_STEPS = 200


def killed_at(step):
    """Let the process die right before (even) or right after (odd) a step of its database."""
    seen = 0
    original = aiosqlite.Connection._execute

    async def counted(self, work, *args, **kwargs):
        nonlocal seen
        seen += 1
        if 2 * seen == step:
            os.kill(os.getpid(), signal.SIGKILL)
        result = await original(self, work, *args, **kwargs)
        if 2 * seen + 1 == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    aiosqlite.Connection._execute = counted


async def talk(directory, step):
    chat, clock = FakeChatModel(lambda _request: "the reply"), FakeClock()
    async with (
        open_database(directory / "kith.db") as database,
        open_engine(
            database=database,
            models=Models(chat=chat, summary=chat, extract=chat),
            directory=directory,
            settings=MemorySettings(),
            clock=clock,
        ) as engine,
    ):
        killed_at(step)
        turns = TurnEngine(engine=engine, chat=chat, clock=clock)
        speaker = Speaker(person=PersonId("console:me"), name="me")
        for _ in range(TURNS):
            entry = NewMessage(role=Role.USER, text="the question", sent_at_ns=1, speaker=speaker)
            await turns.answer(TurnContext(session=SessionId("cli-main"), speaker=speaker), entry)
    os._exit(0)


def main():
    root = Path(sys.argv[1])
    for step in range(2, MOST_STEPS):
        directory = root / str(step)
        directory.mkdir()
        child = os.fork()
        if child == 0:
            asyncio.run(talk(directory, step))
        _, status = os.waitpid(child, 0)
        survived = os.WIFEXITED(status)
        print(step, "survived" if survived else "killed", flush=True)
        if survived:
            return


main()
