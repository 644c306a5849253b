"""The loopback Discord against the real client library, with nothing of ours in between."""

import asyncio
from contextlib import asynccontextmanager

import discord
import pytest
import yarl
from discord.gateway import DiscordWebSocket

from tests.wire.discord_server import discord_server


@pytest.fixture
async def server(monkeypatch):
    async with discord_server() as server:
        monkeypatch.setattr(discord.http.Route, "BASE", server.api_url)
        monkeypatch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(server.gateway_url))
        yield server


class Listener(discord.Client):
    """The library's client, remembering what it was told."""

    def __init__(self, **options):
        intents = options.pop("intents", None) or discord.Intents(
            guilds=True, messages=True, message_content=True
        )
        super().__init__(intents=intents, guild_ready_timeout=0.05, **options)
        self.heard = asyncio.Queue()
        self.changes = asyncio.Queue()

    async def before_identify_hook(self, shard_id, *, initial=False):
        """No pause between two identifies."""

    async def on_message(self, message):
        await self.heard.put(message)

    async def on_ready(self):
        await self.changes.put("ready")

    async def on_resumed(self):
        await self.changes.put("resumed")

    async def on_raw_message_edit(self, payload):
        await self.changes.put(payload.data["content"])

    async def on_raw_message_delete(self, payload):
        await self.changes.put(str(payload.message_id))

    async def on_raw_bulk_message_delete(self, payload):
        await self.changes.put(sorted(map(str, payload.message_ids)))

    async def hear(self):
        async with asyncio.timeout(5):
            return await self.heard.get()

    async def change(self):
        async with asyncio.timeout(5):
            return await self.changes.get()


@asynccontextmanager
async def online(server, **options):
    async with asyncio.TaskGroup() as tasks, Listener(**options) as client:
        running = tasks.create_task(client.start(server.token))
        assert await client.change() == "ready"
        yield client
        await client.close()
        await running


async def test_a_message_in_a_channel_arrives_with_guild_and_member(server):
    mia = server.user("Mia", nick="Mimi")
    garden = server.guild("Garden")
    role = garden.role("gardener")
    server.join(garden, mia, roles=[role])

    async with online(server) as client:
        server.say(garden.channel("general"), mia, "早安", mentions=[server.bot])
        message = await client.hear()

    assert message.content == f"{server.bot.mention} 早安"
    assert message.guild.name == "Garden"
    assert message.author.display_name == "Mimi"
    assert role in [str(r.id) for r in message.author.roles]
    assert message.mentions == [client.user] or message.mentions[0].id == int(server.bot.id)


async def test_threads_and_forum_posts_know_their_parent(server):
    mia, garden = server.user("Mia"), server.guild("Garden")
    forum = server.forum(garden, "questions")

    async with online(server) as client:
        thread, _ = server.post(forum, "When to sow?", mia, "hello")
        message = await client.hear()

    assert isinstance(message.channel, discord.Thread)
    assert str(message.channel.parent_id) == forum.id
    assert str(message.id) == thread.id


async def test_without_the_content_intent_only_what_is_meant_for_the_bot_is_readable(server):
    mia, garden = server.user("Mia"), server.guild("Garden")
    intents = discord.Intents(guilds=True, messages=True)

    async with online(server, intents=intents) as client:
        server.say(garden.channel("general"), mia, "between us")
        server.say(garden.channel("general"), mia, "for you", mentions=[server.bot])
        server.dm(mia, "privately")
        heard = [(await client.hear()).content for _ in range(3)]

    assert heard == ["", f"{server.bot.mention} for you", "privately"]


async def test_a_killed_socket_is_resumed_and_what_was_missed_is_replayed(server):
    mia, garden = server.user("Mia"), server.guild("Garden")

    async with online(server) as client:
        server.gateway.kill()
        server.say(garden.channel("general"), mia, "while you were gone")

        assert (await client.hear()).content == "while you were gone"
        assert await client.change() == "resumed"

    assert (server.gateway.identifies, server.gateway.resumes) == (1, 1)


async def test_a_rewound_resume_delivers_a_message_twice(server):
    mia, garden = server.user("Mia"), server.guild("Garden")

    async with online(server) as client:
        server.say(garden.channel("general"), mia, "once")
        first = await client.hear()
        server.gateway.rewind = 1
        server.gateway.close(4000)
        second = await client.hear()

    assert first.id == second.id


async def test_an_invalid_session_makes_the_client_identify_again(server):
    async with online(server) as client:
        server.gateway.refuse_resume = True
        server.gateway.kill()

        assert await client.change() == "ready"

    assert server.gateway.identifies == 2


async def test_a_silent_gateway_is_left_and_resumed(server):
    server.gateway.heartbeat_ms = 100

    async with online(server, heartbeat_timeout=0.5) as client:
        server.gateway.silent = True
        assert await client.change() == "resumed"
        server.gateway.silent = False

    assert server.gateway.heartbeats > 1


