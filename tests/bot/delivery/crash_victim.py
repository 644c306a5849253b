"""A process that takes two messages over and is killed at a point: `crash_victim.py DIR POINT PLATFORM MODE`."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from bot.config.access_settings import AccessSettings, IdLists
from bot.ports import Platform
from memory.values import Mode
from tests.bot.stack import direct, echo, open_stack, said
from tests.fakes import FakeAdapter, FakeChatModel

POINTS = ("accepted", "model", "settled", "sending", "sent", "second part")
WORDS = ("第一則 swordfish", "second swordfish")
PART_CHARS = 8


def killed():
    os.kill(os.getpid(), signal.SIGKILL)


class Wire(FakeAdapter):
    """A platform that outlives the process: what arrives is written to a file."""

    def __init__(self, directory, platform, point):
        super().__init__(platform, part_chars=PART_CHARS)
        self.path = Path(directory).parent / "wire.jsonl"
        self.point = point

    async def send(self, part):
        if self.point == "sending":
            killed()
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([part.nonce, part.text]) + "\n")
        if self.point == "sent" or (self.point == "second part" and len(self.tried) == 1):
            killed()
        return await super().send(part)


def access_for(mode):
    return AccessSettings(allow=IdLists(users=("*",)), mode=Mode(mode))


async def main(directory, point, platform, mode):
    def model(request):
        if point == "model":
            killed()
        return echo(request)

    adapter = Wire(directory, Platform(platform), point)
    async with open_stack(
        Path(directory),
        model=FakeChatModel(model),
        adapter=adapter,
        access=access_for(mode),
        sending=point != "settled",
    ) as stack:
        chat = direct(platform=adapter.platform)
        await stack.intake.accept([said(text, str(n), chat=chat) for n, text in enumerate(WORDS)])
        if point == "accepted":
            killed()
        await stack.router.drain()
        if point == "settled":
            killed()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
