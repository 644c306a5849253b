"""The command menu that Telegram shows, made from the table of commands.

Pure. Telegram has one menu for each scope and language; the one without a language is for all
others (Bot API, setMyCommands).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from telegram import (
    BotCommand,
    BotCommandScope,
    BotCommandScopeAllGroupChats,
    BotCommandScopeAllPrivateChats,
)

from bot.ports import CommandSpec

MOST_COMMANDS = 100
LONGEST_DESCRIPTION_CHARS = 256
_EVERYBODY = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Menu:
    """What one kind of chat shows in one language."""

    scope: BotCommandScope
    language: str | None
    """Two letters, as Telegram wants them; None for whoever has none of ours."""
    commands: tuple[BotCommand, ...]


def menus(specs: Sequence[CommandSpec]) -> list[Menu]:
    """Every menu to be set. Commands for admins are left out: everybody would see them."""
    languages = sorted({tag for spec in specs for tag in spec.descriptions})
    return [
        Menu(scope=scope, language=language, commands=tuple(_entries(offered, tag)))
        for scope, offered in _scopes(specs)
        for tag, language in _by_language(languages)
    ]


def names(specs: Sequence[CommandSpec]) -> frozenset[str]:
    """The first words of all commands, those for admins included."""
    return frozenset(spec.path.partition(" ")[0] for spec in specs)


def _scopes(specs: Sequence[CommandSpec]) -> Iterator[tuple[BotCommandScope, list[CommandSpec]]]:
    shown = [spec for spec in specs if not spec.admin_only]
    yield BotCommandScopeAllPrivateChats(), [spec for spec in shown if spec.in_direct]
    yield BotCommandScopeAllGroupChats(), [spec for spec in shown if spec.in_guild]


def _by_language(tags: Sequence[str]) -> list[tuple[str, str | None]]:
    """Our tag with Telegram's; English serves everybody whose language is not among ours."""
    short = {tag.partition("-")[0]: tag for tag in reversed(tags) if tag != _EVERYBODY}
    return [(_EVERYBODY, None), *((tag, two) for two, tag in sorted(short.items()))]


def _entries(specs: Sequence[CommandSpec], tag: str) -> list[BotCommand]:
    entries: dict[str, str] = {}
    for spec in specs:
        owner = spec.group or spec
        entries.setdefault(owner.name, _described(owner.descriptions, tag))
    return [BotCommand(name, text) for name, text in entries.items()][:MOST_COMMANDS]


def _described(descriptions: Mapping[str, str], tag: str) -> str:
    return (descriptions.get(tag) or descriptions[_EVERYBODY])[:LONGEST_DESCRIPTION_CHARS]
