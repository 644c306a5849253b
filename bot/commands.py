"""The command registry: one table serves the console, text commands and native slash commands."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from bot.ports import Author, ChatRef, CommandAnswer, CommandCall, CommandSpec
from bot.words import Language, Word, language_of, say

Handler = Callable[[CommandCall, Language], Awaitable[CommandAnswer]]

_NAMES = {"en": "Show what I can do", "zh-TW": "顯示我會做的事"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command with what carries it out."""

    spec: CommandSpec
    handle: Handler


class Commands:
    """Finds and runs commands; `/help` is its own."""

    def __init__(self, commands: Sequence[Command]) -> None:
        listing = Command(spec=CommandSpec(name="help", descriptions=_NAMES), handle=self._help)
        self._commands = {command.spec.path: command for command in (listing, *commands)}

    @property
    def specs(self) -> tuple[CommandSpec, ...]:
        """Every command, as the platforms' own interfaces offer it."""
        return tuple(command.spec for command in self._commands.values())

    def parse(self, text: str, chat: ChatRef, author: Author) -> CommandCall | None:
        """The command that a text gives; None when it is not one."""
        if not text.startswith("/"):
            return None
        words = text[1:].split()
        for length in (2, 1):
            name = " ".join(words[:length]).lower()
            if len(words) >= length and name in self._commands:
                rest = " ".join(words[length:])
                return CommandCall(chat=chat, author=author, name=name, rest=rest)
        name = words[0].lower() if words else "help"
        return CommandCall(chat=chat, author=author, name=name, rest=" ".join(words[1:]))

    async def run(self, call: CommandCall) -> CommandAnswer:
        """Carry a command out, or answer that there is none of that name."""
        language = language_of(call.rest, call.author.language)
        command = self._commands.get(call.name)
        if command is None:
            return CommandAnswer(text=say(Word.NO_SUCH_COMMAND, language, name=call.name))
        return await command.handle(call, language)

    async def _help(self, _call: CommandCall, language: Language) -> CommandAnswer:
        lines = [
            f"/{spec.path} - {spec.descriptions.get(language, spec.descriptions['en'])}"
            for spec in self.specs
        ]
        return CommandAnswer(text="\n".join([say(Word.HELP, language), *lines]))
