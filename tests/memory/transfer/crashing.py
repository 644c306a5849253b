"""A script: work on a database that is killed at its n-th step, one forked process for each n.

`python crashing.py import|compact|embed DIRECTORY` works on a copy of `DIRECTORY/kith.db` for each n and
prints a line for each: whether the process got past it. What it does is always the same.
"""

import asyncio
import os
import shutil
import signal
import sys
from pathlib import Path

import aiosqlite

from memory.database.database import open_database
from memory.keeping.compaction import Compactor
from memory.recall.embed_pass import EmbedPass
from memory.transfer import importing
from memory.values import SessionId
from tests.fakes import FakeEmbedder
from tests.memory.transfer.stage import bring_in

LIMIT_BYTES = 10_000
BATCH = 3
MOST_STEPS = 400


def killed_before(step):
    """Let the process die right before a step of its database, which is right after the last one."""
    seen = 0
    original = aiosqlite.Connection._execute

    async def counted(self, work, *args, **kwargs):
        nonlocal seen
        seen += 1
        if seen == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return await original(self, work, *args, **kwargs)

    aiosqlite.Connection._execute = counted


async def run(what, root, directory, step):
    importing.BATCH_MESSAGES = BATCH
    async with open_database(directory / "kith.db", readers=1) as database:
        killed_before(step)
        if what == "import":
            await bring_in(root / "cli-old", database)
        elif what == "embed":
            await EmbedPass(database=database, embedder=FakeEmbedder(dim=8)).run()
        else:
            await Compactor(database=database, limit_bytes=LIMIT_BYTES).run(SessionId("cli-old"))
    os._exit(0)


def main():
    what, root = sys.argv[1], Path(sys.argv[2])
    for step in range(1, MOST_STEPS):
        directory = root / str(step)
        directory.mkdir()
        shutil.copy(root / "kith.db", directory / "kith.db")
        child = os.fork()
        if child == 0:
            asyncio.run(run(what, root, directory, step))
        _, status = os.waitpid(child, 0)
        survived = os.WIFEXITED(status)
        print(step, "survived" if survived else "killed", flush=True)
        if survived:
            return


if __name__ == "__main__":
    main()
