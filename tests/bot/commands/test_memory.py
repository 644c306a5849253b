from contextlib import asynccontextmanager

import pytest

from adapters.registry import MANIFESTS
from adapters.telegram.options import TELEGRAM
from bot.access.access import Access
from bot.access.audit import Audit
from bot.access.places import Places
from bot.access.positions import Moves
from bot.commands.memory import MemoryCommands
from bot.commands.mode import ModeCommand
from bot.commands.registry import Commands
from bot.config.access_settings import AccessSettings, IdLists
from bot.ports import Author, ChatKind, ChatRef, CommandCall
from bot.turn.interface import TurnContext
from bot.turn.turns import TurnEngine
from memory.database.database import MEMORY_SCHEMA, open_database
from memory.engine import open_engine
from memory.ports import Models
from memory.settings import MemorySettings
from memory.values import Mode, NewMessage, PersonId, Role, SessionId, Speaker
from tests.bot.stack import BOT_SCHEMA
from tests.fakes import NOON_NS, FakeChatModel, FakeClock
from tests.memory.pools.stage import facts

GROUP = ChatRef(platform=TELEGRAM, bot="1", chat="-5", kind=ChatKind.GROUP, title="Club")
SESSION = SessionId("tg-1--5")
RULES = AccessSettings(allow=IdLists(users=("7", "8", "9"), chats=("-5",)), admins=("telegram:9",))


class Desk:
    """Commands over a real database, for people in one group."""

    def __init__(self, engine, database, model):
        self.engine, self.database, self.model = engine, database, model
        self.turns = TurnEngine(engine=engine, chat=model, clock=FakeClock())
        record = Audit(database, FakeClock()).record
        places = Places(Access({TELEGRAM: RULES}), Moves(), MANIFESTS.platforms, engine.mode_of)
        memory = MemoryCommands(engine=engine)
        mode = ModeCommand(engine=engine, record=record)
        self.commands = Commands((*memory.table(), *mode.table()), place=places.place)

    def author(self, user, language="en"):
        return Author(person=PersonId(f"telegram:{user}"), name=f"P{user}", language=language)

    async def say(self, text, *, user="7", language="en"):
        call = self.commands.parse(text, GROUP, self.author(user, language))
        return (await self.commands.run(call)).text

    async def chat(self, text, *, user="7", mode=Mode.FULL):
        speaker = Speaker(person=PersonId(f"telegram:{user}"), name=f"P{user}")
        entry = NewMessage(role=Role.USER, text=text, sent_at_ns=NOON_NS, speaker=speaker)
        context = TurnContext(
            session=SESSION,
            title="Club",
            mode=self.engine.mode_of(SESSION, mode),
            kind=ChatKind.GROUP,
            speaker=speaker,
        )
        return await self.turns.answer(context, entry)

    async def catch_up(self):
        while (found := self.engine.afterwork.take_queued()) is not None:
            await self.engine.afterwork.do(found[0])


def script(request):
    text = request.messages[-1].text
    if " wrote:\n" not in text:
        return "ok"
    said = text.partition(" wrote:\n")[2].partition("\n\nReply:")[0]
    return facts(said) if said.startswith("My") else facts()


@asynccontextmanager
async def open_desk(directory):
    model = FakeChatModel(script)
    async with open_database(directory / "kith.db", (MEMORY_SCHEMA, BOT_SCHEMA)) as database:
        async with open_engine(
            database=database,
            models=Models(chat=model, summary=model, extract=model),
            directory=directory,
            settings=MemorySettings(),
            clock=FakeClock(),
        ) as engine:
            yield Desk(engine, database, model)


@pytest.fixture
async def desk(tmp_path):
    async with open_desk(tmp_path) as opened:
        yield opened


async def test_a_person_adds_sees_changes_and_deletes_facts(desk):
    assert await desk.say("/memory list") == "I have noted nothing here yet."
    assert await desk.say("/memory add I sing in a choir") == "Noted as 1: I sing in a choir"
    assert await desk.say("/memory edit 1 I sing in two choirs") == (
        "Changed 1: I sing in two choirs"
    )
    assert await desk.say("/memory list") == "1 facts:\n1  [long-term] I sing in two choirs"
    assert "1  [long-term]" in await desk.say("/memory search choir")
    assert "said by P7" in await desk.say("/memory show 1")
    assert await desk.say("/memory delete 1") == "Deleted 1, with what it had replaced."
    assert await desk.say("/memory list") == "I have noted nothing here yet."


