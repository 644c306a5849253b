"""The way of a message from door to door, real but for the platform, the model and the clock."""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from inspect import isawaitable

from adapters.registry import MANIFESTS
from adapters.telegram.options import TELEGRAM
from bot.access.access import Access
from bot.access.places import Places
from bot.app.schemas import BOT_SCHEMA
from bot.commands.registry import Commands
from bot.commands.talk import TalkCommands
from bot.config.access_settings import AccessSettings, IdLists
from bot.config.delivery_settings import DeliverySettings
from bot.delivery.answers import Answers
from bot.delivery.delivery import Delivery, open_delivery
from bot.delivery.intake import InboxIntake
from bot.delivery.router import Router, open_router
from bot.delivery.sender import Sender
from bot.ports import (
    Author,
    ChatKind,
    ChatRef,
    Inbound,
)
from bot.service.service_status import ServiceStatus
from bot.turn.turns import TurnEngine
from memory.database.database import MEMORY_SCHEMA, Database, open_database
from memory.engine import open_engine
from memory.ports import Models
from memory.settings import MemorySettings
from memory.values import PersonId
from tests.fakes import NOON_NS, FakeAdapter, FakeChatModel, FakeClock

OPEN_TO_ALL = AccessSettings(allow=IdLists(users=("*",)))


def direct(chat="7", platform=TELEGRAM):
    return ChatRef(platform=platform, bot="1", chat=chat, kind=ChatKind.DIRECT)


def group(chat="-100", platform=TELEGRAM, **more):
    return ChatRef(platform=platform, bot="1", chat=chat, kind=ChatKind.GROUP, **more)


def said(text, message="1", *, chat=None, user="7", sent_at_ns=NOON_NS, **more):
    chat = chat or direct()
    fields = {"addressed": True, **more}
    return Inbound(
        chat=chat,
        author=Author(person=PersonId(f"{chat.platform}:{user}"), name="Ann"),
        message=message,
        text=text,
        sent_at_ns=sent_at_ns,
        **fields,
    )


def echo(request):
    """Answers with what was said last."""
    return f"re: {request.messages[-1].text.splitlines()[-1]}"


def talk_table(engine, turns):
    async def status():
        return ServiceStatus(
            version="1", pid=1, started_at_ns=0, adapters=(), lanes=0, inbox_open=0,
            outbox_open=0, perhaps_delivered=0, quarantined=0, chat_model="fake:chat",
            embed_model=None,
        )  # fmt: skip

    return TalkCommands(engine=engine, turns=turns, status=status).table()


async def until(holds, *, timeout_s=20.0):
    """Wait until a look at the world (plain or awaitable) is true."""
    async with asyncio.timeout(timeout_s):
        while True:
            seen = holds()
            if await seen if isawaitable(seen) else seen:
                return
            await asyncio.sleep(0.005)


@dataclass
class Stack:
    database: Database
    delivery: Delivery
    intake: InboxIntake
    sender: Sender
    router: Router
    adapter: FakeAdapter
    model: FakeChatModel
    clock: FakeClock

    async def settled(self, *, timeout_s=10.0):
        """Wait until every message that can be answered was, and every part that is due was sent."""
        async with asyncio.timeout(timeout_s):
            await self.router.drain()
            await self.sender.drain()

    async def later(self, seconds):
        self.clock.advance(seconds)
        await self.settled()

    async def rows(self, sql):
        async with self.database.reading() as reader:
            return [tuple(row) for row in await reader.rows(sql)]

    async def states(self, table):
        return [row[0] for row in await self.rows(f"SELECT state FROM {table} ORDER BY number")]


@asynccontextmanager
async def open_stack(
    directory,
    *,
    model=None,
    adapter=None,
    access=OPEN_TO_ALL,
    clock=None,
    settings=None,
    lane_jobs=50,
    sending=True,
):
    """Leaving it is a crash as far as the disk is concerned: nothing is drained."""
    adapter = adapter or FakeAdapter()
    clock = clock or FakeClock()
    model = model or FakeChatModel(echo)
    settings = settings or DeliverySettings()
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(
            open_database(directory / "kith.db", (MEMORY_SCHEMA, BOT_SCHEMA))
        )
        engine = await stack.enter_async_context(
            open_engine(
                database=database,
                models=Models(chat=model, summary=model, extract=model),
                directory=directory,
                settings=MemorySettings(),
                clock=clock,
            )
        )
        delivery = await stack.enter_async_context(
            open_delivery(
                database=database,
                clock=clock,
                settings=settings,
                platforms=MANIFESTS.platforms,
            )
        )
        router = await stack.enter_async_context(open_router(lane_jobs=lane_jobs))
        places = Places(Access({adapter.platform: access}), delivery.moves, MANIFESTS.platforms)
        turns = TurnEngine(engine=engine, chat=model, clock=clock)
        answers = Answers(
            database=database,
            delivery=delivery,
            turns=turns,
            commands=Commands(talk_table(engine, turns), place=places.place),
            adapters={adapter.platform: adapter},
        )
        intake = InboxIntake(
            database=database,
            delivery=delivery,
            places=places,
            lanes=router,
            handler=answers,
            corrections=engine.corrections,
            clock=clock,
            settings=settings,
        )
        sender = Sender(
            database=database,
            delivery=delivery,
            adapters={adapter.platform: adapter},
            clock=clock,
            store_retry_s=0.01,
        )
        await intake.resume()
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        roots = [tasks.create_task(intake.run())]
        if sending:
            roots.append(tasks.create_task(sender.run()))
        try:
            yield Stack(database, delivery, intake, sender, router, adapter, model, clock)
        finally:
            for root in roots:
                root.cancel()
