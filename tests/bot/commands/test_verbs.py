"""The commands themselves, through the registry, over a real database."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from adapters.registry import MANIFESTS
from adapters.telegram.options import TELEGRAM
from bot.access.access import Access
from bot.access.audit import Audit
from bot.access.places import Places
from bot.access.positions import Moves
from bot.commands.admin import AdminCommands
from bot.commands.registry import Commands
from bot.commands.talk import TalkCommands
from bot.config.access_settings import AccessSettings, IdLists
from bot.ports import Author, ChatKind, ChatRef, CommandCall
from bot.service.service_status import AdapterStatus, ServiceStatus, Standing
from bot.turn.interface import TurnContext
from bot.turn.turns import TurnEngine
from memory.database.database import MEMORY_SCHEMA, open_database
from memory.engine import open_engine
from memory.errors import ModelUnreachable
from memory.ports import Models
from memory.settings import MemorySettings
from memory.values import NewMessage, PersonId, Role, SessionId, Speaker
from tests.bot.stack import BOT_SCHEMA, until
from tests.fakes import NOON_NS, FakeChatModel, FakeClock

CHAT = ChatRef(platform=TELEGRAM, bot="1", chat="7", kind=ChatKind.DIRECT, title="Ann")
GROUP = replace(CHAT, kind=ChatKind.GROUP, chat="-5")
SESSION = SessionId("tg-1-7")
RULES = AccessSettings(allow=IdLists(users=("7", "9")), admins=("telegram:9",))


class Desk:
    def __init__(self, engine, database, model):
        self.engine, self.database, self.model = engine, database, model
        self.turns = TurnEngine(engine=engine, chat=model, clock=FakeClock())
        self.keyword_only = None
        talk = TalkCommands(engine=engine, turns=self.turns, status=self.status)
        admin = AdminCommands(engine=engine, record=Audit(database, FakeClock()).record)
        self.commands = Commands(
            (*talk.table(), *admin.table()),
            place=Places(Access({TELEGRAM: RULES}), Moves(), MANIFESTS.platforms).place,
        )

    async def status(self):
        up = AdapterStatus(platform=TELEGRAM, standing=Standing.UP, since_ns=0)
        return ServiceStatus(
            version="1", pid=1, started_at_ns=0, adapters=(up,), lanes=3, inbox_open=2,
            outbox_open=1, perhaps_delivered=0, quarantined=0, chat_model="ollama:qwen3",
            embed_model="ollama:bge", waiting_vectors=62, keyword_only=self.keyword_only,
        )  # fmt: skip

    async def say(self, text, *, user="7", language="en", chat=CHAT):
        author = Author(person=PersonId(f"telegram:{user}"), name="Ann", language=language)
        return (await self.commands.run(self.commands.parse(text, chat, author))).text

    async def chat(self, text):
        speaker = Speaker(person=PersonId("telegram:7"), name="Ann")
        entry = NewMessage(role=Role.USER, text=text, sent_at_ns=NOON_NS, speaker=speaker)
        return await self.turns.answer(
            TurnContext(session=SESSION, title="Ann", speaker=speaker), entry
        )

    async def messages(self):
        facts = await self.engine.inspect(SESSION)
        return facts.messages if facts else 0


@asynccontextmanager
async def open_desk(directory, model=None):
    model = model or FakeChatModel(lambda _: "ok")
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
    async with open_desk(tmp_path) as found:
        yield found


async def test_new_begins_an_empty_window_and_deletes_nothing(desk):
    await desk.chat("I like tea")

    await desk.say("/new")
    await desk.chat("and now?")

    told = " ".join(message.text for message in desk.model.requests[-1].messages)
    assert "I like tea" not in told
    assert await desk.messages() == 4


async def test_reset_first_says_what_it_would_do(desk):
    await desk.chat("tea")

    answer = await desk.say("/reset")

    assert "2 messages" in answer
    assert "/reset yes" in answer
    assert await desk.messages() == 2


@pytest.mark.parametrize(
    ("text", "language", "cleared", "kept"),
    [
        ("/reset yes", "en", "messages: cleared", "summary: there were none"),
        ("/reset 確定", "zh-hant", "對話訊息: 已清除", "摘要: 原本就沒有"),
    ],
)
async def test_a_confirmed_reset_names_each_memory(desk, text, language, cleared, kept):
    await desk.chat("綠茶")

    answer = await desk.say(text, language=language)

    assert cleared in answer
    assert kept in answer
    assert answer.count("\n- ") == 4
    assert await desk.messages() == 0


async def test_resetting_all_says_so_before(desk):
    assert "/reset all yes" in await desk.say("/reset all")


async def test_a_fresh_summary_that_fails_calls_the_reset_off(tmp_path):
    replies = ["ok"]
    model = FakeChatModel(lambda _: replies.pop() if replies else ModelUnreachable("gone"))
    async with open_desk(tmp_path, model) as desk:
        await desk.chat("tea")

        answer = await desk.say("/reset fresh yes")

        assert "nothing was deleted" in answer
        assert await desk.messages() == 2


async def test_stop_stops_the_turn_that_is_being_written(tmp_path):
    model = FakeChatModel(lambda _: "a long answer", pause_s=30)
    async with open_desk(tmp_path, model) as desk:
        async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
            turn = tasks.create_task(desk.chat("tea"))
            await until(lambda: model.running)
            assert await desk.say("/stop") == "I am stopping."

        assert turn.result().kept is False
        assert "not writing" in await desk.say("/stop")


@pytest.mark.parametrize(
    "command", ["/admin sessions", "/admin inspect tg-1-7", "/admin reset tg-1-7 yes"]
)
async def test_what_is_told_of_other_conversations_is_not_told_where_others_read_along(
    desk, command
):
    await desk.chat("hello")

    refused = await desk.say(command, user="9", chat=GROUP)

    assert "direct chat" in refused
    assert "tg-1-7" not in refused
    assert (await desk.engine.inspect(SESSION)).messages == 2
    assert "tg-1-7" in await desk.say("/admin sessions", user="9")


async def test_the_service_is_not_told_of_where_others_read_along(desk):
    assert "telegram: up" not in await desk.say("/status", user="9", chat=GROUP)


async def test_status_tells_a_person_of_their_conversation_and_an_admin_of_the_service(desk):
    await desk.chat("tea")

    plain, admin = await desk.say("/status"), await desk.say("/status", user="9")

    assert "ollama:qwen3" in plain
    assert "Messages remembered: 2" in plain
    assert "telegram: up" not in plain
    assert "telegram: up" in admin
    assert "to answer: 2" in admin


async def test_status_says_that_search_is_by_words_alone_while_the_embedding_model_is_down(desk):
    well = await desk.say("/status"), await desk.say("/status", user="9")
    desk.keyword_only = "ModelUnreachable"
    down = await desk.say("/status"), await desk.say("/status", user="9", language="zh")

    assert not any("words" in told for told in well)
    assert "Search: by words only for now" in down[0]
    assert "62" not in down[0]
    assert "搜尋：目前只能用關鍵字" in down[1]
    assert "等待建立向量的訊息：62" in down[1]


async def test_whoami_names_the_ids(desk):
    answer = await desk.say("/whoami")

    assert "telegram:7" in answer
    assert SESSION in answer
    assert "Administrator: no" in answer
    assert "Administrator: yes" in await desk.say("/whoami", user="9")


async def test_an_admin_lists_inspects_and_resets_any_conversation(desk):
    await desk.chat("tea")

    assert f"{SESSION}  Ann" in await desk.say("/admin sessions", user="9")
    assert "Messages remembered: 2" in await desk.say(f"/admin inspect {SESSION}", user="9")
    asked = await desk.say(f"/admin reset {SESSION}", user="9")
    assert f"/admin reset {SESSION} yes" in asked
    assert await desk.messages() == 2
    assert "messages: cleared" in await desk.say(f"/admin reset {SESSION} yes", user="9")
    assert await desk.messages() == 0


async def test_what_an_admin_changed_is_written_down(desk):
    await desk.chat("tea")

    await desk.say(f"/admin reset {SESSION} all yes", user="9")
    await desk.say(f"/admin inspect {SESSION}", user="9")

    async with desk.database.reading() as reader:
        [entry] = await reader.rows("SELECT person, action, target FROM audit")
    assert tuple(entry) == ("telegram:9", "reset all", SESSION)


@pytest.mark.parametrize("verb", ["inspect", "reset"])
async def test_a_target_that_there_is_not_is_said(desk, verb):
    for target in ("tg-1-99 yes", ""):
        assert "no conversation" in await desk.say(f"/admin {verb} {target}", user="9")


async def test_no_person_reaches_another_conversation_through_reset(desk):
    await desk.chat("tea")

    call = CommandCall(
        chat=CHAT,
        author=Author(person=PersonId("telegram:7"), name="Ann"),
        name="admin reset",
        arguments={"target": SESSION, "confirm": "true"},
    )

    assert "administrator" in (await desk.commands.run(call)).text
    assert await desk.messages() == 2


def test_every_text_exists_in_both_languages_and_fits_the_platforms(desk):
    for spec in desk.commands.specs:
        described = [spec.descriptions, *(option.descriptions for option in spec.options)]
        described += [spec.group.descriptions] if spec.group else []
        for texts in described:
            assert set(texts) == {"en", "zh-TW"}
            assert all(0 < len(text) <= 100 for text in texts.values())
