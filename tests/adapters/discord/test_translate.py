"""Discord's messages in the stack's words, from payloads alone: no client is connected."""

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord.translate import (
    addressed,
    from_person,
    inbound,
    snowflake_at,
    snowflake_ns,
    written,
)
from bot.ports import ChatKind
from tests.wire.discord_world import PUBLIC_THREAD, Channel, Guild, User, World


class Scene:
    """A guild with one channel and one person, whose payloads become the library's objects."""

    def __init__(self):
        self.kith = User(name="Kith", bot=True)
        self.mia = User(name="Mia")
        self.world = World(self.kith, users={u.id: u for u in (self.kith, self.mia)})
        self.garden = Guild(name="Garden", bot=self.kith)
        self.world.guilds[self.garden.id] = self.garden
        self.general = self.world.add(Channel(name="general", guild=self.garden))
        client = discord.Client(intents=discord.Intents(guilds=True), max_messages=None)
        self.state = client._connection
        self.state.user = discord.ClientUser(state=self.state, data=self.kith.payload())
        self.bot = int(self.kith.id)

    def message(self, text, *, channel=None, author=None, **fields):
        channel = channel or self.general
        stored = self.world.message(channel, author or self.mia, text, **fields)
        payload = self.world.event(stored)
        if channel.guild is None:
            place = discord.DMChannel._from_message(self.state, int(channel.id))
            return discord.Message(state=self.state, channel=place, data=payload)
        guild = discord.Guild(state=self.state, data=channel.guild.payload())
        self.state._add_guild(guild)
        place = guild.get_channel_or_thread(int(channel.id))
        return discord.Message(state=self.state, channel=place, data=payload)

    def read(self, text, **fields):
        return written(self.message(text, **fields), bot=self.bot)


@pytest.fixture
def scene():
    return Scene()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<@{bot}> 早安", "早安"),
        ("<@!{bot}> hello", "hello"),
        ("<@&{role}> hello", "hello"),
        ("hello <@{bot}>", "hello"),
        ("你好<@{bot}>嗎", "你好嗎"),
        ("is <@{bot}> there?", "is there?"),
        ("<@{bot}>\n  indented\n  twice", "indented\n  twice"),
        ("a  b   c", "a  b   c"),
        ("<@{mia}> wrote", "@Mia wrote"),
        ("<@999999999999999999> wrote", "@unknown wrote"),
        ("see <#{general}>", "see #general"),
        ("<:rose:123456789012345678> <a:sun:123456789012345678>", ":rose: :sun:"),
        ("use </admin reset:123456789012345678>", "use /admin reset"),
        ("1 < 2 and <b>", "1 < 2 and <b>"),
        ("lone \ud83d surrogate", "lone \ufffd surrogate"),
        ("bell\x07 and\r\nline", "bell and\nline"),
    ],
)
def test_text_is_what_a_person_sees_without_the_call(scene, text, expected):
    ids = {
        "bot": scene.kith.id,
        "mia": scene.mia.id,
        "role": scene.garden.bot_role,
        "general": scene.general.id,
    }

    assert scene.read(text.format(**ids)) == expected


def test_a_bare_mention_stays_a_call(scene):
    assert scene.read(f"<@{scene.kith.id}>") == "@Kith"


def test_nothing_said_is_nothing_handed_in(scene):
    assert inbound(scene.message("   "), bot=scene.bot) is None


def test_files_and_stickers_are_named(scene):
    file = {"id": "1", "filename": "rose.png", "size": 1, "url": "", "proxy_url": ""}
    sticker = {"id": "2", "name": "Wave", "format_type": 1}

    text = scene.read("look", attachments=[file], sticker_items=[sticker])

    assert text == "look\n[file: rose.png]\n[sticker: Wave]"


def test_a_forwarded_message_gives_its_text(scene):
    snapshot = {
        "type": 0,
        "content": "轉寄的內容",
        "embeds": [],
        "attachments": [],
        "timestamp": "2026-01-02T03:04:05+00:00",
        "edited_timestamp": None,
        "flags": 0,
        "mentions": [],
    }

    forwarded = scene.message(
        "",
        message_snapshots=[{"message": snapshot}],
        message_reference={"type": 1, "message_id": "5", "channel_id": "6"},
    )

    assert written(forwarded, bot=scene.bot) == "轉寄的內容"
    assert inbound(forwarded, bot=scene.bot).reply_to is None


def test_a_mention_of_another_bot_with_a_longer_id_is_no_call(scene):
    message = scene.message(f"<@{scene.kith.id}9> hello")

    assert not addressed(message, bot=scene.bot)


def test_a_mention_in_code_is_no_call_where_discord_saw_none(scene):
    message = scene.message(f"`<@{scene.kith.id}>`", mentions=[])

    assert not addressed(message, bot=scene.bot)


def test_everyone_is_not_the_bot(scene):
    assert not addressed(scene.message("@everyone", mention_everyone=True), bot=scene.bot)


def test_a_reply_that_turned_the_mention_off_is_still_addressed(scene):
    ours = scene.world.message(scene.general, scene.kith, "It rains.")
    reference = {"message_id": ours["id"], "channel_id": scene.general.id}

    message = scene.message(
        "really?", type=19, message_reference=reference, referenced_message=ours
    )

    assert addressed(message, bot=scene.bot)
    assert inbound(message, bot=scene.bot).reply_to == ours["id"]


def test_a_reply_to_a_deleted_message_is_not_addressed(scene):
    reference = {"message_id": "5", "channel_id": scene.general.id}

    message = scene.message(
        "really?", type=19, message_reference=reference, referenced_message=None
    )

    assert not addressed(message, bot=scene.bot)


@pytest.mark.parametrize("kind", [6, 7, 8, 18, 21, 46])
def test_notices_are_from_nobody(scene, kind):
    assert not from_person(scene.message("notice", type=kind))


def test_a_direct_chat_has_no_guild(scene):
    direct = scene.world.direct(scene.mia)

    found = inbound(scene.message("hi", channel=direct), bot=scene.bot)

    assert (found.chat.kind, found.chat.guild, found.chat.chat) == (
        ChatKind.DIRECT,
        None,
        direct.id,
    )
    assert found.addressed


def test_a_thread_names_its_parent_and_itself(scene):
    thread = scene.world.add(
        Channel(name="玫瑰", type=PUBLIC_THREAD, guild=scene.garden, parent=scene.general)
    )

    found = inbound(scene.message("hi", channel=thread), bot=scene.bot)

    assert (found.chat.chat, found.chat.parent) == (thread.id, scene.general.id)
    assert (found.chat.title, found.chat.guild) == ("玫瑰", scene.garden.id)


def test_the_name_is_the_one_shown_in_this_server(scene):
    scene.mia.nick = "小 美\n!"

    found = inbound(scene.message("hi"), bot=scene.bot)

    assert found.author.name == "小 美 !"
    assert found.author.person == f"discord:{scene.mia.id}"


def test_roles_are_a_members_own_without_the_one_that_all_have(scene):
    role = scene.garden.role("gardener")
    scene.garden.members[scene.mia.id] = (role,)

    assert inbound(scene.message("hi"), bot=scene.bot).author.roles == (role,)


@given(st.integers(min_value=1_420_070_400_000, max_value=4_000_000_000_000))
def test_an_id_and_its_moment_agree_to_the_millisecond(ms):
    assert snowflake_ns(snowflake_at(ms * 1_000_000)) == ms * 1_000_000


def test_a_moment_before_discord_is_the_smallest_id():
    assert snowflake_at(0) == 0
