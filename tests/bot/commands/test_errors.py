from contextlib import asynccontextmanager

from adapters.registry import MANIFESTS
from adapters.telegram.options import TELEGRAM
from bot.access.access import Access
from bot.access.places import Places
from bot.access.positions import Moves
from bot.commands.errors import ErrorsCommand
from bot.commands.registry import Commands
from bot.config.access_settings import AccessSettings, IdLists
from bot.ports import Author, ChatKind, ChatRef
from memory.database.database import open_database
from memory.tool_errors.error_memory import ErrorMemory
from memory.tool_errors.record import ActionOutcome, NewErrorRecord
from memory.values import PersonId
from tests.fakes import FakeClock

CHAT = ChatRef(platform=TELEGRAM, bot="1", chat="9", kind=ChatKind.DIRECT)
RULES = AccessSettings(allow=IdLists(users=("7", "9")), admins=("telegram:9",))
NOTE = NewErrorRecord(
    tool="chat_history",
    keywords=("range",),
    symptom="time_range 2w was refused",
    cause="a fixed list",
    action="use 7d",
    outcome=ActionOutcome.RESOLVED,
)


class Desk:
    def __init__(self, memory):
        self.memory = memory
        self.audited = []
        command = ErrorsCommand(memory, zone=None, record=self._record)
        place = Places(Access({TELEGRAM: RULES}), Moves(), MANIFESTS.platforms).place
        self.commands = Commands(command.table(), place=place)

    async def _record(self, person, action, target):
        self.audited.append((person, action, target))

    async def say(self, text, *, user="9", language="en"):
        author = Author(person=PersonId(f"telegram:{user}"), name="Ann", language=language)
        return (await self.commands.run(self.commands.parse(text, CHAT, author))).text


@asynccontextmanager
async def opened(directory):
    async with open_database(directory / "kith.db") as database:
        yield Desk(ErrorMemory(database=database, embedder=None, clock=FakeClock()))


async def test_administrators_list_show_and_remove_records(tmp_path):
    async with opened(tmp_path) as desk:
        kept = await desk.memory.write(NOTE)
        short = kept.id[:12]

        listed = await desk.say("/admin errors")
        shown = await desk.say(f"/admin errors {short}")
        removed = await desk.say(f"/admin errors remove {short}")

        assert listed == f"{short}  chat_history  resolved  time_range 2w was refused"
        assert "a fixed list\nresolved: use 7d" in shown
        assert removed == f"Removed: {short}"
        assert desk.audited == [("telegram:9", "error removed", kept.id)]
        assert await desk.say("/admin errors") == "No tool errors are on record."


async def test_unknown_records_are_told_in_the_persons_language(tmp_path):
    async with opened(tmp_path) as desk:
        assert await desk.say("/admin errors ffff") == "There is no single record 'ffff'."
        assert "找不到" in await desk.say("/admin errors ffff", language="zh-TW")
        assert "Which one?" in await desk.say("/admin errors remove")


async def test_others_may_not(tmp_path):
    async with opened(tmp_path) as desk:
        await desk.memory.write(NOTE)

        assert "time_range" not in await desk.say("/admin errors", user="7")
