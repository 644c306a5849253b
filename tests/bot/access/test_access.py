from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord.options import DISCORD
from adapters.telegram.options import TELEGRAM
from bot.access.access import Access
from bot.config.access_settings import AccessSettings, IdLists
from bot.ports import Author, ChatKind, ChatRef
from memory.values import Mode, PersonId

DM = ChatRef(platform=DISCORD, bot="1", chat="d7", kind=ChatKind.DIRECT)
CHANNEL = ChatRef(
    platform=DISCORD, bot="1", chat="c1", kind=ChatKind.GROUP, guild="g1", title="general"
)
THREAD = replace(CHANNEL, chat="t1", parent="c1")
GROUP = ChatRef(platform=TELEGRAM, bot="2", chat="-100", kind=ChatKind.GROUP)
TOPIC = replace(GROUP, topic="5")
PRIVATE = ChatRef(platform=TELEGRAM, bot="2", chat="7", kind=ChatKind.DIRECT)
PLACES = {
    "dm": DM,
    "channel": CHANNEL,
    "thread": THREAD,
    "group": GROUP,
    "topic": TOPIC,
    "private": PRIVATE,
}


def author(chat, *, user="7", roles=("r1",)):
    guild_roles = roles if chat.guild else ()
    return Author(person=PersonId(f"{chat.platform}:{user}"), name="Ann", roles=guild_roles)


def decide(chat, settings, **kwargs):
    return Access({chat.platform: settings}).decide(chat, author(chat), **kwargs)


def allowed_places(settings):
    return {name for name, chat in PLACES.items() if decide(chat, settings).allowed}


EVERYWHERE = set(PLACES)
GROUPS = {"channel", "thread", "group", "topic"}


@pytest.mark.parametrize(
    ("allow", "where"),
    [
        (IdLists(), set()),
        (IdLists(users=("7",)), EVERYWHERE),
        (IdLists(users=("8",)), set()),
        (IdLists(users=("telegram:7",)), {"group", "topic", "private"}),
        (IdLists(users=("discord:7",)), {"dm", "channel", "thread"}),
        (IdLists(users=("*",)), EVERYWHERE),
        (IdLists(guilds=("g1",)), {"channel", "thread"}),
        (IdLists(guilds=("g2",)), set()),
        (IdLists(guilds=("*",)), {"channel", "thread"}),
        (IdLists(channels=("c1",)), {"channel", "thread"}),
        (IdLists(channels=("t1",)), {"thread"}),
        (IdLists(channels=("*",)), GROUPS),
        (IdLists(chats=("-100",)), {"group", "topic"}),
        (IdLists(channels=("-100",)), {"group", "topic"}),
        (IdLists(chats=("7", "d7")), set()),  # a place's rule never opens a direct chat
        (IdLists(chats=("*",)), GROUPS),
        (IdLists(roles=("r1",)), {"channel", "thread"}),
        (IdLists(roles=("r2",)), set()),
        (IdLists(roles=("*",)), {"channel", "thread"}),
    ],
    ids=str,
)
def test_an_allow_list_lets_in_whom_it_names_and_nobody_else(allow, where):
    assert allowed_places(AccessSettings(allow=allow)) == where


@pytest.mark.parametrize(
    ("deny", "kept_out"),
    [
        (IdLists(users=("7",)), EVERYWHERE),
        (IdLists(users=("*",)), EVERYWHERE),
        (IdLists(users=("8",)), set()),
        (IdLists(guilds=("g1",)), {"channel", "thread"}),
        (IdLists(channels=("c1",)), {"channel", "thread"}),
        (IdLists(channels=("t1",)), {"thread"}),
        (IdLists(chats=("-100",)), {"group", "topic"}),
        (IdLists(chats=("7",)), {"private"}),
        (IdLists(roles=("r1",)), {"channel", "thread"}),
    ],
    ids=str,
)
def test_deny_wins_over_everything_that_allows_admins_included(deny, kept_out):
    allow = IdLists(users=("7", "*"), guilds=("*",), chats=("*",), roles=("r1",))
    settings = AccessSettings(allow=allow, deny=deny, admins=("discord:7", "telegram:7"))

    assert allowed_places(settings) == EVERYWHERE - kept_out


def test_a_platform_without_settings_lets_nobody_in():
    access = Access({TELEGRAM: AccessSettings(allow=IdLists(users=("*",)))})

    assert not access.decide(DM, author(DM)).allowed


