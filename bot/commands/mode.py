"""`/mode`: which memory a conversation uses, and what becomes of what is stored when it changes."""

from collections.abc import Awaitable, Callable

from bot.commands.registry import Command, Request
from bot.ports import CommandAnswer, CommandOption, CommandSpec, OptionKind
from bot.texts.keys import Text
from bot.texts.tables import describe, say, yes_or_no
from memory.engine import Engine
from memory.keeping.clearing import Cleared
from memory.values import Mode, PersonId

Record = Callable[[PersonId, str, str], Awaitable[None]]
"""Writes down who did what to which conversation."""

_WHICH = CommandOption(
    name="which",
    descriptions=describe(Text.ABOUT_MODE_WHICH),
    choices=tuple(mode.value for mode in Mode),
)
_STORED = CommandOption(
    name="stored", descriptions=describe(Text.ABOUT_MODE_STORED), choices=("keep", "purge")
)
_SEED = CommandOption(
    name="seed", descriptions=describe(Text.ABOUT_MODE_SEED), kind=OptionKind.FLAG
)
_CONFIRM = {
    Mode.POOLS: Text.MODE_CONFIRM_POOLS,
    Mode.WINDOW: Text.MODE_CONFIRM_WINDOW,
    Mode.FULL: Text.MODE_CONFIRM_FULL,
}


class ModeCommand:
    """The handler."""

    def __init__(self, *, engine: Engine, record: Record) -> None:
        self._engine = engine
        self._record = record

    def table(self) -> tuple[Command, ...]:
        """The one command."""
        spec = CommandSpec(
            name="mode",
            descriptions=describe(Text.ABOUT_MODE),
            options=(_WHICH, _STORED, _SEED),
            private=True,
            admin_only=True,
        )
        return (Command(spec=spec, handle=self.mode),)

    async def mode(self, request: Request) -> CommandAnswer:
        """Show the mode; change it once it was said what becomes of what is stored."""
        which, stored = request.given(_WHICH), request.given(_STORED)
        if not which:
            return await self._holdings(request, Text.MODE_IS, request.place.mode)
        mode = Mode(which)
        if not stored:
            return await self._holdings(request, _CONFIRM[mode], mode)
        done = await self._engine.clearing.switch(
            request.place.session, mode, purge=stored == "purge", seed=request.flag(_SEED)
        )
        await self._record(
            request.call.author.person, f"mode {mode} {stored}", request.place.session
        )
        return CommandAnswer(text=_switched(request, mode, done), private=True)

    async def _holdings(self, request: Request, text: Text, mode: Mode) -> CommandAnswer:
        held = await self._engine.clearing.holdings(request.place.session)
        answer = say(
            text,
            request.language,
            mode=mode.value,
            messages=held.messages,
            short=held.short,
            long=held.long,
            summary=yes_or_no(held.summary, request.language),
        )
        return CommandAnswer(text=answer, private=True)


def _switched(request: Request, mode: Mode, done: Cleared) -> str:
    cleared, kept = done.cleared, done.kept
    text = say(
        Text.MODE_SWITCHED,
        request.language,
        mode=mode.value,
        messages=cleared.messages,
        facts=max(cleared.short, 0) + max(cleared.long, 0),
        summary=yes_or_no(cleared.summary, request.language),
        kept_messages=kept.messages,
        kept_facts=kept.short + kept.long,
    )
    if not done.seeded:
        return text
    return f"{text}\n{say(Text.MODE_SEEDED, request.language, count=done.seeded)}"
