"""Answers a message that was taken over: a command by the registry, anything else by a turn.

It joins the turn's transaction with the inbox and the outbox. It runs inside a session's lane.
"""

from collections.abc import Mapping
from typing import Protocol

from bot.access.places import Place
from bot.delivery.attempt import Attempt
from bot.delivery.claim import Claim
from bot.delivery.delivery import Delivery
from bot.delivery.inbox import InboxState
from bot.ports import Author, ChatAdapter, ChatRef, CommandAnswer, CommandCall, Platform, Reply
from bot.texts.language import language_of
from bot.turn.interface import TurnContext
from bot.turn.turns import TurnEngine
from memory.database.database import Database, Unit
from memory.values import NewMessage, Role, Speaker


class TextCommands(Protocol):
    """The command registry, as far as commands given as text need it."""

    def parse(self, text: str, chat: ChatRef, author: Author) -> CommandCall | None:
        """The command that a text gives; None when it is not one."""
        ...

    async def carry_out(self, call: CommandCall, place: Place) -> CommandAnswer:
        """Carry a command out, or answer why not."""
        ...


class Answers:
    """What the lanes run for each message."""

    def __init__(
        self,
        *,
        database: Database,
        delivery: Delivery,
        turns: TurnEngine,
        commands: TextCommands,
        adapters: Mapping[Platform, ChatAdapter],
    ) -> None:
        self._database = database
        self._delivery = delivery
        self._turns = turns
        self._commands = commands
        self._adapters = adapters

    def command(self, text: str, chat: ChatRef, author: Author) -> CommandCall | None:
        """The command that a message gives, if it gives one."""
        return self._commands.parse(text, chat, author)

    async def handle(self, claim: Claim, attempt: Attempt) -> None:
        """Answer, and close the inbox row in the transaction that keeps the answer.

        Raises:
            StoreError: nothing of it was kept; the row is still open.
        """
        try:
            if claim.call is None:
                await self._take_turn(claim, attempt)
            else:
                await self._run(claim, claim.call)
        finally:
            self._delivery.wake()

    async def _run(self, claim: Claim, call: CommandCall) -> None:
        answer = await self._commands.carry_out(call, claim.place)
        async with self._database.unit() as unit:
            await self._settle(unit, claim, answer.text, InboxState.ANSWERED)

    async def _take_turn(self, claim: Claim, attempt: Attempt) -> None:
        async def settle(unit: Unit, reply: Reply) -> None:
            state = InboxState.ANSWERED if reply.kept else InboxState.FAILED
            await self._settle(unit, claim, reply.text, state)

        chat, entry = claim.inbound.chat, _entry(claim)
        async with self._adapters[chat.platform].typing(chat):
            await self._turns.answer(_context(claim, entry, attempt), entry, settle=settle)

    async def _settle(self, unit: Unit, claim: Claim, text: str, state: InboxState) -> None:
        parts = self._adapters[claim.inbound.chat.platform].split(text)
        await self._delivery.settle(unit, claim, parts, state=state)


def _entry(claim: Claim) -> NewMessage:
    inbound = claim.inbound
    return NewMessage(
        role=Role.USER,
        text=inbound.text,
        sent_at_ns=inbound.sent_at_ns,
        speaker=Speaker(person=inbound.author.person, name=inbound.author.name),
        platform_id=inbound.message,
    )


def _context(claim: Claim, entry: NewMessage, attempt: Attempt) -> TurnContext:
    inbound = claim.inbound
    return TurnContext(
        session=claim.place.session,
        title=inbound.chat.title,
        mode=claim.place.mode,
        kind=inbound.chat.kind,
        speaker=entry.speaker,
        language=language_of(inbound.text, inbound.author.language),
        watch=attempt,
    )
