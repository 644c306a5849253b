import asyncio
from types import SimpleNamespace

import pytest

from adapters.registry import MANIFESTS
from bot.access.places import Place
from bot.console.talk import ConsoleTalk
from bot.delivery.router import open_router
from bot.ports import CONSOLE, CommandAnswer, CommandCall, Reply
from bot.turn.turns import SILENT
from memory.errors import StoreError
from memory.values import Mode, SessionId
from tests.fakes import FakeClock


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