async def test_edits_and_deletes_are_told(server):
    mia, garden = server.user("Mia"), server.guild("Garden")
    general = garden.channel("general")

    async with online(server) as client:
        one, two, three = (server.say(general, mia, text) for text in "abc")
        server.edit(one, "A")
        server.delete(one)
        server.delete(two, three)

        assert await client.change() == "A"
        assert await client.change() == one["id"]
        assert await client.change() == sorted([two["id"], three["id"]])


async def test_history_pages_after_a_message(server):
    mia, garden = server.user("Mia"), server.guild("Garden")
    general = garden.channel("general")
    first = server.say(general, mia, "0", age_s=60)
    for number in range(1, 131):
        server.say(general, mia, str(number))

    async with online(server) as client:
        channel = client.get_channel(int(general.id))
        after = discord.Object(int(first["id"]))
        texts = [m.content async for m in channel.history(after=after, limit=None)]

    assert texts == [str(number) for number in range(1, 131)]


async def test_a_text_over_the_limit_is_refused_like_the_real_one(server):
    garden = server.guild("Garden")

    async with online(server) as client:
        channel = client.get_channel(int(garden.channel("general").id))
        await channel.send("字" * 2000)
        with pytest.raises(discord.HTTPException) as refused:
            await channel.send("字" * 2001)

    assert (refused.value.status, refused.value.code) == (400, 50035)


async def test_the_same_nonce_sends_one_message(server):
    garden = server.guild("Garden")

    async with online(server) as client:
        channel = client.get_channel(int(garden.channel("general").id))
        first = await channel.send("hello", nonce="row-1")
        again = await channel.send("hello", nonce="row-1")
        other = await channel.send("hello", nonce="row-2")

    assert first.id == again.id != other.id
    assert len(server.posted(garden.channel("general"))) == 2


async def test_a_429_is_waited_out_by_the_client(server):
    garden = server.guild("Garden")
    server.rest.limit("POST", "/messages$", retry_after_s=0.2)

    async with online(server) as client:
        await client.get_channel(int(garden.channel("general").id)).send("hello")

    first, second = [r for r in server.rest.requests if r.path.endswith("/messages")]
    assert second.at_s - first.at_s >= 0.2


async def test_the_bucket_of_a_channel_is_limited_by_its_headers(server):
    garden = server.guild("Garden")
    server.rest.bucket = (2, 0.3)

    async with online(server) as client:
        channel = client.get_channel(int(garden.channel("general").id))
        for number in range(4):
            await channel.send(str(number))

    sends = [r.at_s for r in server.rest.requests if r.path.endswith("/messages")]
    assert sends[2] - sends[0] >= 0.25


async def test_a_socket_cut_after_the_work_leaves_the_message_there(server):
    garden = server.guild("Garden")
    server.rest.drop("POST", "/messages$", late=True)

    async with online(server) as client:
        with pytest.raises(discord.client.aiohttp.ClientError):
            await client.get_channel(int(garden.channel("general").id)).send("hello")

    assert len(server.posted(garden.channel("general"))) == 1


async def test_everyone_is_notified_unless_the_message_forbids_it(server):
    garden = server.guild("Garden")
    general = garden.channel("general")

    async with online(server) as client:
        channel = client.get_channel(int(general.id))
        await channel.send("@everyone")
        await channel.send("@everyone", allowed_mentions=discord.AllowedMentions.none())

    assert [m["pings"] for m in server.posted(general)] == [["everyone"], []]


async def test_a_bad_token_is_refused(server):
    async with Listener() as client:
        with pytest.raises(discord.LoginFailure):
            await client.start("wrong")


async def test_a_missing_privileged_intent_closes_the_gateway(server):
    server.gateway.content_allowed = False

    async with Listener() as client:
        with pytest.raises(discord.PrivilegedIntentsRequired):
            await client.start(server.token)


async def test_an_interaction_is_answered_once_and_followed_up(server):
    mia, garden = server.user("Mia"), server.guild("Garden")

    async with online(server) as client:
        tree = discord.app_commands.CommandTree(client)

        @tree.command(description="Say hello")
        async def hello(interaction: discord.Interaction, name: str):
            await interaction.response.defer(ephemeral=True)
            await interaction.followup.send(f"hello {name}")
            await interaction.followup.send("again")

        await tree.sync()
        used = server.interaction(mia, "hello", {"name": "小美"}, channel=garden.channel("general"))

        assert await used.texts(2) == ["hello 小美", "again"]

    assert used.callback["type"] == 5
    assert used.ephemeral
    assert server.rest.count("PUT", "/commands$") == 1
    assert [c["name"] for c in server.rest.commands] == ["hello"]
