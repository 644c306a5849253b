from dataclasses import replace

from adapters.discord.options import DISCORD
from adapters.registry import MANIFESTS
from adapters.telegram.options import TELEGRAM
from bot.access.sessions import patterns_of, session_of
from bot.ports import CONSOLE, Author, ChatKind, ChatRef
from memory.values import PersonId

ANN = Author(person=PersonId("telegram:7"), name="Ann")
BO = Author(person=PersonId("telegram:8"), name="Bo")
GROUP = ChatRef(platform=TELEGRAM, bot="2", chat="-100", kind=ChatKind.GROUP)
PRIVATE = ChatRef(platform=TELEGRAM, bot="2", chat="7", kind=ChatKind.DIRECT)
CHANNEL = ChatRef(
    platform=DISCORD, bot="1", chat="55", kind=ChatKind.GROUP, guild="9", title="general"
)


def in_session(chat, author, **more):
    return session_of(MANIFESTS.platforms[chat.platform], chat, author, **more)


def test_ids_can_be_read():
    assert in_session(PRIVATE, ANN) == "tg-2-7"
    assert in_session(GROUP, ANN) == "tg-2--100"
    assert in_session(replace(GROUP, topic="5"), ANN) == "tg-2--100-5"
    assert in_session(CHANNEL, ANN) == "dc-1-55"
    console = replace(PRIVATE, platform=CONSOLE, chat="home")
    assert in_session(console, ANN) == "cli-home"


def test_a_discord_direct_chat_is_the_persons_whatever_channel_carries_it():
    one = replace(CHANNEL, kind=ChatKind.DIRECT, chat="900", guild=None)

    assert in_session(one, ANN) == in_session(replace(one, chat="901"), ANN) == "dc-1-u7"


def test_people_in_a_group_share_its_session_unless_each_has_their_own():
    assert in_session(GROUP, ANN) == in_session(GROUP, BO)
    assert in_session(GROUP, ANN, own=True) != in_session(GROUP, BO, own=True)


def test_places_bots_and_topics_never_share_a_session():
    chats = [
        GROUP,
        PRIVATE,
        CHANNEL,
        replace(GROUP, topic="5"),
        replace(GROUP, topic="6"),
        replace(GROUP, bot="3"),
        replace(CHANNEL, chat="56", parent="55"),
        replace(CHANNEL, kind=ChatKind.DIRECT),
    ]

    sessions = {in_session(chat, ANN, own=own) for chat in chats for own in (False, True)}

    assert len(sessions) == len(chats) + 6  # direct chats have one session either way


def test_a_new_title_or_name_changes_nothing():
    renamed = replace(ANN, name="Anna")

    assert in_session(replace(CHANNEL, title="x"), renamed) == in_session(CHANNEL, ANN)


def test_a_place_has_its_own_sessions_and_those_of_single_people_there():
    direct = replace(CHANNEL, kind=ChatKind.DIRECT)

    assert patterns_of(MANIFESTS.platforms[TELEGRAM], GROUP) == ("tg-2--100", "tg-2--100-*")
    assert patterns_of(MANIFESTS.platforms[DISCORD], direct) == ("dc-1-u*",)
