from dataclasses import dataclass, replace

import pytest

from adapters.telegram.options import TELEGRAM
from bot.access.places import Place
from bot.commands.registry import Command, Commands
from bot.ports import (
    Author,
    ChatKind,
    ChatRef,
    CommandAnswer,
    CommandCall,
    CommandGroup,
    CommandOption,
    CommandSpec,
    OptionKind,
)
from memory.errors import StoreError
from memory.values import PersonId, SessionId

CHAT = ChatRef(platform=TELEGRAM, bot="1", chat="7", kind=ChatKind.DIRECT)
ABOUT = {"en": "x"}
CONFIRM = CommandOption(name="confirm", descriptions=ABOUT, kind=OptionKind.FLAG)


def author(language=None):
    return Author(person=PersonId("telegram:7"), name="Ann", language=language)


@dataclass
class Bench:
    commands: Commands
    requests: list

    async def say(self, text, language=None):
        call = self.commands.parse(text, CHAT, author(language))
        return await self.commands.run(call)


@pytest.fixture
def bench():
    return make()


def make(*, allowed=True, admin=False, error=None):
    requests = []

    async def handle(request):
        requests.append(request)
        if error:
            raise error
        return CommandAnswer(text="done")

    group = CommandGroup(name="admin", descriptions=ABOUT)
    options = (CommandOption(name="target", descriptions=ABOUT), CONFIRM)
    table = (
        Command(spec=CommandSpec(name="plain", descriptions=ABOUT), handle=handle),
        Command(
            spec=CommandSpec(
                name="reset", descriptions=ABOUT, group=group, options=options, admin_only=True
            ),
            handle=handle,
        ),
    )
    place = Place(session=SessionId("s"), allowed=allowed, admin=admin)
    return Bench(Commands(table, place=lambda _chat, _author: place), requests)


@pytest.mark.parametrize("text", ["hello", "", " /plain", "a/b"])
def test_what_does_not_start_with_a_slash_is_talk(bench, text):
    assert bench.commands.parse(text, CHAT, author()) is None


@pytest.mark.parametrize(
    ("text", "name", "typed"),
    [
        ("/plain", "plain", ""),
        ("/PLAIN a b", "plain", "a b"),
        ("/admin reset tg-1 yes", "admin reset", "tg-1 yes"),
        ("/admin", "admin", ""),
        ("/", "help", ""),
        ("/綠茶 好", "綠茶", "好"),
    ],
)
def test_the_longest_name_that_is_known_is_the_command(bench, text, name, typed):
    call = bench.commands.parse(text, CHAT, author())

    assert (call.name, call.typed) == (name, typed)


async def test_a_stranger_is_refused_before_anything_is_done():
    bench = make(allowed=False, admin=True)

    for text in ("/plain", "/help", "/admin reset", "/nonsense"):
        answer = await bench.say(text)
        assert answer.private
        assert "may not" in answer.text
    assert not bench.requests


async def test_an_admin_command_is_refused_to_others_in_code():
    bench = make(admin=False)

    assert "administrator" in (await bench.say("/admin reset x yes")).text
    assert not bench.requests


async def test_an_administrator_may(bench):
    bench = make(admin=True)

    assert (await bench.say("/admin reset tg-1 yes")).text == "done"
    assert bench.requests[0].call.arguments == {"target": "tg-1", "confirm": "true"}
    assert bench.requests[0].flag(CONFIRM)


async def test_help_lists_only_what_one_may_use():
    plain, admin = await make().say("/help"), await make(admin=True).say("/help")

    assert "/plain" in plain.text
    assert "/admin reset" not in plain.text
    assert "/admin reset" in admin.text


async def test_a_groups_name_alone_lists_its_commands_to_administrators():
    assert "/admin reset" in (await make(admin=True).say("/admin")).text
    assert "/admin reset" not in (await make().say("/admin")).text


async def test_answers_come_in_the_language_of_the_person(bench):
    assert "沒有" in (await bench.say("/nonsense", "zh-hant")).text
    assert "沒有" in (await bench.say("/nonsense 你好")).text
    assert "no command" in (await bench.say("/nonsense", "en")).text


async def test_an_error_of_ours_is_told_and_a_person_sees_no_traceback():
    bench = make(error=StoreError("the disk is full"))

    assert "the disk is full" in (await bench.say("/plain")).text


async def test_what_the_platforms_own_interface_gave_is_taken_as_it_is():
    bench = make(admin=True)
    given = {"target": "two words", "confirm": "false"}
    call = CommandCall(chat=CHAT, author=author(), name="admin reset", arguments=given)

    await bench.commands.run(call)

    assert bench.requests[0].call.arguments == given
    assert not bench.requests[0].flag(CONFIRM)
    assert not call.aloud


def test_only_what_is_typed_where_others_read_along_is_said_aloud(bench):
    group = replace(CHAT, kind=ChatKind.GROUP)

    assert bench.commands.parse("/plain", group, author()).aloud
    assert not bench.commands.parse("/plain", CHAT, author()).aloud


async def test_a_number_too_long_for_the_database_is_no_number():
    count = CommandOption(name="count", descriptions=ABOUT, kind=OptionKind.INTEGER)
    requests = []

    async def handle(request):
        requests.append(request.number(count))
        return CommandAnswer(text="done")

    spec = CommandSpec(name="take", descriptions=ABOUT, options=(count,))
    place = Place(session=SessionId("s"), allowed=True)
    commands = Commands((Command(spec=spec, handle=handle),), place=lambda _chat, _author: place)
    for text in ("/take 7", "/take", f"/take {10**18}", f"/take {10**18 - 1}"):
        await commands.run(commands.parse(text, CHAT, author()))

    assert requests == [7, 0, 0, 10**18 - 1]