async def test_the_same_in_chinese(desk):
    told = await desk.say("/memory add 我參加合唱團", language="zh-TW")

    assert told == "已記下，編號 1：我參加合唱團"
    assert await desk.say("/memory search 合唱", language="zh-TW") == (
        "共 1 則：\n1  [長期] 我參加合唱團"
    )


async def test_a_platforms_own_interface_gives_the_options_by_name(desk):
    arguments = {"text": "I sing in a choir"}
    call = CommandCall(chat=GROUP, author=desk.author("7"), name="memory add", arguments=arguments)

    assert (await desk.commands.run(call)).text == "Noted as 1: I sing in a choir"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/memory show", "Which one?"),
        ("/memory show 77", "There is no fact 77"),
        ("/memory edit 77 something else", "There is no fact 77"),
        ("/memory delete x", "Which one?"),
        ("/memory delete 99999999999999999999", "Which one?"),
        ("/memory add", "Please say what"),
        ("/memory add 無", "It did not work"),
        ("/memory search", "Please say what"),
    ],
)
async def test_what_cannot_be_done_is_said(desk, text, told):
    assert told.split()[0] in await desk.say(text) or "few words" in await desk.say(text)


async def test_nobody_reaches_another_persons_facts_through_commands(desk):
    await desk.say("/memory add I sing in a choir", user="7")

    assert await desk.say("/memory list", user="8") == "I have noted nothing here yet."
    assert "choir" not in await desk.say("/memory search choir", user="8")
    assert "no fact 1" in await desk.say("/memory show 1", user="8")
    assert "no fact 1" in await desk.say("/memory edit 1 I sing alone now", user="8")
    assert "no fact 1" in await desk.say("/memory delete 1", user="8")
    assert "choir" in await desk.say("/memory list", user="7")


async def test_why_shows_what_the_last_reply_saw_to_whom_it_belongs(desk):
    assert "no facts" in await desk.say("/memory why")
    await desk.chat("My boat is a kayak")
    await desk.catch_up()
    await desk.chat("tell me about that boat")

    assert "boat is a kayak" in await desk.say("/memory why")
    assert "kayak" not in await desk.say("/memory why", user="8")


async def test_a_fact_shows_what_it_came_from_and_what_it_replaced(desk):
    await desk.chat("My home: I live in Taipei")
    await desk.catch_up()
    await desk.chat("My home: I live in Tainan now")
    await desk.catch_up()

    told = await desk.say("/memory show 2")

    assert "from: message 3" in told
    assert "home: I live in Taipei" in told


async def test_pausing_stops_noting_until_it_is_resumed(desk):
    await desk.say("/memory pause")
    await desk.chat("My boat is a kayak")
    await desk.catch_up()
    assert await desk.say("/memory list") == "I have noted nothing here yet."

    await desk.say("/memory pause off")
    await desk.chat("My boat is a canoe")
    await desk.catch_up()
    assert "canoe" in await desk.say("/memory list")


async def test_only_an_admin_changes_the_mode(desk):
    assert "administrator" in (await desk.say("/mode pools keep")).lower()
    assert "full" in await desk.say("/mode", user="9")


async def test_switching_asks_what_becomes_of_what_is_stored_and_is_written_down(desk):
    await desk.chat("My boat is a kayak")

    asked = await desk.say("/mode pools", user="9")
    assert "2 messages" in asked
    assert "purge" in asked
    done = await desk.say("/mode pools purge", user="9")
    assert "Deleted: 2 messages" in done
    await desk.chat("My boat is a canoe")

    facts = await desk.engine.inspect(SESSION)
    assert facts.messages == 0
    assert "pools" in await desk.say("/mode", user="9")
    async with desk.database.reading() as reader:
        [entry] = await reader.rows("SELECT action FROM audit")
    assert entry["action"] == "mode pools purge"
