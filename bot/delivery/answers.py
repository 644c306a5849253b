"""Answers a message that was taken over: a command by the registry, anything else by a turn.

It joins the turn's transaction with the inbox and the outbox. It runs inside a session's lane.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.access.access import Verdict
from bot.delivery.delivery import Delivery, Settlement
from bot.delivery.inbox import InboxState
from bot.ports import (
    Author,
    ChatAdapter,
    ChatKind,
    ChatRef,
    CommandAnswer,
    CommandCall,
    Inbound,
    Platform,
    Reply,
)
from bot.turn.turns import Ask, TurnEngine
from memory.database.database import Database, Unit
from memory.values import Mode, NewMessage, Role, SessionId, Speaker

URGENT = frozenset({"stop", "help", "status", "whoami"})
"""Commands that do not wait behind the turns of their session: `/stop` could stop nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A message that was taken over, with all that its turn needs to know."""

    row: int
    """In the inbox."""
    inbound: Inbound
    session: SessionId
    verdict: Verdict

    @property
    def on_disk(self) -> bool:
        """Whether what is said here may be written to disk."""
        return self.verdict.mode is not Mode.POOLS


class TextCommands(Protocol):
    """The command registry, as far as commands given as text need it."""

    def parse(self, text: str, chat: ChatRef, author: Author) -> CommandCall | None:
        """The command that a text gives; None when it is not one."""
        ...

    async def run(self, call: CommandCall) -> CommandAnswer:
        """Carry a command out."""
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

    def is_urgent(self, inbound: Inbound) -> bool:
        """Whether the message is a command that must not wait for its turn."""
        call = self._command(inbound)
        return call is not None and call.name in URGENT

    async def handle(self, claim: Claim) -> None:
        """Answer, and close the inbox row in the transaction that keeps the answer.

        Raises:
            StoreError: nothing of it was kept; the row is still open.
        """
        call = self._command(claim.inbound)
        try:
            if call is None:
                await self._take_turn(claim)
            else:
                await self._run(call, claim)
        finally:
            self._delivery.wake()

    def _command(self, inbound: Inbound) -> CommandCall | None:
        return self._commands.parse(inbound.text, inbound.chat, inbound.author)

    async def _run(self, call: CommandCall, claim: Claim) -> None:
        answer = await self._commands.run(call)
        async with self._database.unit() as unit:
            await self._settle(unit, claim, answer.text, InboxState.ANSWERED)

    async def _take_turn(self, claim: Claim) -> None:
        async def settle(unit: Unit, reply: Reply) -> None:
            state = InboxState.ANSWERED if reply.kept else InboxState.FAILED
            await self._settle(unit, claim, reply.text, state)

        async with self._adapters[claim.inbound.chat.platform].typing(claim.inbound.chat):
            await self._turns.answer(_ask(claim), settle=settle)

    async def _settle(self, unit: Unit, claim: Claim, text: str, state: InboxState) -> None:
        await self._delivery.settle(
            unit,
            Settlement(
                row=claim.row,
                inbound=claim.inbound,
                parts=self._split(claim, text),
                on_disk=claim.on_disk,
                state=state,
            ),
        )

    def _split(self, claim: Claim, text: str) -> Sequence[str]:
        return self._adapters[claim.inbound.chat.platform].split(text)


def _ask(claim: Claim) -> Ask:
    inbound = claim.inbound
    entry = NewMessage(
        role=Role.USER,
        text=inbound.text,
        sent_at_ns=inbound.sent_at_ns,
        speaker=Speaker(person=inbound.author.person, name=inbound.author.name),
        platform_id=inbound.message,
    )
    return Ask(
        session=claim.session,
        title=inbound.chat.title,
        entry=entry,
        language=inbound.author.language,
        mode=claim.verdict.mode,
        group=inbound.chat.kind is ChatKind.GROUP,
    )
