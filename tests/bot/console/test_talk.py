import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from types import SimpleNamespace

import pytest

from adapters.registry import MANIFESTS
from bot.access.places import Place
from bot.console.talk import ConsoleTalk
from bot.delivery.router import open_router
from bot.ports import CONSOLE, CommandAnswer, CommandCall, Reply
from bot.turn.turns import SILENT, TurnEngine
from memory.database.database import open_database
from memory.engine import open_engine
from memory.errors import StoreError
from memory.ports import Models
from memory.settings import MemorySettings
from memory.values import Mode, SessionId
from tests.bot.stack import until
from tests.fakes import FakeChatModel, FakeClock

MAIN = SessionId("cli-main")


class Turns:
    """Ends each turn as it is told to."""

    def __init__(self):
        self.outcomes = []
        self.may_end = asyncio.Event()

    async def answer(self, context, entry, draft):
        await self.may_end.wait()
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return Reply(text=outcome, kept=True)


class Commands:
    """Keeps where each command was given."""

    def __init__(self, places):
        self.places = list(places)

    def parse(self, text, chat, author):
        return CommandCall(chat=chat, author=author, name=text[1:]) if text[0] == "/" else None

    async def carry_out(self, call, place):
        self.places.append(place)
        return CommandAnswer(text=f"did {call.name}")


@pytest.fixture
async def stack():
    turns = Turns()
    async with open_router() as router:
        app = SimpleNamespace(
            turns=turns,
            router=router,
            commands=Commands(()),
            clock=FakeClock(),
            console=MANIFESTS.platforms[CONSOLE],
            engine=SimpleNamespace(mode_of=lambda _session, mode: mode),
        )
        yield SimpleNamespace(
            turns=turns,
            router=router,
            commands=app.commands,
            talk=ConsoleTalk(app, session="main", name="mei", mode=Mode.WINDOW),
        )


async def test_whoever_sits_at_the_console_may_everything(stack):
    reply = await stack.talk.answer("/plain", SILENT)

    assert (reply.text, reply.kept) == ("did plain", False)
    [place] = stack.commands.places
    assert place == Place(session=SessionId("cli-main"), allowed=True, admin=True, mode=Mode.WINDOW)


async def test_what_goes_wrong_in_the_lane_reaches_who_asked(stack):
    stack.turns.may_end.set()
    stack.turns.outcomes += [StoreError("full"), "Hello."]

    with pytest.raises(StoreError, match="full"):
        await stack.talk.answer("hi", SILENT)

    assert (await stack.talk.answer("hi", SILENT)).text == "Hello."


async def test_nobody_waits_for_ever_when_a_turn_ends_by_a_fault(stack):
    stack.turns.may_end.set()
    stack.turns.outcomes.append(RuntimeError("unforeseen"))

    asking = asyncio.create_task(stack.talk.answer("hi", SILENT))
    await asyncio.wait([asking], timeout=5)

    assert asking.done()
    assert asking.cancelled()


async def test_who_leaves_before_the_answer_does_not_disturb_the_lane(stack, capsys):
    stack.turns.outcomes.append("too late")
    asking = asyncio.create_task(stack.talk.answer("hi", SILENT))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait([asking])
    stack.turns.may_end.set()
    await stack.router.drain()

    assert "lane.job_failed" not in capsys.readouterr().out


@asynccontextmanager
async def open_talk(directory, reply):
    """A talk over real memory; `reply` answers for the model."""
    chat, clock = FakeChatModel(reply), FakeClock()
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(directory / "kith.db"))
        engine = await stack.enter_async_context(
            open_engine(
                database=database,
                models=Models(chat=chat, summary=chat, extract=chat),
                directory=directory,
                settings=MemorySettings(),
                clock=clock,
            )
        )
        parts = SimpleNamespace(
            commands=Commands(()),
            console=MANIFESTS.platforms[CONSOLE],
            engine=engine,
            turns=TurnEngine(engine=engine, chat=chat, clock=clock),
            router=await stack.enter_async_context(open_router()),
            clock=clock,
        )
        yield SimpleNamespace(
            talk=ConsoleTalk(parts, session="main", name="mei"),
            chat=chat,
            engine=engine,
            database=database,
        )


async def kept(stack):
    """The texts of the transcript on disk."""
    async with stack.database.reading() as reader:
        found = await reader.rows("SELECT text FROM messages ORDER BY seq")
    return [text for (text,) in found]


async def test_a_talk_whose_mode_was_changed_keeps_no_transcript_any_more(tmp_path):
    async with open_talk(tmp_path, lambda _request: "Hello.") as stack:
        await stack.talk.answer("in full", SILENT)
        await stack.engine.clearing.switch(MAIN, Mode.POOLS, purge=True)
        await stack.talk.answer("in pools", SILENT)

        assert await kept(stack) == []


async def test_a_line_that_waits_is_answered_in_the_mode_of_its_turn(tmp_path):
    go = asyncio.Event()

    async def slowly(_request):
        await go.wait()
        return "Hello."

    async with open_talk(tmp_path, slowly) as stack, asyncio.TaskGroup() as group:
        group.create_task(stack.talk.answer("first", SILENT))
        waiting = group.create_task(stack.talk.answer("second", SILENT))
        await until(lambda: stack.chat.requests)
        await stack.engine.clearing.switch(MAIN, Mode.POOLS, purge=True)
        go.set()

        assert (await waiting).text == "Hello."
        assert await kept(stack) == []
