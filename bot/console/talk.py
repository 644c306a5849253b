"""The console's conversation: its lines go through the same lanes and the same engine as any other."""

import asyncio
from typing import Protocol

from bot.access.places import Place
from bot.access.sessions import session_of
from bot.commands.registry import Commands
from bot.delivery.router import Router
from bot.manifests import PlatformManifest
from bot.ports import CONSOLE, Author, ChatKind, ChatRef, Draft, Reply
from bot.texts.language import language_of
from bot.turn.interface import TurnContext
from bot.turn.turns import TurnEngine
from memory.engine import Engine
from memory.errors import KithError
from memory.ports import Clock
from memory.values import Mode, NewMessage, PersonId, Role, Speaker


class TalkParts(Protocol):
    """What a conversation needs of the service."""

    @property
    def commands(self) -> Commands:
        """The command registry."""
        ...

    @property
    def console(self) -> PlatformManifest:
        """The terminal's own manifest."""
        ...

    @property
    def engine(self) -> Engine:
        """Memory."""
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
        self._author = Author(person=PersonId(f"{CONSOLE}:{name}"), name=name)
        self._chat = ChatRef(
            platform=CONSOLE,
            bot="console",
            chat=session,
            kind=ChatKind.DIRECT,
            title=session,
        )

    async def answer(self, text: str, draft: Draft) -> Reply:
        """The reply to a line; a line that starts with a slash is a command."""
        if call := self._parts.commands.parse(text, self._chat, self._author):
            answer = await self._parts.commands.carry_out(call, self._place())
            return Reply(text=answer.text, kept=False)
        return await self._in_lane(text, draft)

    def _place(self) -> Place:
        """Whoever sits here may do everything: they can read the database anyway."""
        session = session_of(self._parts.console, self._chat, self._author)
        mode = self._parts.engine.mode_of(session, self._mode)
        return Place(session=session, allowed=True, admin=True, mode=mode)

    async def _in_lane(self, text: str, draft: Draft) -> Reply:
        answered: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        speaker = Speaker(person=self._author.person, name=self._author.name)
        now_ns = self._parts.clock.now_ns()
        entry = NewMessage(role=Role.USER, text=text, sent_at_ns=now_ns, speaker=speaker)

        async def job() -> None:
            place = self._place()  # as it is now: whatever ran before may have changed the mode
            context = TurnContext(
                session=place.session,
                title=self._chat.title,
                mode=place.mode,
                speaker=speaker,
                language=language_of(text),
            )
            try:
                reply = await self._parts.turns.answer(context, entry, draft)
            except KithError as error:
                if not answered.done():  # whoever asked may have left by then
                    answered.set_exception(error)
            else:
                if not answered.done():
                    answered.set_result(reply)
            finally:
                answered.cancel()  # after a fault, which the lane logs, nobody waits for ever

        self._parts.router.deliver(self._place().session, job)
        return await answered

    def stop(self) -> bool:
        """Stop the answer that is being written."""
        return self._parts.turns.stop(self._place().session)
