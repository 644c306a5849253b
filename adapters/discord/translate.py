"""Discord's messages in our own terms.

Pure: it asks nobody. What is not in the message (a thread's parent, a member's roles) was put
there before by the reader.
"""

import re
from collections.abc import Mapping

import discord

from adapters.discord.options import DISCORD
from bot.ports import Author, ChatKind, ChatRef, CommandCall, Inbound
from memory.language.text import clip, one_line, scrub
from memory.values import PersonId

NAME_CHARS = 80
TITLE_CHARS = 100

_EPOCH_MS = 1_420_070_400_000  # Discord developer docs, "Snowflakes"
_NS_PER_MS = 1_000_000
_TIME_SHIFT = 22

_HEARD = (discord.MessageType.default, discord.MessageType.reply)
_TOKEN = re.compile(
    r"<(?:(?P<kind>@[!&]?|#)(?P<id>\d{15,20})|a?(?P<emoji>:\w{2,32}:)\d{15,20}"
    r"|(?P<command>/[-\w ]{1,100}):\d{15,20})>"
)


def snowflake_ns(snowflake: int) -> int:
    """When an id was made, in UTC nanoseconds (exact to the millisecond)."""
    return ((snowflake >> _TIME_SHIFT) + _EPOCH_MS) * _NS_PER_MS


