"""A chat over a pipe with scripted models, as a process of its own: `talk_script.py DIR MODE`."""

import asyncio
import re
import sys
from contextlib import asynccontextmanager
from pathlib import Path

from adapters.console import pipe
from adapters.registry import MANIFESTS
from bot.app.app import open_app
from bot.config.config import Loaded
from bot.config.tables import config_type
from bot.console.talk import ConsoleTalk
from bot.service.logs import configure
from memory.errors import ModelTimedOut
from memory.ports import Models
from memory.values import Mode
from tests.fakes import FakeChatModel, FakeEmbedder
from tests.memory.pools.stage import facts

KNOWN = re.compile(r"known\d+x")
"""Words that become part of a fact."""
HIDDEN = re.compile(r"hidden\d+x")
"""Words that never do."""


def reply(request):
    """Repeats what was said, so that it stands in both halves of a turn."""
    return f"You said: {request.messages[-1].text.splitlines()[-1]}"


class Extractor:
    """Puts the known word of a turn into a fact; now and then it fails, once with the text."""

    def __init__(self):
        self.calls = 0

    def __call__(self, request):
        self.calls += 1
        text = request.messages[-1].text
        if self.calls % 40 == 20:
            return ModelTimedOut("slow")
        if self.calls % 40 == 30:
            return RuntimeError(text)
        if self.calls % 40 == 35:
            return f"no JSON, but {text}"
        if " wrote:" not in text:
            return '{"facts": ["the owner likes ' + " and ".join(KNOWN.findall(text)[:3]) + '"]}'
        known = KNOWN.findall(text.partition(" wrote:")[2])
        return facts(f"The owner likes {known[0]} a lot.") if known else facts()


def scripted():
    chat, extract = FakeChatModel(reply), FakeChatModel(Extractor())
    return Models(chat=chat, summary=FakeChatModel(lambda _: "{}"), extract=extract,
                  embed=FakeEmbedder())  # fmt: skip


@asynccontextmanager
async def open_talk(directory, mode):
    """A conversation on the console, over a data directory."""

    @asynccontextmanager
    async def models():
        yield scripted()

    loaded = Loaded(
        config=config_type(MANIFESTS)(data_dir=str(directory)), source=None, manifests=MANIFESTS
    )
    async with open_app(loaded, models) as app:
        yield ConsoleTalk(app, session="main", name="owner", mode=Mode(mode))


async def main(directory, mode):
    configure(level="debug", stream=sys.stderr, quiet=())
    async with open_talk(Path(directory), mode) as talk:
        await pipe.converse(talk, lines=pipe.standard_input(), output=sys.stdout)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
