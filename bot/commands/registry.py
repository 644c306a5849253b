"""The command registry: one table serves the console, text commands and native slash commands."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import structlog

from bot.access.access import Verdict
from bot.access.doorkeeper import Place
from bot.ports import (
    Author,
    ChatKind,
    ChatRef,
    CommandAnswer,
    CommandCall,
    CommandOption,
    CommandSpec,
    OptionKind,
)
from bot.texts.words import Language, Word, describe, language_of, say
from memory.errors import KithError
from memory.values import SessionId

log = structlog.get_logger()

YES = frozenset({"yes", "y", "true", "confirm", "是", "好", "確定", "確認"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A command that may be carried out, with all that its handler needs to know."""

    call: CommandCall
    language: Language
    verdict: Verdict
    session: SessionId
    """The conversation that it was given in."""
    options: Mapping[str, str]

    def flag(self, name: str) -> bool:
        """Whether an option is set."""
        return self.options.get(name) == "true"


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
        own = [
            Command(spec=CommandSpec(name=name, descriptions=describe(word)), handle=self._help)
            for name, word in (("help", Word.ABOUT_HELP), ("start", Word.ABOUT_START))
        ]
        self._commands = {command.spec.path: command for command in (*own, *commands)}
        self._place = place

    @property
    def specs(self) -> tuple[CommandSpec, ...]:
        """Every command, as the platforms' own interfaces offer it."""
        return tuple(command.spec for command in self._commands.values())

    def parse(self, text: str, chat: ChatRef, author: Author) -> CommandCall | None:
        """The command that a text gives; None when it is not one."""
        if not text.startswith("/"):
            return None
        words, aloud = text[1:].split(), chat.kind is ChatKind.GROUP
        for length in (2, 1):
            name = " ".join(words[:length]).lower()
            if len(words) >= length and name in self._commands:
                rest = " ".join(words[length:])
                return CommandCall(chat=chat, author=author, name=name, rest=rest, aloud=aloud)
        name = words[0].lower() if words else "help"
        rest = " ".join(words[1:])
        return CommandCall(chat=chat, author=author, name=name, rest=rest, aloud=aloud)

    async def run(self, call: CommandCall) -> CommandAnswer:
        """Carry a command out, or answer why not: who may use it is decided here."""
        # A bare "yes" is in no language: the person's client tells.
        said = "" if call.rest.isascii() else call.rest
        language = language_of(said, call.author.language)
        place = self._place(call.chat, call.author)
        if not place.verdict.allowed:
            return CommandAnswer(text=say(Word.NOT_ALLOWED, language), private=True)
        command = self._commands.get(call.name)
        if command is None:
            return self._unknown(call, language, place.verdict)
        if command.spec.admin_only and not place.verdict.admin:
            return CommandAnswer(text=say(Word.ADMINS_ONLY, language), private=True)
        if command.spec.beyond and call.aloud:
            return CommandAnswer(text=say(Word.ASK_ALONE, language), private=True)
        request = Request(
            call=call,
            language=language,
            verdict=place.verdict,
            session=place.session,
            options=read_options(command.spec.options, call),
        )
        try:
            return await command.handle(request)
        except KithError as error:
            log.warning("command.failed", command=call.name, error=type(error).__name__)
            return CommandAnswer(text=say(Word.COMMAND_FAILED, language, reason=error))

    def _unknown(self, call: CommandCall, language: Language, verdict: Verdict) -> CommandAnswer:
        group = [spec for spec in self.specs if spec.group and spec.group.name == call.name]
        if group and verdict.admin:
            return CommandAnswer(text="\n".join(_lines(group, language)))
        return CommandAnswer(text=say(Word.NO_SUCH_COMMAND, language, name=call.name))

    async def _help(self, request: Request) -> CommandAnswer:
        offered = [
            spec
            for spec in self.specs
            if spec.name != "start" and (request.verdict.admin or not spec.admin_only)
        ]
        lines = [say(Word.HELP, request.language), *_lines(offered, request.language)]
        return CommandAnswer(text="\n".join(lines))


def _lines(specs: Sequence[CommandSpec], language: Language) -> list[str]:
    return [
        f"/{spec.path} - {spec.descriptions.get(language, spec.descriptions['en'])}"
        for spec in specs
    ]


def read_options(offered: Sequence[CommandOption], call: CommandCall) -> Mapping[str, str]:
    """The options of a command: as the platform's interface gave them, else read from the text.

    Each word of a text fills the first option that is free and takes it; a word that none takes
    is left out.
    """
    given = dict(call.arguments)
    for word in call.rest.split():
        for option in offered:
            if option.name not in given and _takes(option, word):
                given[option.name] = "true" if option.kind is OptionKind.FLAG else word
                break
    return given


def _takes(option: CommandOption, word: str) -> bool:
    match option.kind:
        case OptionKind.FLAG:
            return word.casefold() in YES
        case OptionKind.INTEGER:
            return word.isdecimal()
    return not option.choices or word in option.choices
