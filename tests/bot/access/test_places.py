from dataclasses import replace

from adapters.registry import MANIFESTS
from adapters.telegram.options import TELEGRAM
from bot.access.access import Access
from bot.access.places import Places
from bot.access.positions import Moves
from bot.config.access_settings import AccessSettings, IdLists
from bot.ports import Author, ChatKind, ChatRef, Platform
from memory.values import Mode, PersonId

GROUP = ChatRef(platform=TELEGRAM, bot="1", chat="-5", kind=ChatKind.GROUP)
SUPERGROUP = ChatRef(platform=TELEGRAM, bot="1", chat="-100", kind=ChatKind.GROUP)
ANN = Author(person=PersonId("telegram:7"), name="Ann")


def places(moves=None, **lists):
    rules = {TELEGRAM: AccessSettings(allow=IdLists(**lists))}
    return Places(Access(rules), moves or Moves(), MANIFESTS.platforms)


def test_a_group_that_became_a_supergroup_keeps_its_rule_and_its_session():
    moves = Moves()
    before = places(moves, chats=("-5",)).place(GROUP, ANN)
    moves.add(TELEGRAM, "1", old="-5", new="-100")

    after = places(moves, chats=("-5",)).place(SUPERGROUP, ANN)

    assert after == before
    assert after.allowed


def test_each_person_has_a_session_of_their_own_where_the_settings_say_so():
    bo = Author(person=PersonId("telegram:8"), name="Bo")
    rules = AccessSettings(allow=IdLists(chats=("-5",)), person_sessions=("-5",))
    own = Places(Access({TELEGRAM: rules}), Moves(), MANIFESTS.platforms)

    sessions = [own.place(GROUP, author).session for author in (ANN, bo)]

    assert sessions == ["tg-1--5-u7", "tg-1--5-u8"]


def test_a_place_says_what_its_author_may_do_there():
    rules = AccessSettings(allow=IdLists(chats=("-5",)), admins=("telegram:8",))
    found = Places(Access({TELEGRAM: rules}), Moves(), MANIFESTS.platforms)
    elsewhere = replace(GROUP, chat="-6")

    member, stranger = found.place(GROUP, ANN), found.place(elsewhere, ANN)
    admin = found.place(GROUP, replace(ANN, person=PersonId("telegram:8")))

    assert [(one.allowed, one.admin) for one in (member, stranger, admin)] == [
        (True, False),
        (False, False),
        (True, True),
    ]


def test_what_an_administrator_chose_for_a_session_goes_before_the_configuration():
    rules = AccessSettings(allow=IdLists(chats=("-5", "-6")), mode=Mode.WINDOW)
    chosen = {"tg-1--5": Mode.POOLS}
    found = Places(Access({TELEGRAM: rules}), Moves(), MANIFESTS.platforms, chosen.get)

    assert found.place(GROUP, ANN).mode is Mode.POOLS
    assert found.place(replace(GROUP, chat="-6"), ANN).mode is Mode.WINDOW


def test_nobody_may_speak_on_a_platform_that_is_no_longer_there():
    left = replace(GROUP, platform=Platform("gone"))

    assert not places(users=("*",)).place(left, ANN).allowed


def test_a_door_open_to_everybody_is_warned_of():
    assert [one.key for one in places(users=("*",)).warnings()] == ["telegram.allow.users"]
