"""A Discord on loopback that the real client library talks to, and that a test scripts in a line.

    async with discord_server() as server:
        garden = server.guild("Garden", channels=["general"])
        mia = server.user("Mia")
        server.say(garden.channel("general"), mia, "hello", mentions=[server.bot])
        [reply] = await server.sent(garden.channel("general"), 1)

Point a client at `server.api_url` and `server.gateway_url`; its token is `server.token`.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.wire.discord_gateway import Gateway
from tests.wire.discord_interactions import Interaction, Interactions
from tests.wire.discord_rest import Rest
from tests.wire.discord_world import (
    FORUM,
    PUBLIC_THREAD,
    REPLY,
    Channel,
    Guild,
    Payload,
    User,
    World,
    snowflake,
)

TOKEN = "bot-token-of-the-loopback-discord"


class DiscordServer:
    """The scripting face: people and places, what people do, what goes wrong, what came back."""

    def __init__(self, *, token: str = TOKEN, bot_name: str = "Kith") -> None:
        self.token = token
        self.bot = User(name=bot_name, bot=True)
        self.world = World(self.bot, users={self.bot.id: self.bot})
        self.gateway = Gateway(self.world, token=token)
        self.rest = Rest(self.world, token=token)
        self.interactions = Interactions(self.world, self.rest)
        self.api_url = ""
        self.gateway_url = ""
        self._changed = asyncio.Event()
        self.rest.application_flags = lambda: self.gateway.application_flags
        self.rest.on_sent = self._on_sent
        self.rest.on_edited = lambda message: self.gateway.deliver(message, "MESSAGE_UPDATE")

    def _on_sent(self, message: Payload) -> None:
        self._changed.set()
        self.gateway.deliver(message)

    def application(self) -> web.Application:
        """To be served; then call `served_at`."""
        api = web.Application()
        api.add_routes([*self.rest.routes(), *self.interactions.routes()])
        root = web.Application(middlewares=[self.rest.gate])
        root.router.add_get("/gateway", self.gateway.handle)
        root.router.add_get("/gateway/", self.gateway.handle)
        root.add_subapp("/api/v10", api)
        return root

    def served_at(self, port: int) -> None:
        self.api_url = f"http://127.0.0.1:{port}/api/v10"
        self.gateway_url = f"ws://127.0.0.1:{port}/gateway"
        self.gateway.url = self.rest.gateway_url = self.gateway_url

    # --- people and places

    def user(self, name: str, **fields: Any) -> User:
        user = User(name=name, **fields)
        self.world.users[user.id] = user
        return user

    def guild(
        self, name: str, *, channels: Sequence[str] = ("general",), members: Sequence[User] = ()
    ) -> Guild:
        guild = Guild(name=name, bot=self.bot)
        self.world.guilds[guild.id] = guild
        for channel in channels:
            self.world.add(Channel(name=channel, guild=guild))
        for member in members:
            self.join(guild, member)
        self.gateway.dispatch("GUILD_CREATE", guild.payload())
        return guild

    def join(self, guild: Guild, user: User, *, roles: Sequence[str] = ()) -> None:
        """Make a user a member, with role ids."""
        guild.members[user.id] = tuple(roles)

    def channel(self, guild: Guild, name: str, **fields: Any) -> Channel:
        channel = self.world.add(Channel(name=name, guild=guild, **fields))
        self.gateway.dispatch("CHANNEL_CREATE", channel.payload())
        return channel

    def forum(self, guild: Guild, name: str) -> Channel:
        return self.channel(guild, name, type=FORUM)

    def thread(self, parent: Channel, name: str, **fields: Any) -> Channel:
        thread = self.world.add(
            Channel(name=name, type=PUBLIC_THREAD, guild=parent.guild, parent=parent, **fields)
        )
        self.gateway.dispatch("THREAD_CREATE", thread.payload() | {"newly_created": True})
        return thread

    # --- what people do

    def say(
        self,
        channel: Channel,
        user: User,
        text: str,
        *,
        mentions: Sequence[User] = (),
        reply_to: Payload | None = None,
        age_s: float = 0.0,
        **fields: Any,
    ) -> Payload:
        """Write a message; whom it mentions is put in front of the text."""
        missing = [who.mention for who in mentions if who.mention not in text]
        if channel.guild is not None:
            channel.guild.members.setdefault(user.id, ())
        if reply_to is not None:
            fields = {
                "type": REPLY,
                "message_reference": {"message_id": reply_to["id"], "channel_id": channel.id},
                "referenced_message": self.world.find(channel, reply_to["id"]),
            } | fields
        whole = " ".join([*missing, text])
        message = self.world.message(channel, user, whole, id_=snowflake(age_s), **fields)
        self.gateway.deliver(message)
        return message

    def dm(self, user: User, text: str, **fields: Any) -> Payload:
        return self.say(self.world.direct(user), user, text, **fields)

    def post(
        self, forum: Channel, title: str, user: User, text: str, *, mentions: Sequence[User] = ()
    ) -> tuple[Channel, Payload]:
        """Open a forum post: a thread whose first message has the thread's id."""
        thread = self.thread(forum, title)
        missing = [who.mention for who in mentions if who.mention not in text]
        forum.guild.members.setdefault(user.id, ())
        message = self.world.message(thread, user, " ".join([*missing, text]), id_=thread.id)
        self.gateway.deliver(message)
        return thread, message

    def edit(self, message: Payload, text: str) -> None:
        message |= {"content": text, "edited_timestamp": "2026-01-02T03:04:05.000000+00:00"}
        self.gateway.deliver(message, "MESSAGE_UPDATE")

    def delete(self, *messages: Payload) -> None:
        """Delete one message, or several of one channel at once."""
        channel = self.world.channels[messages[0]["channel_id"]]
        ids = [message["id"] for message in messages]
        channel.messages[:] = [m for m in channel.messages if m["id"] not in ids]
        place = {"channel_id": channel.id} | (
            {"guild_id": channel.guild.id} if channel.guild else {}
        )
        if len(ids) == 1:
            self.gateway.dispatch("MESSAGE_DELETE", {"id": ids[0]} | place)
        else:
            self.gateway.dispatch("MESSAGE_DELETE_BULK", {"ids": ids} | place)

    def interaction(
        self,
        user: User,
        command: str,
        options: dict[str, Any] | None = None,
        *,
        channel: Channel | None = None,
        language: str = "en-US",
    ) -> Interaction:
        """Use a slash command, in a channel or (None) in the DM."""
        place = channel or self.world.direct(user)
        made = self.interactions.make(place, user, command, options or {}, language)
        self.gateway.dispatch("INTERACTION_CREATE", made.payload)
        return made

    # --- what goes wrong

    def redeliver(self, message: Payload) -> None:
        """Send the event of a message once more."""
        self.gateway.deliver(message)

    def malformed(self, channel: Channel) -> None:
        """Send a message event that lacks what every message has."""
        self.gateway.dispatch("MESSAGE_CREATE", {"channel_id": channel.id, "id": snowflake()})

    # --- what came back

    def posted(self, channel: Channel) -> list[Payload]:
        """The bot's messages in a channel, in order; each with `pings`, whom it notified."""
        return [m for m in channel.messages if m["author"]["id"] == self.bot.id]

    async def sent(self, channel: Channel, n: int = 1, *, timeout_s: float = 10.0) -> list[Payload]:
        """The bot's messages in a channel, as soon as there are `n`."""
        async with asyncio.timeout(timeout_s):
            while len(self.posted(channel)) < n:
                self._changed.clear()
                await self._changed.wait()
        return self.posted(channel)

    async def connected(self, *, timeout_s: float = 10.0) -> None:
        """Wait until a client has identified or resumed."""
        async with asyncio.timeout(timeout_s):
            while not self.gateway.connected:
                self.gateway.arrived.clear()
                await self.gateway.arrived.wait()


@asynccontextmanager
async def discord_server(**options: Any) -> AsyncIterator[DiscordServer]:
    """A server on a free port of loopback, closed at the end."""
    server = DiscordServer(**options)
    runner = web.AppRunner(server.application(), shutdown_timeout=0.2, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.served_at(runner.addresses[0][1])
    try:
        yield server
    finally:
        server.gateway.kill()
        await runner.cleanup()
