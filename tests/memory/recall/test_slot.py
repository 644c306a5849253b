from datetime import UTC

from memory.language.text import estimate_tokens
from memory.recall.slot import LONGEST_SNIPPET_CHARS, Snippet, Snippets, cost_tokens
from memory.values import Message, PersonId, Role, Seq, SessionId, Speaker
from tests.fakes import NOON_NS

HOUR_NS = 3_600 * 10**9
MOMO = Speaker(person=PersonId("telegram:1"), name="Momo")


def message(seq, text, *, at_ns=NOON_NS, speaker=MOMO):
    role = Role.USER if speaker else Role.ASSISTANT
    return Message(
        seq=Seq(seq),
        session=SessionId("s"),
        role=role,
        text=text,
        sent_at_ns=at_ns,
        speaker=speaker,
    )


def slot(*messages):
    weighted = [Snippet(message=m, weight=float(m.seq)) for m in messages]
    return Snippets(snippets=tuple(weighted), zone=UTC)


def test_messages_of_one_talk_share_their_time_line():
    printed = slot(
        message(1, "我養了一隻貓"),
        message(2, "What is\nits name?", speaker=None),
        message(3, "later", at_ns=NOON_NS + 2 * HOUR_NS),
    ).body()

    assert printed.splitlines() == [
        "[2023-11-14 22:13]",
        "Momo: 我養了一隻貓",
        "you: What is its name?",
        "[2023-11-15 00:13]",
        "Momo: later",
    ]


def test_the_lightest_goes_first_and_nothing_prints_nothing():
    shorter = slot(message(1, "one"), message(2, "two")).shorter()

    assert "two" in shorter.render()
    assert "one" not in shorter.render()
    assert shorter.shorter().render() == ""
    assert shorter.shorter().shorter() is None


def test_a_very_long_message_is_clipped():
    assert len(slot(message(1, "長" * 5_000)).body()) < LONGEST_SNIPPET_CHARS + 40


def test_the_price_is_that_of_what_is_printed():
    messages = [message(2, "two"), message(1, "one")]

    assert cost_tokens(messages, UTC) == estimate_tokens(slot(*messages[::-1]).body())
