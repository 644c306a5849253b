"""Slash commands built from the table of commands, and each use of one answered.

It never decides who may use what: `CommandRunner` does. Discord gives 3 s for a first sign and 15 min
for the answer (developer docs, "Receiving and Responding"), so the sign comes before anything.
"""

import hashlib
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import discord
import structlog
from discord import app_commands

from adapters.discord.errors import FOREIGN, NETWORK
from adapters.discord.parts import parts
from adapters.discord.translate import command_call
from bot.ports import (
    CommandAnswer,
    CommandGroup,
    CommandOption,
    CommandRunner,
    CommandSpec,
    OptionKind,
)
from memory.errors import KithError

log = structlog.get_logger()

Interaction = discord.Interaction[discord.Client]

_TYPES: Mapping[OptionKind, type] = {
    OptionKind.TEXT: str,
    OptionKind.LINE: str,
    OptionKind.INTEGER: int,
    OptionKind.FLAG: bool,
}
_LOCALES = {"en": ("en-US", "en-GB")}
"""Discord's names of our language tags, where they differ."""


class Tree(app_commands.CommandTree[discord.Client]):
    """The commands of one client."""

    def __init__(
        self, client: discord.Client, specs: Sequence[CommandSpec], commands: CommandRunner
    ) -> None:
        super().__init__(client)
        self._commands = commands
        groups: dict[str, app_commands.Group] = {}
        for spec in specs:
            command = _command(spec, self._use)
            if spec.group is None:
                _place(command, spec)
                self.add_command(command)
                continue
            if spec.group.name not in groups:
                groups[spec.group.name] = _group(spec.group, spec)
                self.add_command(groups[spec.group.name])
            groups[spec.group.name].add_command(command)

    async def payloads(self) -> list[dict[str, Any]]:
        """What a sync would send, in order of names."""
        texts = _Texts()
        commands = sorted(self.get_commands(), key=lambda command: command.name)
        return [await command.get_translated_payload(self, texts) for command in commands]

    async def fingerprint(self) -> str:
        """Changes exactly when what would be sent to Discord changes."""
        text = json.dumps(await self.payloads(), sort_keys=True, ensure_ascii=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    async def publish(self) -> None:
        """Replace the commands at Discord: 200 creations a day are allowed, so only on change.

        Raises:
            discord.DiscordException: it was refused or has to wait.
        """
        await self.set_translator(_Texts())
        await self.sync()

    async def on_error(
        self, interaction: Interaction, error: app_commands.AppCommandError, /
    ) -> None:
        """Answer plainly where our own code or the library failed; log what, not whose."""
        cause = error.__cause__ or error
        log.error("discord.command_failed", command=_named(interaction), error=type(cause).__name__)
        if not interaction.response.is_done() and not await _acknowledged(interaction):
            return
        await _deliver(interaction, self._failed(interaction), private=True)

    def _failed(self, interaction: Interaction) -> str:
        texts = self._commands.broken
        return texts.get(interaction.locale.value, texts["en"])

    async def _use(
        self, spec: CommandSpec, interaction: Interaction, given: dict[str, Any]
    ) -> None:
        if not await _acknowledged(interaction, private=spec.private):
            return
        answer = await self._answer(spec, interaction, given)
        if answer.private and not spec.private:
            await _hide(interaction)
        await _deliver(interaction, answer.text, private=answer.private or spec.private)

    async def _answer(
        self, spec: CommandSpec, interaction: Interaction, given: dict[str, Any]
    ) -> CommandAnswer:
        bot = interaction.application_id if self.client.user is None else self.client.user.id
        call = command_call(interaction, name=spec.path, given=given, bot=bot)
        try:
            return await self._commands.run(call)
        except KithError as exc:
            log.warning("discord.command_failed", command=spec.path, error=type(exc).__name__)
            return CommandAnswer(text=self._failed(interaction), private=spec.private)


async def _acknowledged(interaction: Interaction, *, private: bool = True) -> bool:
    """Give the first sign; False where it is not ours to answer any more.

    An event that a lost connection replays was acknowledged before, and a late one is void.
    """
    try:
        await interaction.response.defer(ephemeral=private, thinking=True)
    except (discord.DiscordException, *NETWORK) as exc:
        log.warning("discord.command_missed", error=type(exc).__name__)
        return False
    return True


async def _hide(interaction: Interaction) -> None:
    """Take back the public sign, so that the answer can be for one person's eyes."""
    try:
        await interaction.delete_original_response()
    except FOREIGN as exc:
        log.warning("discord.sign_left", error=type(exc).__name__)


async def _deliver(interaction: Interaction, text: str, *, private: bool) -> None:
    """Follow up with every part; past the token's 15 min, write to the person or the channel."""
    try:
        for part in parts(text):
            await interaction.followup.send(part, ephemeral=private)
    except (discord.DiscordException, *NETWORK) as exc:
        if _token_expired(exc):
            await _write_aside(interaction, text, private=private)
        else:
            log.warning("discord.command_unanswered", error=type(exc).__name__)


def _token_expired(error: Exception) -> bool:
    """10015 unknown webhook, 50027 invalid webhook token (developer docs, "JSON error codes")."""
    return isinstance(error, discord.HTTPException) and error.code in (10015, 50027)


async def _write_aside(interaction: Interaction, text: str, *, private: bool) -> None:
    channel = interaction.channel
    alone = private or not isinstance(channel, discord.abc.Messageable)
    target: discord.abc.Messageable = interaction.user if alone else channel  # type: ignore[assignment]
    try:
        for part in parts(text):
            await target.send(part)
    except FOREIGN as exc:
        log.warning("discord.command_unanswered", error=type(exc).__name__)


def _named(interaction: Interaction) -> str:
    return interaction.command.qualified_name if interaction.command else ""


class _Texts(app_commands.Translator):
    """The table's texts, which travel inside each string."""

    async def translate(
        self,
        string: app_commands.locale_str,
        locale: discord.Locale,
        context: app_commands.TranslationContextTypes,
    ) -> str | None:
        del context
        text: str | None = string.extras.get(locale.value)
        return text


def _texts(descriptions: Mapping[str, str]) -> app_commands.locale_str:
    by_locale = {
        locale: text
        for language, text in descriptions.items()
        for locale in _LOCALES.get(language, (language,))
    }
    return app_commands.locale_str(descriptions["en"], **by_locale)


_Use = Callable[[CommandSpec, Interaction, dict[str, Any]], Awaitable[None]]


def _command(spec: CommandSpec, use: _Use) -> app_commands.Command[Any, ..., None]:
    """One command. discord.py reads the options from the callback's signature."""

    async def callback(interaction: Interaction, **given: Any) -> None:  # noqa: ANN401
        await use(spec, interaction, given)

    first = inspect.Parameter(
        "interaction", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=discord.Interaction
    )
    signature = inspect.Signature([first, *(_parameter(option) for option in spec.options)])
    callback.__signature__ = signature  # type: ignore[attr-defined]
    app_commands.describe(**{o.name: _texts(o.descriptions) for o in spec.options})(callback)
    choices = {
        option.name: [app_commands.Choice(name=choice, value=choice) for choice in option.choices]
        for option in spec.options
        if option.choices
    }
    app_commands.choices(**choices)(callback)
    return app_commands.Command(
        name=spec.name, description=_texts(spec.descriptions), callback=callback
    )


def _parameter(option: CommandOption) -> inspect.Parameter:
    type_ = _TYPES[option.kind]
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        annotation=type_ if option.required else type_ | None,
        default=inspect.Parameter.empty if option.required else None,
    )


def _group(group: CommandGroup, first: CommandSpec) -> app_commands.Group:
    """The group, placed like its first command: Discord knows no places below it."""
    made = app_commands.Group(name=group.name, description=_texts(group.descriptions))
    _place(made, first)
    return made


def _place(
    command: app_commands.Command[Any, ..., None] | app_commands.Group, spec: CommandSpec
) -> None:
    """Where it is offered, and to whom it is shown; the command checks again."""
    command.allowed_contexts = app_commands.AppCommandContext(
        guild=spec.in_guild, dm_channel=spec.in_direct, private_channel=False
    )
    command.allowed_installs = app_commands.AppInstallationType(guild=True, user=False)
    if spec.admin_only:
        command.default_permissions = discord.Permissions(manage_guild=True)
