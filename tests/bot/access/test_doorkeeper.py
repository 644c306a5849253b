from bot.access.access import Access
from bot.access.doorkeeper import Doorkeeper
from bot.access.positions import Moves
from bot.config.access_settings import AccessSettings, IdLists
from bot.ports import Author, ChatKind, ChatRef, Platform
from memory.values import PersonId

GROUP = ChatRef(platform=Platform.TELEGRAM, bot="1", chat="-5", kind=ChatKind.GROUP)
SUPERGROUP = ChatRef(platform=Platform.TELEGRAM, bot="1", chat="-100", kind=ChatKind.GROUP)
ANN = Author(person=PersonId("telegram:7"), name="Ann")


def doorkeeper(moves=None, **lists):
    rules = {Platform.TELEGRAM: AccessSettings(allow=IdLists(**lists))}
    return Doorkeeper(Access(rules), moves or Moves())


def test_a_group_that_became_a_supergroup_keeps_its_rule_and_its_session():
    moves = Moves()
    before = doorkeeper(moves, chats=("-5",)).place(GROUP, ANN)
    moves.add(Platform.TELEGRAM, "1", old="-5", new="-100")

    after = doorkeeper(moves, chats=("-5",)).place(SUPERGROUP, ANN)

    assert after == before
    assert after.verdict.allowed


def test_whoever_sits_at_the_console_may_everything():
    chat = ChatRef(platform=Platform.CONSOLE, bot="console", chat="main", kind=ChatKind.DIRECT)

    place = doorkeeper().place(chat, Author(person=PersonId("console:mei"), name="mei"))

    assert place.verdict.admin
    assert place.session == "cli-main"


def test_each_person_has_a_session_of_their_own_where_the_settings_say_so():
    bo = Author(person=PersonId("telegram:8"), name="Bo")
    rules = AccessSettings(allow=IdLists(chats=("-5",)), person_sessions=("-5",))
    keeper = Doorkeeper(Access({Platform.TELEGRAM: rules}), Moves())

    sessions = [keeper.place(GROUP, author).session for author in (ANN, bo)]

    assert sessions == ["tg-1--5-u7", "tg-1--5-u8"]


def test_other_settings_count_from_the_moment_they_are_given():
    keeper = doorkeeper()
    assert not keeper.place(GROUP, ANN).verdict.allowed

    keeper.admit_by(Access({Platform.TELEGRAM: AccessSettings(allow=IdLists(users=("7",)))}))

    assert keeper.place(GROUP, ANN).verdict.allowed


def test_a_door_open_to_everybody_is_warned_of():
    assert [one.key for one in doorkeeper(users=("*",)).warnings()] == ["telegram.allow.users"]