def test_an_admin_may_speak_everywhere_and_is_known_as_one():
    settings = AccessSettings(admins=("discord:7",))

    assert allowed_places(settings) == {"dm", "channel", "thread"}
    assert decide(DM, settings).admin


def test_somebody_allowed_is_no_admin():
    assert not decide(DM, AccessSettings(allow=IdLists(users=("*",)))).admin


@pytest.mark.parametrize("admin", ["7", "*", "discord:*", "discord:", "irc:7", "@ann"])
def test_an_admin_who_is_not_written_as_platform_and_id_is_nobody_and_warned_about(admin):
    access = Access({DISCORD: AccessSettings(admins=(admin,))})

    assert not access.decide(DM, author(DM)).allowed
    assert [problem.key for problem in access.warnings()] == ["discord.admins"]


def test_an_admin_of_one_platform_is_a_stranger_with_the_same_number_on_another():
    settings = AccessSettings(admins=("discord:7",))

    assert not decide(PRIVATE, settings).allowed


def test_a_group_that_became_a_supergroup_keeps_its_rule():
    moved = replace(GROUP, chat="-200")

    assert decide(moved, AccessSettings(allow=IdLists(chats=("-100",))), former=["-100"]).allowed
    assert not decide(
        moved,
        AccessSettings(allow=IdLists(chats=("-200",)), deny=IdLists(chats=("-100",))),
        former=["-100"],
    ).allowed


@pytest.mark.parametrize("name", ["users", "roles", "guilds", "channels", "chats"])
def test_a_star_that_lets_everybody_in_is_warned_about_by_its_key(name):
    access = Access({TELEGRAM: AccessSettings(allow=IdLists(**{name: ("*",)}))})

    [warning] = access.warnings()

    assert warning.key == f"telegram.allow.{name}"
    assert "everybody" in warning.what


def test_a_star_that_keeps_everybody_out_is_no_reason_to_warn():
    settings = AccessSettings(deny=IdLists(users=("*",)), allow=IdLists(users=("7",)))

    assert Access({DISCORD: settings}).warnings() == []


@pytest.mark.parametrize(
    ("chat", "mode"),
    [(THREAD, Mode.POOLS), (CHANNEL, Mode.WINDOW), (replace(CHANNEL, chat="c9"), Mode.FULL)],
)
def test_the_nearest_place_decides_the_mode(chat, mode):
    settings = AccessSettings(
        allow=IdLists(users=("*",)),
        mode=Mode.POOLS,
        modes={"t1": Mode.POOLS, "c1": Mode.WINDOW, "g1": Mode.FULL},
    )

    assert decide(chat, settings).mode is mode


def test_a_thread_has_the_mode_of_its_channel():
    settings = AccessSettings(allow=IdLists(users=("*",)), modes={"c1": Mode.POOLS})

    assert decide(THREAD, settings).mode is Mode.POOLS


def test_direct_chats_can_have_a_mode_of_their_own():
    settings = AccessSettings(allow=IdLists(users=("*",)), direct_mode=Mode.POOLS)

    assert decide(DM, settings).mode is Mode.POOLS
    assert decide(CHANNEL, settings).mode is Mode.FULL


def test_own_sessions_are_for_the_groups_that_the_operator_named():
    settings = AccessSettings(allow=IdLists(users=("*",)), person_sessions=("c1",))

    assert decide(THREAD, settings).person_session
    assert not decide(GROUP, settings).person_session
    assert not decide(DM, replace(settings, person_sessions=("*",))).person_session


IDS = st.lists(st.sampled_from(["7", "8", "r1", "g1", "c1", "t1", "-100", "*"]), max_size=3)
LISTS = st.builds(
    IdLists,
    **{name: IDS.map(tuple) for name in ("users", "roles", "guilds", "channels", "chats")},
)


def joined(one, other):
    return IdLists(
        **{
            name: getattr(one, name) + getattr(other, name)
            for name in ("users", "roles", "guilds", "channels", "chats")
        }
    )


@given(allow=LISTS, deny=LISTS, more=LISTS)
def test_more_allowed_ids_never_shut_anyone_out_and_more_denied_ones_never_let_anyone_in(
    allow, deny, more
):
    before = allowed_places(AccessSettings(allow=allow, deny=deny))

    assert before <= allowed_places(AccessSettings(allow=joined(allow, more), deny=deny))
    assert before >= allowed_places(AccessSettings(allow=allow, deny=joined(deny, more)))
