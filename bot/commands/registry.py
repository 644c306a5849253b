"""The command registry: one table serves the console, text commands and native slash commands."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import structlog

from bot.access.places import Place
from bot.commands.grammar import TRUE, read_arguments
from bot.ports import (
    Author,
    ChatRef,
    CommandAnswer,
    CommandCall,
    CommandOption,
    CommandSpec,
)
from bot.texts.keys import Text
from bot.texts.language import Language, language_of
from bot.texts.tables import describe, say
from memory.errors import KithError

log = structlog.get_logger()

_MOST_DIGITS = 18
"""What SQLite's integers hold for certain; no number of ours comes near."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A command that may be carried out, with all that its handler needs to know."""

    call: CommandCall
    language: Language
    place: Place
    """Where it was given: the conversation, and what its author may do there."""

    def given(self, option: CommandOption) -> str:
        """What was given for an option, without spaces round it; empty where nothing was."""
        return self.call.arguments.get(option.name, "").strip()

    def flag(self, option: CommandOption) -> bool:
        """Whether an option of the kind FLAG is set."""
        return self.given(option) == TRUE

    def number(self, option: CommandOption) -> int:
        """What was given for an option of the kind INTEGER; 0 where nothing was."""
        given = self.given(option)
        return int(given) if given.isdecimal() and len(given) <= _MOST_DIGITS else 0


Handler = Callable[[Request], Awaitable[CommandAnswer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command with what carries it out."""

    spec: CommandSpec
    handle: Handler


class Commands:
    """Finds and runs commands; `/help` and `/start` are its own."""

    def __init__(
        self, commands: Sequence[Command], *, place: Callable[[ChatRef, Author], Place]
    ) -> None:
        start = CommandSpec(name="start", descriptions=describe(Text.ABOUT_START))
        help_ = CommandSpec(name="help", descriptions=describe(Text.ABOUT_HELP), urgent=True)
        own = [Command(spec=spec, handle=self._help) for spec in (help_, start)]
        self._commands = {command.spec.path: command for command in (*own, *commands)}
        self._place = place

    @property
    def broken(self) -> Mapping[str, str]:
        """What is answered where a command could not be carried out at all, by language tag."""
        return describe(Text.COMMAND_BROKE)

    @property
    def specs(self) -> tuple[CommandSpec, ...]:
        """Every command, as the platforms' own interfaces offer it."""
        return tuple(command.spec for command in self._commands.values())

    def parse(self, text: str, chat: ChatRef, author: Author) -> CommandCall | None:
        """The command that a text gives; None when it is not one. The longest name wins."""
        if not text.startswith("/"):
            return None
        for words in (2, 1):
            name, typed = _head(text[1:], words)
            if command := self._commands.get(name):
                spec = command.spec
                return CommandCall(
                    chat=chat,
                    author=author,
                    name=name,
                    arguments=read_arguments(spec.options, typed),
                    typed=typed,
                    urgent=spec.urgent,
                )
        return CommandCall(chat=chat, author=author, name=name or "help", typed=typed)

    async def run(self, call: CommandCall) -> CommandAnswer:
        """Carry out a command that came through the platform's own interface."""
        return await self.carry_out(call, self._place(call.chat, call.author))

    async def carry_out(self, call: CommandCall, place: Place) -> CommandAnswer:
        """Carry the command out, or answer why not: who may use it is decided here."""
        # A bare "yes" is in no language: the person's client decides.
        typed = call.typed or ""
        language = language_of("" if typed.isascii() else typed, call.author.language)
        if not place.allowed:
            return CommandAnswer(text=say(Text.NOT_ALLOWED, language), private=True)
        command = self._commands.get(call.name)
        if command is None:
            return self._unknown(call, language, place)
        if command.spec.admin_only and not place.admin:
            return CommandAnswer(text=say(Text.ADMINS_ONLY, language), private=True)
        if command.spec.beyond and call.aloud:
            return CommandAnswer(text=say(Text.ASK_ALONE, language), private=True)
        try:
            return await command.handle(Request(call=call, language=language, place=place))
        except KithError as error:
            log.warning("command.failed", command=call.name, error=type(error).__name__)
            return CommandAnswer(text=say(Text.COMMAND_FAILED, language, reason=error))

    def _unknown(self, call: CommandCall, language: Language, place: Place) -> CommandAnswer:
        group = [spec for spec in self.specs if spec.group and spec.group.name == call.name]
        if group and place.admin:
            return CommandAnswer(text="\n".join(_lines(group, language)))
        return CommandAnswer(text=say(Text.NO_SUCH_COMMAND, language, name=call.name))

    async def _help(self, request: Request) -> CommandAnswer:
        offered = [
            spec
            for spec in self.specs
            if spec.name != "start" and (request.place.admin or not spec.admin_only)
        ]
        lines = [say(Text.HELP, request.language), *_lines(offered, request.language)]
        return CommandAnswer(text="\n".join(lines))


def _lines(specs: Sequence[CommandSpec], language: Language) -> list[str]:
    return [
        f"/{spec.path} - {spec.descriptions.get(language, spec.descriptions['en'])}"
        for spec in specs
    ]


def _head(text: str, words: int) -> tuple[str, str]:
    """So many words in front, joined by single spaces and in lower case, and what follows them."""
    parts = text.split(maxsplit=words)
    return " ".join(parts[:words]).lower(), parts[words] if len(parts) > words else ""