def snowflake_at(moment_ns: int) -> int:
    """The smallest id of a moment: everything later is greater."""
    return max(moment_ns // _NS_PER_MS - _EPOCH_MS, 0) << _TIME_SHIFT


def from_person(message: discord.Message) -> bool:
    """Whether a person wrote it: no bot, no webhook, no notice of a join, pin or boost.

    Two bots that answer each other never stop, so bots are not heard at all.
    """
    return not message.author.bot and message.webhook_id is None and message.type in _HEARD


def addressed(message: discord.Message, *, bot: int) -> bool:
    """Whether the bot is spoken to: a direct chat, a mention of it or its own role, or a reply."""
    if isinstance(message.channel, discord.DMChannel):
        return True
    return (
        any(user.id == bot for user in message.mentions)
        or any(_is_own_role(role, bot) for role in message.role_mentions)
        or _replies_to(message, bot)
    )


def inbound(message: discord.Message, *, bot: int) -> Inbound | None:
    """The message in our own terms, or None where nothing was said to anybody."""
    text = written(message, bot=bot)
    if not text:
        return None
    return Inbound(
        chat=place(message.channel, guild=message.guild, bot=bot),
        author=author(message.author),
        message=str(message.id),
        text=text,
        sent_at_ns=snowflake_ns(message.id),
        addressed=addressed(message, bot=bot),
        reply_to=_reply_to(message),
    )


def place(channel: discord.abc.Snowflake, *, guild: discord.Guild | None, bot: int) -> ChatRef:
    """Where a message was written. A thread or forum post knows the channel it belongs to."""
    parent = channel.parent_id if isinstance(channel, discord.Thread) else None
    return ChatRef(
        platform=DISCORD,
        bot=str(bot),
        chat=str(channel.id),
        kind=ChatKind.DIRECT if guild is None else ChatKind.GROUP,
        parent=None if parent is None else str(parent),
        guild=None if guild is None else str(guild.id),
        title=clip(one_line(scrub(_title(channel))), TITLE_CHARS),
    )


def deletion_place(channel: int, *, guild: int | None, bot: int) -> ChatRef:
    """The place of a deletion, as far as Discord says it."""
    return ChatRef(
        platform=DISCORD,
        bot=str(bot),
        chat=str(channel),
        kind=ChatKind.DIRECT if guild is None else ChatKind.GROUP,
        guild=None if guild is None else str(guild),
    )


def author(
    user: discord.User | discord.Member | discord.ClientUser, *, language: str | None = None
) -> Author:
    """Who it is, by the id that stays, with the roles of a member but the one that all have."""
    roles: tuple[str, ...] = ()
    if isinstance(user, discord.Member):
        roles = tuple(str(role.id) for role in user.roles if role.id != user.guild.id)
    return Author(
        person=PersonId(f"{DISCORD}:{user.id}"),
        name=clip(one_line(scrub(user.display_name)), NAME_CHARS) or str(user.id),
        roles=roles,
        language=language,
    )


def command_call(
    interaction: discord.Interaction, *, name: str, given: Mapping[str, object], bot: int
) -> CommandCall:
    """A use of a slash command; options that were left out are absent.

    Raises:
        ValueError: it was used in a place of a kind that did not exist yet.
    """
    if interaction.channel is None:
        raise ValueError("a command without a place")
    return CommandCall(
        chat=place(interaction.channel, guild=interaction.guild, bot=bot),
        author=author(interaction.user, language=interaction.locale.value),
        name=name,
        arguments={key: _argument(value) for key, value in given.items() if value is not None},
    )


def written(message: discord.Message, *, bot: int) -> str:
    """What was written: without the bot's own mention, other mentions as names, files by name.

    A forwarded message carries its text in a snapshot (Discord developer docs, "Message
    Snapshot"). A mention and nothing else stays a mention: somebody calls.
    """
    bodies = [message.content, *(snapshot.content for snapshot in message.message_snapshots)]
    names = _names(message)
    texts = [_readable(body, names, _own_tokens(message, bot)) for body in bodies]
    lines = [text for text in texts if text] + _things(message)
    return scrub("\n".join(lines)).strip() or _bare_call(message, bot)


def _bare_call(message: discord.Message, bot: int) -> str:
    own = _own_tokens(message, bot)
    called = any(found[0] in own for found in _TOKEN.finditer(message.content))
    names = [user.display_name for user in message.mentions if user.id == bot]
    return f"@{names[0] if names else 'bot'}" if called else ""


def _own_tokens(message: discord.Message, bot: int) -> frozenset[str]:
    roles = (role for role in message.role_mentions if _is_own_role(role, bot))
    return frozenset({f"<@{bot}>", f"<@!{bot}>", *(f"<@&{role.id}>" for role in roles)})


def _is_own_role(role: discord.Role, bot: int) -> bool:
    return role.tags is not None and role.tags.bot_id == bot


def _readable(body: str, names: Mapping[str, str], own: frozenset[str]) -> str:
    """The text as a person sees it, without the tokens that call the bot."""
    pattern = "|".join(re.escape(token) for token in own)
    without = re.sub(rf"(?P<before>[ \t]*)(?:{pattern})(?P<after>[ \t]*)", _gap, body)

    def spoken(found: re.Match[str]) -> str:
        if found["id"] is None:
            return str(found["emoji"] or found["command"])
        sign = found["kind"][0]
        return f"{sign}{names.get(sign + found['id'], 'unknown')}"

    return _TOKEN.sub(spoken, without).strip()


def _gap(found: re.Match[str]) -> str:
    """What stands where the bot's mention stood: one space between words, else nothing."""
    return " " if found["before"] and found["after"] else ""


def _names(message: discord.Message) -> dict[str, str]:
    """Names by sign and id: `@123` for people and roles, `#123` for channels."""
    people = {f"@{user.id}": user.display_name for user in message.mentions}
    roles = {f"@{role.id}": role.name for role in message.role_mentions}
    channels = {f"#{channel.id}": channel.name for channel in message.channel_mentions}
    return people | roles | channels


def _things(message: discord.Message) -> list[str]:
    """A line for each file and sticker, its forwarded ones included."""
    holders: list[discord.Message | discord.MessageSnapshot] = [message, *message.message_snapshots]
    files = [f"[file: {one_line(a.filename)}]" for holder in holders for a in holder.attachments]
    stickers = [f"[sticker: {one_line(s.name)}]" for holder in holders for s in holder.stickers]
    return files + stickers


def _replies_to(message: discord.Message, bot: int) -> bool:
    reference = message.reference
    return (
        message.type is discord.MessageType.reply
        and reference is not None
        and isinstance(reference.resolved, discord.Message)
        and reference.resolved.author.id == bot
    )


def _reply_to(message: discord.Message) -> str | None:
    reference = message.reference
    if message.type is not discord.MessageType.reply or reference is None:
        return None
    return None if reference.message_id is None else str(reference.message_id)


def _title(channel: object) -> str:
    if isinstance(channel, discord.DMChannel):
        return channel.recipient.display_name if channel.recipient else ""
    return str(getattr(channel, "name", None) or "")


def _argument(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return scrub(str(value))
