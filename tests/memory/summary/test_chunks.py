import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.language.text import estimate_tokens
from memory.summary.chunks import CHUNK_CHARS, Capacity, PendingMessage, conversations, next_chunk
from memory.values import Message, Role, Seq, SessionId

WIDE = Capacity(tokens=1_000_000)


def record(seq, role, text):
    return PendingMessage(seq=Seq(seq), role=Role(role), head="[h]", text=text)


def talk(roles, text="x" * 10):
    names = {"u": "user", "a": "assistant"}
    return [record(n, names[role], text) for n, role in enumerate(roles, 1)]


def chunks(records, capacity):
    while records:
        chunk = next_chunk(records, capacity)
        yield chunk
        records = chunk.rest


def shape(records, capacity):
    return ["".join(r.role[0] for r in chunk.messages) for chunk in chunks(records, capacity)]


def test_a_chunk_holds_at_most_so_many_characters():
    assert CHUNK_CHARS == 32_000

    assert shape(talk("uauaua", "x" * 10_000), WIDE) == ["uaua", "ua"]


@pytest.mark.parametrize(
    ("roles", "shapes"),
    [
        ("uaua", ["ua", "ua"]),
        ("uuua", ["uuua"]),
        ("uuuau", ["uuua", "u"]),
        ("auau", ["aua", "u"]),
        ("uuuu", ["uuuu"]),
        ("aaa", ["aa", "a"]),
    ],
)
def test_a_chunk_is_extended_over_consecutive_user_messages_to_the_reply(roles, shapes):
    assert shape(talk(roles), Capacity(tokens=1_000, chars=30)) == shapes


def test_where_the_model_cannot_take_the_extension_the_chunk_ends_at_the_reply_before():
    cost = estimate_tokens("[h]\n" + "x" * 10) + 2

    assert shape(talk("uauuua"), Capacity(tokens=cost * 4)) == ["ua", "uuua"]


def test_a_record_that_does_not_fit_by_itself_is_split_and_nothing_of_it_is_lost():
    long = "".join(chr(0x4E00 + n) for n in range(500))
    capacity = Capacity(tokens=100)

    cut = list(chunks([record(1, "user", long), record(2, "assistant", "ok")], capacity))

    assert "".join(r.text for chunk in cut for r in chunk.messages if r.seq == 1) == long
    assert len(cut) > 3
    assert all(estimate_tokens(chunk.text()) <= 100 for chunk in cut)
    starts = [chunk.messages[0].read_chars for chunk in cut[:-1]]
    assert starts == sorted(set(starts))


def test_a_split_record_keeps_within_the_characters_too():
    cut = list(chunks([record(1, "user", "x" * 70_000)], WIDE))

    assert [len(chunk.text()) for chunk in cut[:2]] == [CHUNK_CHARS, CHUNK_CHARS]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.integers(0, 60)), max_size=25),
    st.integers(15, 60),
    st.integers(5, 120),
)
def test_every_character_is_read_once_and_in_order(messages, tokens, chars):
    records = [record(n, role, "字" * size) for n, (role, size) in enumerate(messages, 1)]

    cut = list(chunks(records, Capacity(tokens=tokens, chars=chars)))

    read = {}
    for chunk in cut:
        for piece in chunk.messages:
            read[piece.seq] = read.get(piece.seq, "") + piece.text
    assert read == {r.seq: r.text for r in records}
    assert list(read) == sorted(read)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ua", min_size=1, max_size=30), st.integers(20, 100))
def test_with_room_for_any_run_no_chunk_but_the_last_ends_on_a_user_message(roles, chars):
    cut = shape(talk(roles), Capacity(tokens=1_000_000, chars=chars))

    assert all(piece.endswith("a") for piece in cut[:-1])


def test_a_conversation_is_a_user_message_with_the_replies_after_it():
    messages = [
        Message(seq=Seq(n), session=SessionId("s"), role=Role(role), text="", sent_at_ns=0)
        for n, role in enumerate(["assistant", "user", "assistant", "assistant", "user", "user"])
    ]

    assert [[m.seq for m in group] for group in conversations(messages)] == [
        [0],
        [1, 2, 3],
        [4],
        [5],
    ]
