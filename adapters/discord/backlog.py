"""What was written while the bot was away, read back from Discord.

The gateway replays nothing to a new session, so each channel's history is read after the last
message that was taken in. It writes nothing.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass

import discord
import structlog

from adapters.discord.errors import FOREIGN
from adapters.discord.options import DiscordOptions

log = structlog.get_logger()

_AT_ONCE = 4
"""Channels read at the same time: Discord's global limit is 50 requests a second."""


_OVERLAP = 10_000 << 22
"""10 s, as a difference of message ids (developer docs, "Snowflakes")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A channel that may hold messages which were not taken in."""

    channel: int
    after: int
    """Message id: everything later counts as missed."""


def gaps(client: discord.Client, taken: Mapping[int, int], *, oldest: int, limit: int) -> list[Gap]:
    """Channels to read, the latest active first, at most `limit`.

    `taken` is the last message taken in by channel id. A channel of a server that has none is
    read from the latest of all: before that we were there, and nobody addressed us in it. Each
    is read from a little earlier, since events can overtake each other; the intake takes a
    message once. `oldest` is the message id below which nothing is read. Channels in which Discord names a last
    message that we know are left out; direct chats are not listed by Discord, so all are read.
    """
    last_written = dict(_last_messages(client))
    latest = max(taken.values(), default=None)
    found = {
        channel: Gap(channel=channel, after=max(after - _OVERLAP, oldest))
        for channel, after in taken.items()
        if channel not in last_written or last_written[channel] > max(after, oldest)
    }
    if latest is not None:
        start = max(latest - _OVERLAP, oldest)
        for channel, last in last_written.items():
            if channel not in taken and last > start:
                found[channel] = Gap(channel=channel, after=start)
    order = sorted(found.values(), key=lambda gap: last_written.get(gap.channel, gap.after))
    return order[::-1][:limit]


def _last_messages(client: discord.Client) -> Iterator[tuple[int, int]]:
    for guild in client.guilds:
        channels: list[discord.TextChannel | discord.VoiceChannel | discord.Thread]
        channels = [*guild.text_channels, *guild.voice_channels, *guild.threads]
        for channel in channels:
            if channel.last_message_id is not None:
                yield channel.id, channel.last_message_id


async def missed(
    client: discord.Client, found: list[Gap], options: DiscordOptions
) -> AsyncIterator[list[discord.Message]]:
    """The missed messages of one channel after the other, each oldest first; empty ones are left out."""
    for start in range(0, len(found), _AT_ONCE):
        chunk = found[start : start + _AT_ONCE]
        async with asyncio.TaskGroup() as tasks:
            reads = [tasks.create_task(_read(client, gap, options)) for gap in chunk]
        for read in reads:
            if read.result():
                yield read.result()


async def _read(client: discord.Client, gap: Gap, options: DiscordOptions) -> list[discord.Message]:
    """Newest first until the known one, so that a cap loses the oldest. Unreadable: nothing."""
    messages: list[discord.Message] = []
    try:
        channel = client.get_channel(gap.channel) or await client.fetch_channel(gap.channel)
        if not isinstance(channel, discord.abc.Messageable):
            return []
        async for message in channel.history(limit=options.catch_up_limit):
            if message.id <= gap.after:
                return messages[::-1]
            messages.append(message)
    except FOREIGN as exc:
        log.warning("discord.backlog_unreadable", chat=str(gap.channel), error=type(exc).__name__)
        return messages[::-1]
    if len(messages) >= options.catch_up_limit:
        log.warning("discord.backlog_cut", chat=str(gap.channel), kept=len(messages))
    return messages[::-1]
