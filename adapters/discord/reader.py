"""Messages completed by what only Discord knows: a thread's parent, a member's roles.

Access is decided by these, so a message whose place stays unknown is not handed in at all.
"""

from collections.abc import Sequence

import discord
import structlog

from adapters.discord.translate import addressed, from_person, inbound
from bot.ports import Inbound

log = structlog.get_logger()


class MessageReader:
    """Reads messages for one connected client."""

    def __init__(self, client: discord.Client, *, bot: int, chatter: bool) -> None:
        self._client = client
        self._bot = bot
        self._chatter = chatter

    async def read(self, messages: Sequence[discord.Message]) -> list[Inbound]:
        """Those that concern us, in the order given.

        Raises:
            discord.DiscordException: Discord could not be asked now; nothing was read.
        """
        return await self._read([message for message in messages if self._concerns_us(message)])

    async def read_edit(self, message: discord.Message) -> list[Inbound]:
        """An edited message, also one that no longer speaks to us; empty if no person wrote it.

        Raises:
            discord.DiscordException: Discord could not be asked now; nothing was read.
        """
        return await self._read([message] if from_person(message) else [])

    async def _read(self, messages: Sequence[discord.Message]) -> list[Inbound]:
        found = []
        for message in messages:
            if not await self._completed(message):
                continue
            translated = inbound(message, bot=self._bot)
            if translated is not None:
                found.append(translated)
        return found

    def _concerns_us(self, message: discord.Message) -> bool:
        return from_person(message) and (self._chatter or addressed(message, bot=self._bot))

    async def _completed(self, message: discord.Message) -> bool:
        """Whether the place is known; on the way, the author becomes a member with roles."""
        if message.guild is None:
            return isinstance(message.channel, discord.DMChannel)
        try:
            if isinstance(message.channel, discord.PartialMessageable):
                channel = await self._client.fetch_channel(message.channel.id)
                message.channel = channel  # type: ignore[assignment]
            if isinstance(message.author, discord.User):
                await self._add_member(message, message.guild)
        except (discord.Forbidden, discord.NotFound) as exc:
            log.warning("discord.place_unknown", chat=str(message.channel.id), code=exc.code)
            return False
        return True

    @staticmethod
    async def _add_member(message: discord.Message, guild: discord.Guild) -> None:
        """History names authors without their roles (developer docs, "Message")."""
        try:
            message.author = await guild.fetch_member(message.author.id)
        except discord.NotFound:
            return  # left the server: no roles
