import pytest

from adapters.telegram.options import TELEGRAM
from adapters.telegram.translate import (
    ANONYMOUS_ADMIN,
    CHANNEL_POSTS,
    UNREADABLE,
    EditedUpdate,
    Me,
    Moved,
    fault,
    translate,
    update_id,
)
from bot.ports import ChatKind, ChatRef, Inbound
from tests.wire.telegram_text import entities_in, utf16

ME = Me(id=4242, username="Kith_Bot", commands=frozenset({"help", "reset"}))
ANN = {"id": 7, "is_bot": False, "first_name": "Ann", "last_name": "Lee", "language_code": "zh-TW"}
US = {"id": 4242, "is_bot": True, "first_name": "Kith", "username": "kith_bot"}
DIRECT = {"id": 7, "type": "private", "first_name": "Ann"}
GROUP = {"id": -5, "type": "group", "title": "Family"}
FORUM = {"id": -1001, "type": "supergroup", "title": "Club", "is_forum": True}


def update(text=None, *, chat=DIRECT, **fields):
    message = {"message_id": 11, "date": 1_700_000_000, "chat": chat, "from": ANN}
    if text is not None:
        message |= {"text": text, "entities": entities_in(text)}
    return {"update_id": 1, "message": {**message, **fields}}


def read(text=None, **fields):
    return translate(update(text, **fields), ME)


def quoted(sender, **fields):
    return {"message_id": 5, "date": 1_700_000_000, "chat": GROUP, "from": sender, **fields}


def test_a_private_message_is_taken_over_with_stable_ids():
    inbound = read("hello")

    assert isinstance(inbound, Inbound)
    assert inbound.chat == ChatRef(
        platform=TELEGRAM, bot="4242", chat="7", kind=ChatKind.DIRECT, title="Ann"
    )
    assert (inbound.author.person, inbound.author.name) == ("telegram:7", "Ann Lee")
    assert inbound.author.language == "zh-TW"
    assert (inbound.message, inbound.text, inbound.addressed) == ("11", "hello", True)
    assert inbound.sent_at_ns == 1_700_000_000 * 10**9


def test_group_talk_that_is_not_for_us_is_handed_in_as_not_addressed():
    inbound = read("lunch?", chat=GROUP)

    assert (inbound.chat.kind, inbound.chat.title) == (ChatKind.GROUP, "Family")
    assert inbound.addressed is False


@pytest.mark.parametrize(
    ("written", "understood"),
    [
        ("@kith_bot hello", "hello"),
        ("@KITH_BOT hello", "hello"),
        ("@kith_bot, hello", "hello"),
        ("@kith_bot：你好", "你好"),
        ("hello @kith_bot", "hello"),
        ("ask @kith_bot about it", "ask about it"),
        ("hello @kith_bot, again", "hello, again"),
        ("😀👩‍👩‍👧 @kith_bot 𠮷野家?", "😀👩‍👩‍👧 𠮷野家?"),
        ("line one\n@kith_bot line two", "line one\nline two"),
        ("@kith_bot @kith_bot hi", "hi"),
        ("你好@kith_bot", "你好"),
        ("@kith_bot你好", "你好"),
        ("請問@kith_bot、明日は?", "請問、明日は?"),
    ],
)
def test_a_mention_addresses_us_and_is_taken_out_of_the_text(written, understood):
    inbound = read(written, chat=GROUP)

    assert (inbound.text, inbound.addressed) == (understood, True)


@pytest.mark.parametrize(
    "written",
    [
        "@kith_bot2 hello",
        "@my_kith_bot hello",
        "mail me at ann@kith_bot.example",
        "ann@kith_bot",
        "see kith_bot",
        "a@kith_bot2你好",
        "你好@kith_bots",
    ],
)
def test_what_only_looks_like_our_name_addresses_nobody(written):
    inbound = read(written, chat=GROUP)

    assert (inbound.text, inbound.addressed) == (written, False)


def test_a_mention_of_us_by_name_without_username_counts():
    text = "🙂 Kith hello"
    entity = {"type": "text_mention", "offset": utf16("🙂 "), "length": 4, "user": US}

    inbound = read(text, chat=GROUP, entities=[entity])

    assert (inbound.text, inbound.addressed) == ("🙂 hello", True)


def test_a_text_mention_of_somebody_else_is_left_alone():
    entity = {"type": "text_mention", "offset": 0, "length": 3, "user": ANN}

    inbound = read("Ann hello", chat=GROUP, entities=[entity])

    assert (inbound.text, inbound.addressed) == ("Ann hello", False)


def test_a_reply_to_us_addresses_us_and_names_the_message():
    inbound = read("yes", chat=GROUP, reply_to_message=quoted(US, text="really?"))

    assert (inbound.addressed, inbound.reply_to) == (True, "5")


def test_a_reply_to_somebody_else_does_not_address_us():
    inbound = read("yes", chat=GROUP, reply_to_message=quoted(ANN, text="really?"))

    assert (inbound.addressed, inbound.reply_to) == (False, "5")


