from dataclasses import dataclass

from bot.ports import Secret


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
