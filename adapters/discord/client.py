"""discord.py's client as this bot uses it: which events it wants, and where they go."""

import asyncio
import logging
import sys
from collections.abc import Callable, Sequence

import discord
import structlog

from adapters.discord.inlet import DeletedMessages, EditedMessage, Inlet
from adapters.discord.options import DiscordOptions

log = structlog.get_logger()


def quiet_mentions() -> discord.AllowedMentions:
    """A reply notifies the person it answers, and nobody else, whatever the text says."""
    return discord.AllowedMentions(everyone=False, users=False, roles=False, replied_user=True)


class Client(discord.Client):
    """One connection's worth of client; `inlet` is set after login, before the gateway."""

    inlet: Inlet

    def __init__(self, options: DiscordOptions, ready: Callable[[], None]) -> None:
        # The library logs whole events, text included, below this level.
        logging.getLogger("discord").setLevel(logging.WARNING)
        # It would warn that voice, which this bot has no use for, is not installed.
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False
        super().__init__(
            intents=discord.Intents(guilds=True, messages=True, message_content=True),
            allowed_mentions=quiet_mentions(),
            # No copy of what people wrote stays in memory.
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            guild_ready_timeout=options.guild_ready_timeout_s,
            heartbeat_timeout=options.heartbeat_timeout_s,
            max_ratelimit_timeout=options.rate_limit_wait_s,
        )
        self._identify_pause_s = options.identify_pause_s
        self._let_in = ready

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Keep the pause that Discord wants between two sessions."""
        del shard_id
        if not initial:
            await asyncio.sleep(self._identify_pause_s)

    async def on_connect(self) -> None:
        """A new session: comes before any of its messages."""
        self.inlet.session_began()

    async def on_ready(self) -> None:
        """A new session's servers are known. Comes again with each new session."""
        log.info("discord.session_ready", guilds=len(self.guilds))
        self.inlet.session_listed()
        self._let_in()

    async def on_resumed(self) -> None:
        """The old session goes on; Discord has replayed what was missed."""
        log.info("discord.session_resumed")
        self._let_in()

    async def on_disconnect(self) -> None:
        """The gateway is gone; the library connects again by itself."""
        log.info("discord.gateway_lost")

    async def on_message(self, message: discord.Message) -> None:
        """A message that the gateway brought."""
        await self.inlet.enqueue(message)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """A person changed a message; previews that Discord adds to one are no change of words."""
        if payload.message.edited_at is not None:
            await self.inlet.enqueue(EditedMessage(message=payload.message))

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        """A message was deleted."""
        await self.inlet.enqueue(_deleted(payload, [payload.message_id]))

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        """A moderator deleted many messages at once."""
        await self.inlet.enqueue(_deleted(payload, sorted(payload.message_ids)))

    async def on_error(self, event_method: str, /, *args: object, **kwargs: object) -> None:
        """A handler failed: the library would print the event, text and all."""
        del args, kwargs
        kind = sys.exc_info()[0]
        log.error("discord.handler_failed", handler=event_method, error=kind and kind.__name__)


def _deleted(
    payload: discord.RawMessageDeleteEvent | discord.RawBulkMessageDeleteEvent,
    messages: Sequence[int],
) -> DeletedMessages:
    return DeletedMessages(
        channel=payload.channel_id,
        guild=payload.guild_id,
        messages=tuple(str(message) for message in messages),
    )