@pytest.mark.parametrize(
    ("written", "understood", "addressed"),
    [
        ("/help me", "/help me", True),
        ("/help@kith_bot me", "/help me", True),
        ("/HELP@Kith_Bot", "/help", True),
        ("/unknown@kith_bot", "/unknown", True),
        ("/unknown", "/unknown", False),
        ("say /help", "say /help", False),
    ],
)
def test_a_command_in_a_group_is_ours_by_name_or_by_addressee(written, understood, addressed):
    inbound = read(written, chat=GROUP)

    assert (inbound.text, inbound.addressed) == (understood, addressed)


@pytest.mark.parametrize("chat", [GROUP, DIRECT])
def test_a_command_for_another_bot_is_ignored(chat):
    assert read("/help@other_bot", chat=chat) is None


def test_a_topic_is_told_only_by_a_topic_message():
    in_topic = read("hi", chat=FORUM, message_thread_id=77, is_topic_message=True)
    in_reply_thread = read("hi", chat=FORUM, message_thread_id=78)
    in_general = read("hi", chat=FORUM)

    assert in_topic.chat.topic == "77"
    assert in_reply_thread.chat.topic is None
    assert in_general.chat.topic is None


def test_the_first_message_of_a_topic_is_not_something_replied_to():
    created = quoted(US, forum_topic_created={"name": "Plans", "icon_color": 1}) | {
        "message_id": 77
    }

    inbound = read(
        "hi", chat=FORUM, message_thread_id=77, is_topic_message=True, reply_to_message=created
    )

    assert (inbound.addressed, inbound.reply_to) == (False, None)


def test_a_group_that_becomes_a_supergroup_moves_in_both_of_its_messages():
    told_in_old = read(chat=GROUP, migrate_to_chat_id=-1005)
    told_in_new = read(chat=FORUM, migrate_from_chat_id=-5)

    assert isinstance(told_in_old, Moved)
    assert (told_in_old.old.chat, told_in_old.new.chat) == ("-5", "-1005")
    assert (told_in_new.old.chat, told_in_new.new.chat) == ("-5", "-1001")


@pytest.mark.parametrize(
    "fields",
    [
        {"from": {"id": ANONYMOUS_ADMIN, "is_bot": True, "first_name": "Group"}},
        {"from": {"id": CHANNEL_POSTS, "is_bot": False, "first_name": "Telegram"}},
        {"from": {"id": 9, "is_bot": True, "first_name": "Other bot"}},
        {"from": None},
        {"sender_chat": {"id": -100, "type": "channel", "title": "News"}},
    ],
)
def test_what_no_person_wrote_is_ignored(fields):
    assert read("@kith_bot hi", chat=GROUP, **fields) is None


@pytest.mark.parametrize("written", ["@kith_bot", " ", "\u0000", None])
def test_a_message_without_words_is_ignored(written):
    assert read(written, chat=GROUP) is None


def test_a_caption_counts_as_text_with_its_own_entities():
    caption = "🖼 @kith_bot what is this?"

    inbound = read(chat=GROUP, caption=caption, caption_entities=entities_in(caption))

    assert (inbound.text, inbound.addressed) == ("🖼 what is this?", True)


def test_half_an_emoji_and_control_characters_are_scrubbed():
    assert read("a\ud83d b\u0000c\r\nd").text == "a� bc\nd"


def test_a_name_is_one_short_line():
    inbound = read("hi", **{"from": {**ANN, "first_name": "A\nnn", "last_name": "x" * 200}})

    assert inbound.author.name.startswith("A nn xxx")
    assert len(inbound.author.name) == 64


def test_a_person_without_a_visible_name_is_called_by_user_name_or_id():
    nameless = {**ANN, "first_name": "\u0001 ", "last_name": ""}

    assert read("hi", **{"from": {**nameless, "username": "ann"}}).author.name == "ann"
    assert read("hi", **{"from": nameless}).author.name == "7"


@pytest.mark.parametrize("kind", ["channel_post", "edited_channel_post"])
def test_channel_posts_are_not_answered(kind):
    raw = {"update_id": 1, kind: update("hi")["message"]}

    assert translate(raw, ME) is None


def test_an_edit_is_told_apart_from_a_message():
    raw = {"update_id": 1, "edited_message": update("hi")["message"]}

    edited = translate(raw, ME)

    assert isinstance(edited, EditedUpdate)
    assert edited.inbound.text == "hi"


def test_an_update_of_a_kind_from_the_future_is_passed_over():
    assert translate({"update_id": 1, "hologram": {"id": 3}}, ME) is None


@pytest.mark.parametrize(
    "raw",
    [
        {"update_id": 1, "message": {"text": "my secret"}},
        {"update_id": 1, "message": {**update("x")["message"], "date": "my secret"}},
        {"update_id": 1, "message": {**update("x")["message"], "date": 10**20}},
        {"update_id": 1, "message": {**update("x")["message"], "entities": ["my secret"]}},
        {"update_id": 1, "message": "my secret"},
        {"message": update("x")["message"]},
        ["my secret"],
        "my secret",
        None,
    ],
)
def test_an_unreadable_update_is_told_by_its_kind_alone(raw):
    with pytest.raises(UNREADABLE) as raised:
        translate(raw, ME)

    assert "secret" not in fault(raw, raised.value)


@pytest.mark.parametrize(
    ("raw", "found"), [({"update_id": 3}, 3), ({"update_id": "3"}, None), ({}, None), ([], None)]
)
def test_only_a_number_is_an_update_id(raw, found):
    assert update_id(raw) == found
