"""The composition root: builds every part, in order, and closes them in reverse.

Nobody else calls a constructor with I/O behind it.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from bot.commands import Commands
from bot.config import Loaded
from bot.datadir import DATABASE, owned
from bot.ports import Author, ChatKind, ChatRef, Draft, Platform, Reply
from bot.router import Router, open_router
from bot.turns import Ask, TurnEngine
from memory.database import open_database
from memory.engine import Engine, open_engine
from memory.errors import KithError
from memory.ports import Clock, Models
from memory.values import NewMessage, PersonId, Role, SessionId, Speaker


class SystemClock:
    """The machine's clock."""

    def now_ns(self) -> int:
        """Nanoseconds since the Unix epoch, UTC."""
        return time.time_ns()


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """The parts that the doors of the service need."""

    engine: Engine
    turns: TurnEngine
    router: Router
    commands: Commands
    models: Models
    clock: Clock


@asynccontextmanager
async def open_app(
    loaded: Loaded,
    open_models: Callable[[], AbstractAsyncContextManager[Models]],
    *,
    clock: Clock | None = None,
) -> AsyncIterator[App]:
    """Everything between the platforms and the disk, over one data directory.

    The models come last, as they take the longest: what is wrong with the directory is said first.

    Raises:
        DataDirLocked: another process owns the data directory.
        DataDirUnusable: it cannot be made or written.
        StoreError: the database cannot be opened.
        ModelError: a model cannot be had.
    """
    clock = clock or SystemClock()
    async with AsyncExitStack() as stack:
        directory = stack.enter_context(owned(loaded.data_dir))
        database = await stack.enter_async_context(open_database(directory / DATABASE))
        models = await stack.enter_async_context(open_models())
        engine = await stack.enter_async_context(
            open_engine(
                database=database,
                models=models,
                directory=directory,
                settings=loaded.config.memory,
                clock=clock,
                zone=loaded.zone,
            )
        )
        yield App(
            engine=engine,
            turns=TurnEngine(engine=engine, chat=models.chat, clock=clock),
            router=await stack.enter_async_context(open_router()),
            commands=Commands(()),
            models=models,
            clock=clock,
        )


class ConsoleTalk:
    """The console's conversation: its lines go through the same lanes and the same engine."""

    def __init__(self, app: App, *, session: str, name: str) -> None:
        self._app = app
        self._session = SessionId(f"cli-{session}")
        self._author = Author(person=PersonId(f"{Platform.CONSOLE}:{name}"), name=name)
        self._chat = ChatRef(
            platform=Platform.CONSOLE,
            bot="console",
            chat=session,
            kind=ChatKind.DIRECT,
            title=session,
        )

    async def answer(self, text: str, draft: Draft) -> Reply:
        """The reply to a line; a line that starts with a slash is a command."""
        if call := self._app.commands.parse(text, self._chat, self._author):
            return Reply(text=(await self._app.commands.run(call)).text, kept=False)
        return await self._in_lane(self._ask(text), draft)

    def _ask(self, text: str) -> Ask:
        speaker = Speaker(person=self._author.person, name=self._author.name)
        now_ns = self._app.clock.now_ns()
        entry = NewMessage(role=Role.USER, text=text, sent_at_ns=now_ns, speaker=speaker)
        return Ask(session=self._session, title=self._chat.title, entry=entry)

    async def _in_lane(self, ask: Ask, draft: Draft) -> Reply:
        answered: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

        async def job() -> None:
            try:
                reply = await self._app.turns.answer(ask, draft)
            except KithError as error:
                answered.set_exception(error)
            else:
                answered.set_result(reply)

        self._app.router.deliver(ask.session, job)
        return await answered

    def stop(self) -> bool:
        """Stop the answer that is being written."""
        return self._app.turns.stop(self._session)
