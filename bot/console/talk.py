"""The console's conversation: its lines go through the same lanes and the same engine as any other."""

import asyncio
from typing import Protocol

from bot.commands.registry import Commands
from bot.delivery.router import Router
from bot.ports import Author, ChatKind, ChatRef, Draft, Platform, Reply
from bot.turn.turns import Ask, TurnEngine
from memory.errors import KithError
from memory.ports import Clock
from memory.values import Mode, NewMessage, PersonId, Role, SessionId, Speaker


class TalkParts(Protocol):
    """What a conversation needs of the service."""

    @property
    def commands(self) -> Commands:
        """The command registry."""
        ...

    @property
    def turns(self) -> TurnEngine:
        """The turn engine."""
        ...

    @property
    def router(self) -> Router:
        """The lanes."""
        ...

    @property
    def clock(self) -> Clock:
        """The time."""
        ...


class ConsoleTalk:
    """One person's talk on the console; implements `bot.ports.Talk`."""

    def __init__(
        self, parts: TalkParts, *, session: str, name: str, mode: Mode = Mode.FULL
    ) -> None:
        self._parts = parts
        self._mode = mode
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
        if call := self._parts.commands.parse(text, self._chat, self._author):
            return Reply(text=(await self._parts.commands.run(call)).text, kept=False)
        return await self._in_lane(self._ask(text), draft)

    def _ask(self, text: str) -> Ask:
        speaker = Speaker(person=self._author.person, name=self._author.name)
        now_ns = self._parts.clock.now_ns()
        entry = NewMessage(role=Role.USER, text=text, sent_at_ns=now_ns, speaker=speaker)
        return Ask(session=self._session, title=self._chat.title, entry=entry, mode=self._mode)

    async def _in_lane(self, ask: Ask, draft: Draft) -> Reply:
        answered: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

        async def job() -> None:
            try:
                reply = await self._parts.turns.answer(ask, draft)
            except KithError as error:
                if not answered.done():  # whoever asked may have left by then
                    answered.set_exception(error)
            else:
                if not answered.done():
                    answered.set_result(reply)
            finally:
                answered.cancel()  # after a fault, which the lane logs, nobody waits for ever

        self._parts.router.deliver(ask.session, job)
        return await answered

    def stop(self) -> bool:
        """Stop the answer that is being written."""
        return self._parts.turns.stop(self._session)
