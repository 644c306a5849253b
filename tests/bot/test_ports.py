from dataclasses import dataclass

import pytest

from bot.ports import Author, ChatKind, ChatRef, CommandCall, Secret
from memory.values import PersonId


@dataclass(frozen=True)
class Options:
    token: Secret


def test_a_secret_is_shown_nowhere_and_revealed_on_demand():
    secret = Secret("123:abc")

    shown = f"{secret} {secret!r} {Options(token=secret)} {[secret]}"

    assert "abc" not in shown
    assert secret.reveal() == "123:abc"


def test_secrets_are_equal_by_value():
    assert Secret("a") == Secret("a")
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"


@pytest.mark.parametrize(
    ("typed", "kind", "aloud"),
    [
        ("", ChatKind.GROUP, True),
        ("all", ChatKind.GROUP, True),
        (None, ChatKind.GROUP, False),
        ("all", ChatKind.DIRECT, False),
    ],
)
def test_a_command_is_aloud_where_it_was_typed_among_others(typed, kind, aloud):
    chat = ChatRef(platform="telegram", bot="1", chat="5", kind=kind)
    author = Author(person=PersonId("telegram:7"), name="Ann")

    call = CommandCall(chat=chat, author=author, name="memory", typed=typed)

    assert call.aloud is aloud
