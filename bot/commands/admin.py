"""The commands for administrators, about any conversation; what they change is written down."""

from collections.abc import Awaitable, Callable

from bot.commands.registry import Command, Request
from bot.commands.talk import CONFIRM, EVERYTHING, WHAT
from bot.ports import CommandAnswer, CommandGroup, CommandOption, CommandSpec
from bot.texts.conversations import format_conversation, format_reset
from bot.texts.keys import Text
from bot.texts.tables import describe, say
from memory.engine import Engine
from memory.values import PersonId, SessionId

MOST_LISTED = 30
"""Conversations in one answer, the last used first: it stays readable, and one message."""
GROUP = CommandGroup(name="admin", descriptions=describe(Text.ABOUT_ADMIN))
TARGET = CommandOption(name="target", descriptions=describe(Text.ABOUT_ADMIN_TARGET), required=True)

Record = Callable[[PersonId, str, str], Awaitable[None]]
"""Writes down who did what to which conversation."""


class AdminCommands:
    """Handlers that share the engine and the record of what was done."""

    def __init__(self, *, engine: Engine, record: Record) -> None:
        self._engine = engine
        self._record = record

    def table(self) -> tuple[Command, ...]:
        """The commands, in the order in which they are listed."""
        return (
            Command(spec=_spec("sessions", Text.ABOUT_ADMIN_SESSIONS), handle=self.sessions),
            Command(spec=_spec("inspect", Text.ABOUT_ADMIN_INSPECT, TARGET), handle=self.inspect),
            Command(
                spec=_spec("reset", Text.ABOUT_ADMIN_RESET, TARGET, WHAT, CONFIRM),
                handle=self.reset,
            ),
        )

    async def sessions(self, request: Request) -> CommandAnswer:
        """The conversations, the last used first."""
        found = await self._engine.sessions()
        lines = [f"{one.id}  {one.title}".rstrip() for one in found[:MOST_LISTED]]
        head = say(Text.SESSIONS_ARE, request.language, count=len(found), shown=len(lines))
        return CommandAnswer(text="\n".join([head, *lines]), private=True)

    async def inspect(self, request: Request) -> CommandAnswer:
        """Figures about a conversation; none of its text."""
        target = SessionId(request.given(TARGET))
        facts = await self._engine.inspect(target)
        if facts is None:
            return _no_target(request, target)
        lines = [f"{facts.session.id}  {facts.session.title}".rstrip()]
        lines.append(format_conversation(facts, request.language))
        return CommandAnswer(text="\n".join(lines), private=True)

    async def reset(self, request: Request) -> CommandAnswer:
        """Clear a conversation, once it is confirmed."""
        target = SessionId(request.given(TARGET))
        facts = await self._engine.inspect(target)
        if facts is None:
            return _no_target(request, target)
        everything = request.given(WHAT) == EVERYTHING
        if not request.flag(CONFIRM):
            given = f"{target} {EVERYTHING}" if everything else target
            text = say(
                Text.ADMIN_RESET_CONFIRM, request.language, count=facts.messages, given=given
            )
            return CommandAnswer(text=text, private=True)
        report = await self._engine.reset(target, everything=everything)
        action = "reset all" if everything else "reset"
        await self._record(request.call.author.person, action, target)
        return CommandAnswer(text=format_reset(report, request.language), private=True)


def _no_target(request: Request, target: str) -> CommandAnswer:
    return CommandAnswer(
        text=say(Text.NO_SUCH_SESSION, request.language, target=target), private=True
    )


def _spec(name: str, about: Text, *options: CommandOption) -> CommandSpec:
    return CommandSpec(
        name=name,
        descriptions=describe(about),
        group=GROUP,
        options=options,
        private=True,
        admin_only=True,
        beyond=True,
    )
