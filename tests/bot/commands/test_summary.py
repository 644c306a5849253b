from contextlib import AsyncExitStack
from zoneinfo import ZoneInfo

import pytest

from adapters.registry import MANIFESTS
from adapters.telegram.options import TELEGRAM
from bot.access.access import Access
from bot.access.places import Places
from bot.access.positions import Moves
from bot.commands.registry import Commands
from bot.commands.summary import SummaryCommand
from bot.config.access_settings import AccessSettings, IdLists
from bot.ports import Author, ChatKind, ChatRef
from memory.database.database import open_database
from memory.engine import Turn, open_engine
from memory.errors import ModelUnreachable
from memory.ports import Models
from memory.settings import MemorySettings
from memory.summary.value import Current, Summary, Topic, to_json
from memory.values import NewMessage, PersonId, Role, SessionId
from tests.fakes import NOON_NS, FakeChatModel, FakeClock

CHAT = ChatRef(platform=TELEGRAM, bot="1", chat="7", kind=ChatKind.DIRECT)
RULES = AccessSettings(allow=IdLists(users=("7", "9")), admins=("telegram:9",))
SUMMARY = Summary(
    key_decisions=("Do: 用繁體中文回答",),
    past_discussions=(Topic(topic="Kyoto", direction="May", last_discussed="2026-01-02 09:30"),),
    current_discussion=Current(topic="貓", description="叫麻糬"),
)


class Desk:
    def __init__(self, engine):
        self.engine = engine
        command = SummaryCommand(engine.summaries, zone=ZoneInfo("Asia/Taipei"))
        place = Places(Access({TELEGRAM: RULES}), Moves(), MANIFESTS.platforms).place
        self.commands = Commands(command.table(), place=place)

    async def say(self, text, *, user="7", language="en"):
        author = Author(person=PersonId(f"telegram:{user}"), name="Ann", language=language)
        return (await self.commands.run(self.commands.parse(text, CHAT, author))).text

    async def talk(self):
        entry = NewMessage(role=Role.USER, text="hello", sent_at_ns=NOON_NS)
        reply = NewMessage(role=Role.ASSISTANT, text="hi", sent_at_ns=NOON_NS)
        session = SessionId("tg-1-7")
        turn = Turn(session=session, title="", epoch=0, entry=entry, reply=reply)
        async with self.engine.unit() as unit:
            await self.engine.observe(unit, turn)


@pytest.fixture
async def open_desk(tmp_path):
    async with AsyncExitStack() as stack:

        async def opened(reply):
            model = FakeChatModel(lambda _: reply)
            database = await stack.enter_async_context(open_database(tmp_path / "kith.db"))
            opening = open_engine(
                database=database,
                models=Models(chat=model, summary=model, extract=model),
                directory=tmp_path,
                settings=MemorySettings(),
                clock=FakeClock(),
            )
            desk = Desk(await stack.enter_async_context(opening))
            await desk.talk()
            return desk

        yield opened


async def test_before_the_first_summary_it_says_that_there_is_none(open_desk):
    desk = await open_desk(to_json(SUMMARY))

    assert "not summarised" in await desk.say("/summary")
    assert "還沒" in await desk.say("/summary", language="zh-TW")


async def test_an_administrator_brings_it_up_to_date_and_it_is_shown_with_its_time(open_desk):
    desk = await open_desk(to_json(SUMMARY))

    told = await desk.say("/summary refresh", user="9")

    assert "newly covered messages: 2" in told
    assert "up to 2023-11-15 06:13:20" in told  # Taipei time


async def test_it_is_readable_and_never_its_json(open_desk):
    desk = await open_desk(to_json(SUMMARY))
    await desk.say("/summary refresh", user="9")

    told = await desk.say("/summary", language="zh-TW")

    assert told.splitlines() == [
        "到 2023-11-15 06:13:20 為止，我記得的重點：",
        "",
        "已經說定:",
        "- Do: 用繁體中文回答",
        "",
        "之前聊過:",
        "- Kyoto (2026-01-02 09:30): May",
        "",
        "目前話題: 貓 · 叫麻糬",
    ]


async def test_others_cannot_spend_model_time_on_it(open_desk):
    desk = await open_desk(to_json(SUMMARY))

    told = await desk.say("/summary refresh")

    assert "administrator" in told.lower()
    assert "not summarised" in await desk.say("/summary")


@pytest.mark.parametrize(
    ("reply", "wanted"), [("I cannot.", "no usable summary"), (ModelUnreachable("x"), "reach")]
)
async def test_a_run_that_fails_says_so_and_shows_the_old_one(open_desk, reply, wanted):
    desk = await open_desk(reply)

    told = await desk.say("/summary refresh", user="9")

    assert wanted in told
    assert told.endswith("I have not summarised anything here yet.")
