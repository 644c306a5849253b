import asyncio
import logging
import traceback
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
import structlog

from adapters.telegram.adapter import NOTHING_TO_SAY, open_telegram
from adapters.telegram.check import check
from adapters.telegram.options import TELEGRAM, Pace, TelegramOptions
from bot.errors import (
    AdapterError,
    LoginRefused,
    PlatformUnreachable,
    PollingConflict,
    SendDeferred,
    SendRefused,
    SendUnknown,
)
from bot.ports import ChatKind, ChatRef, CommandSpec, Outbound, Secret
from tests.fakes import FakeIntake
from tests.wire.telegram_server import BOT_ID, BOT_NAME, open_telegram_server
from tests.wire.telegram_values import (
    Person,
    bad_request,
    blocked,
    conflict,
    drop_after,
    drop_before,
    group,
    not_json,
    private,
    server_error,
    slow,
    supergroup,
    too_many,
)

ANN = Person(id=7, first_name="Ann")
CHAT = private(ANN)
AT_ONCE = Pace(every_s=0.0, burst=100)
COMMANDS = (
    CommandSpec(name="help", descriptions={"en": "show help", "zh-TW": "顯示說明"}),
    CommandSpec(name="jobs", descriptions={"en": "list jobs"}, admin_only=True),
)


@pytest.fixture
async def server():
    async with open_telegram_server() as running:
        yield running


@pytest.fixture
def intake():
    return FakeIntake()


def options(server, **changes):
    return TelegramOptions(
        **{
            "token": Secret(server.token),
            "base_url": server.base_url,
            "poll_timeout_s": 5,
            "answer_timeout_s": 2.0,
            "retry_first_s": 0.01,
            "retry_longest_s": 0.02,
            "conflict_pause_s": 0.01,
            "direct_pace": AT_ONCE,
            "group_pace": AT_ONCE,
            "total_pace": AT_ONCE,
            **changes,
        }
    )


@asynccontextmanager
async def opened(server, intake=None, *, commands=(), **changes):
    intake = intake or FakeIntake()
    async with open_telegram(options(server, **changes), intake=intake, commands=commands) as own:
        yield own


@asynccontextmanager
async def running(server, intake, **changes):
    """The adapter, receiving; stopped at the end as a crash would: in the middle of whatever."""
    ready = asyncio.Event()
    async with opened(server, intake, **changes) as adapter, asyncio.TaskGroup() as tasks:
        task = tasks.create_task(adapter.run(ready.set))
        await ready.wait()
        yield adapter
        task.cancel()


async def ends(server, intake, **changes):
    """How the adapter ends when it cannot go on."""
    async with asyncio.timeout(10), opened(server, intake, **changes) as adapter:
        await adapter.run(lambda: None)


def place(chat_id=7, *, kind=ChatKind.DIRECT, topic=None):
    return ChatRef(platform=TELEGRAM, bot=str(BOT_ID), chat=str(chat_id), kind=kind, topic=topic)


def part(text="hello", *, chat=None, reply_to=None):
    return Outbound(chat=chat or place(), text=text, reply_to=reply_to, nonce="n1")


# -- receiving --------------------------------------------------------------------------------


async def test_messages_are_taken_in_order_and_only_then_confirmed(server, intake):
    said = [server.say(CHAT, ANN, f"number {n}") for n in range(250)]

    async with running(server, intake):
        taken = await intake.taken(250)
        await server.confirmed(1249)

    assert [inbound.message for inbound in taken] == [str(message) for message in said]
    assert await intake.positions(TELEGRAM, str(BOT_ID)) == {"updates": "1250"}


async def test_a_message_that_the_inbox_did_not_take_is_not_confirmed_and_comes_again(server):
    intake = FakeIntake()
    intake.failures = 3
    server.say(CHAT, ANN, "precious")

    async with running(server, intake):
        taken = await intake.taken(1)
        await server.confirmed(1000)

    assert [inbound.text for inbound in taken] == ["precious"]
    offsets = [call.params["offset"] for call in server.called("getUpdates")]
    assert offsets[:4] == [0, 0, 0, 0]


async def test_a_crash_before_the_confirming_poll_loses_nothing_and_takes_nothing_twice(
    server, intake
):
    server.fail("getUpdates", slow(0.0), slow(60.0))
    server.say(CHAT, ANN, "once")
    async with running(server, intake):
        await intake.taken(1)
        await server.until(lambda: len(server.called("getUpdates")) == 2)
    assert server.offset == 0

    async with running(server, intake):
        await server.confirmed(1000)

    assert [inbound.text for inbound in intake.inbounds] == ["once"]


async def test_a_message_that_telegram_delivers_again_is_taken_once(server, intake):
    server.say(CHAT, ANN, "once")
    again = server.repeat(1000)

    async with running(server, intake):
        await server.confirmed(again)

    assert [inbound.text for inbound in intake.inbounds] == ["once"]


async def test_polling_goes_on_from_the_stored_offset(server, intake):
    server.say(CHAT, ANN, "first")
    async with running(server, intake):
        await intake.taken(1)
    seen = len(server.called("getUpdates"))

    server.say(CHAT, ANN, "second")
    async with running(server, intake):
        await intake.taken(2)

    assert server.called("getUpdates")[seen].params["offset"] == 1001


async def test_ids_that_start_over_lower_are_followed(server, intake):
    server.push_raw({"update_id": 9000})
    async with running(server, intake):
        await server.confirmed(9000)
        server.start_ids_at(500)
        server.say(CHAT, ANN, "after a quiet week")
        await intake.taken(1)
        await server.until(lambda: server.offset == 501)


async def test_a_poisonous_update_is_set_aside_and_the_rest_flows(server, intake):
    server.say(CHAT, ANN, "before")
    poison = server.push(message={"text": "nobody asked who I am"})
    server.push_raw("not even an object")
    server.push_raw({"update_id": "x", "message": 5})
    server.say(CHAT, ANN, "after")

    async with running(server, intake):
        taken = await intake.taken(2)
        await server.confirmed(poison)

    assert [inbound.text for inbound in taken] == ["before", "after"]
    assert [row.update for row in intake.quarantined] == [str(poison), "none", "none"]
    assert "asked" not in repr(intake.quarantined)


async def test_updates_of_no_use_are_confirmed_all_the_same(server, intake):
    server.push(hologram={"id": 1})
    said = server.say(CHAT, ANN, "typo")
    server.edit(CHAT, said, "typo mended")

    async with running(server, intake):
        await server.confirmed(1002)

    assert [inbound.text for inbound in intake.inbounds] == ["typo"]


async def test_a_webhook_is_removed_and_the_kinds_of_update_are_fixed(server, intake):
    server.webhook = "https://elsewhere.example"

    async with running(server, intake):
        await server.until(lambda: server.allowed_updates)

    assert server.webhook == ""
    assert server.allowed_updates == ["message", "edited_message", "my_chat_member"]
    assert not server.called("deleteWebhook")[0].params.get("drop_pending_updates")


async def test_errors_on_the_way_only_delay(server, intake):
    server.fail(
        "getUpdates",
        server_error(),
        drop_before(),
        not_json(),
        not_json(status=200),
        drop_after(),
        too_many(1),
        slow(0.01),
    )
    server.say(CHAT, ANN, "still here")

    async with running(server, intake):
        taken = await intake.taken(1)

    assert [inbound.text for inbound in taken] == ["still here"]


async def test_a_poll_that_is_never_answered_is_given_up_and_made_again(server, intake):
    server.fail("getUpdates", slow(30.0))
    server.say(CHAT, ANN, "hi")

    async with running(server, intake, poll_timeout_s=0, answer_timeout_s=0.2):
        await intake.taken(1)


async def test_too_many_failures_in_a_row_end_the_adapter(server, intake):
    server.fail("getUpdates", *[server_error()] * 4)

    with pytest.raises(PlatformUnreachable):
        await ends(server, intake, failures_allowed=3)


async def test_an_inbox_that_takes_nothing_ends_the_adapter(server, intake):
    intake.failures = 99
    server.say(CHAT, ANN, "hi")

    with pytest.raises(AdapterError, match="inbox"):
        await ends(server, intake, failures_allowed=3)


async def test_updates_without_any_id_do_not_turn_into_a_busy_loop(server, intake):
    server.push_raw({"message": {}})

    with pytest.raises(PlatformUnreachable, match="TelegramError"):
        await ends(server, intake, failures_allowed=3)


async def test_a_conflict_is_waited_out(server, intake):
    server.fail("getUpdates", conflict(), conflict())
    server.say(CHAT, ANN, "hi")

    async with running(server, intake):
        await intake.taken(1)


async def test_a_second_poller_that_stays_ends_the_adapter(server, intake):
    server.fail("getUpdates", *[conflict()] * 6)

    with pytest.raises(PollingConflict):
        await ends(server, intake)

    assert len(server.called("getUpdates")) == 6


async def test_conflicts_are_counted_even_when_polls_between_them_succeed(server, intake):
    for n in range(6):
        server.fail("getUpdates", conflict(), slow(0.0))
        server.say(CHAT, ANN, f"{n}")

    with pytest.raises(PollingConflict):
        await ends(server, intake, conflict_pause_s=0.05, poll_timeout_s=0)


async def test_a_group_that_moves_is_told_before_what_is_said_in_the_new_one(server):
    order = []

    class Recording(FakeIntake):
        async def accept(self, inbounds, **rest):
            order.extend(inbound.text for inbound in inbounds)
            await super().accept(inbounds, **rest)

        async def moved(self, old, new):
            order.append(f"{old.chat} to {new.chat}")

    old = group(-5)
    server.say(old, ANN, "before")
    new = server.migrate(old, -1005)
    server.say(new, ANN, "after")

    async with running(server, Recording()):
        await server.confirmed(1003)

    assert order == ["before", "-5 to -1005", "-5 to -1005", "after"]


# -- logging in -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "token", ["4242:AAsecret-secret-secret", "secret", "1:se\ncret", "é:secret"]
)
async def test_a_refused_token_is_final_and_never_printed(server, intake, token, caplog):
    caplog.set_level(logging.DEBUG)
    with structlog.testing.capture_logs() as logged, pytest.raises(AdapterError) as raised:
        await ends(server, intake, token=Secret(token))

    printed = "".join(traceback.format_exception(raised.value)) + caplog.text + repr(logged)
    assert "Zx9Q" not in printed
    if ":AA" in token:
        assert isinstance(raised.value, LoginRefused)


async def test_an_empty_token_is_refused_at_once(server, intake):
    with pytest.raises(LoginRefused):
        await ends(server, intake, token=Secret(""))


async def test_a_token_that_is_revoked_while_polling_is_final(server, intake):
    async with opened(server, intake) as adapter:
        with pytest.raises(LoginRefused):
            await adapter.run(lambda: setattr(server, "token", "4242:another"))


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_a_captive_portal_is_not_taken_for_telegrams_refusal(server, intake, status):
    server.know(CHAT)
    server.fail("getMe", not_json(status=status))
    server.fail("sendMessage", not_json(status=status))

    with pytest.raises(PlatformUnreachable):
        await ends(server, intake)
    async with opened(server) as adapter:
        with pytest.raises(SendDeferred):
            await adapter.send(part())


async def test_no_server_at_all_is_unreachable(server, intake):
    with pytest.raises(PlatformUnreachable):
        await ends(server, intake, base_url="http://127.0.0.1:9/bot")


async def test_no_log_line_holds_the_token_or_a_word_that_was_said(server, intake, caplog):
    caplog.set_level(logging.DEBUG)
    server.fail("getUpdates", not_json(status=200), server_error())
    server.say(CHAT, ANN, "my diary")
    with structlog.testing.capture_logs() as logged:
        async with running(server, intake) as adapter:
            await intake.taken(1)
            await adapter.send(part("your diary"))

    printed = caplog.text + repr(logged)
    assert "diary" not in printed
    assert server.token not in printed


async def test_the_doctor_learns_whether_privacy_mode_is_on(server):
    server.reads_all_group_messages = False

    facts = await check(options(server))

    assert (facts.id, facts.username) == (str(BOT_ID), BOT_NAME)
    assert facts.reads_all_group_messages is False


async def test_the_command_menu_is_set_by_language_and_only_when_it_changed(server, intake):
    async with running(server, intake, commands=COMMANDS):
        await server.until(lambda: server.called("getUpdates"))
    assert len(server.called("setMyCommands")) == 4
    menu = {key: [c["description"] for c in commands] for key, commands in server.commands.items()}

    async with running(server, intake, commands=COMMANDS):
        await server.until(lambda: len(server.called("getUpdates")) == 2)

    assert len(server.called("setMyCommands")) == 4
    assert menu['{"type": "all_private_chats"}', ""] == ["show help"]
    assert menu['{"type": "all_private_chats"}', "zh"] == ["顯示說明"]
    assert menu['{"type": "all_group_chats"}', "zh"] == ["顯示說明"]


async def test_a_menu_that_cannot_be_set_does_not_keep_the_bot_from_listening(server, intake):
    server.fail("getMyCommands", server_error())
    server.say(CHAT, ANN, "hi")

    async with running(server, intake, commands=COMMANDS):
        await intake.taken(1)


# -- sending ----------------------------------------------------------------------------------


async def test_a_part_arrives_as_a_reply_in_its_topic_and_its_id_comes_back(server):
    forum = supergroup(-1001, is_forum=True)
    said = server.say(forum, ANN, "hi", topic=77)
    chat = place(-1001, kind=ChatKind.GROUP, topic="77")

    async with opened(server) as adapter:
        message = await adapter.send(part("**Hi** Ann", chat=chat, reply_to=str(said)))

    [sent] = server.sent_now(-1001)
    assert (sent.text, sent.thread, sent.reply_to) == ("Hi Ann", 77, said)
    assert sent.entities == [{"type": "bold", "offset": 0, "length": 2}]
    assert message == str(sent.message_id)


async def test_a_reply_to_a_deleted_message_is_sent_as_a_plain_message(server):
    server.know(CHAT)

    async with opened(server) as adapter:
        await adapter.send(part(reply_to="999"))

    assert server.sent_now(7)[0].reply_to is None


async def test_a_long_answer_in_any_script_arrives_whole_in_parts_that_fit(server):
    server.know(CHAT)
    answer = "😀 **好的**，這是答案。\n" * 700

    async with opened(server) as adapter:
        parts = adapter.split(answer)
        for text in parts:
            await adapter.send(part(text))

    arrived = "".join(sent.text for sent in server.sent_now(7))
    assert len(parts) > 1
    assert "".join(arrived.split()) == "".join(answer.replace("**", "").split())


async def test_a_reply_without_a_visible_character_still_has_a_part(server):
    async with opened(server) as adapter:
        assert adapter.split(" \n ") == [NOTHING_TO_SAY]


async def test_formatting_that_telegram_refuses_is_sent_as_written(server):
    server.know(CHAT)
    server.fail("sendMessage", bad_request("can't parse entities: Unsupported start tag"))

    async with opened(server) as adapter:
        await adapter.send(part("**so** it is"))

    [sent] = server.sent_now(7)
    assert (sent.text, sent.parse_mode) == ("**so** it is", None)


async def test_a_topic_that_is_gone_does_not_lose_the_answer(server):
    server.know(supergroup(-1001, is_forum=True))

    async with opened(server) as adapter:
        await adapter.send(part("**hi**", chat=place(-1001, kind=ChatKind.GROUP, topic="66")))

    assert [(sent.text, sent.thread) for sent in server.sent_now(-1001)] == [("hi", None)]


async def test_an_answer_follows_its_group_to_the_supergroup(server, intake):
    old = group(-5)
    server.say(old, ANN, "hi")
    server.migrate(old, -1005)
    chat = place(-5, kind=ChatKind.GROUP)

    async with opened(server, intake) as adapter:
        await adapter.send(part(chat=chat, reply_to="1"))

    assert [sent.text for sent in server.sent_now(-1005)] == ["hello"]
    assert intake.moves == [(chat, replace(chat, chat="-1005"))]


@pytest.mark.parametrize(
    "fault", [blocked(), bad_request("not enough rights to send text messages to the chat")]
)
async def test_what_will_never_be_delivered_is_refused(server, fault):
    server.know(CHAT)
    server.fail("sendMessage", fault)

    async with opened(server) as adapter:
        with pytest.raises(SendRefused):
            await adapter.send(part())
        with pytest.raises(SendRefused, match=r"(?i)chat not found"):
            await adapter.send(part(chat=place(404)))


async def test_being_asked_to_wait_defers_with_the_time(server):
    server.know(CHAT)
    server.fail("sendMessage", too_many(238))

    async with opened(server) as adapter:
        with pytest.raises(SendDeferred) as raised:
            await adapter.send(part())

    assert raised.value.retry_after_s == 238


@pytest.mark.parametrize("fault", [server_error(), not_json(), server_error(503)])
async def test_an_error_of_telegrams_own_defers(server, fault):
    server.know(CHAT)
    server.fail("sendMessage", fault)

    async with opened(server) as adapter:
        with pytest.raises(SendDeferred):
            await adapter.send(part())


async def test_no_connection_at_all_defers(server):
    async with opened(server, base_url="http://127.0.0.1:9/bot") as adapter:
        with pytest.raises(SendDeferred):
            await adapter.send(part())


@pytest.mark.parametrize("fault", [drop_before(), drop_after(), slow(5.0), not_json(status=200)])
async def test_silence_after_sending_is_unknown(server, fault):
    server.know(CHAT)
    server.fail("sendMessage", fault)

    async with opened(server, answer_timeout_s=0.2) as adapter:
        with pytest.raises(SendUnknown):
            await adapter.send(part())


async def test_a_chat_that_has_to_wait_does_not_hold_up_another(server):
    server.know(CHAT)
    server.know(private(Person(id=8, first_name="Ben")))
    slow_pace = Pace(every_s=30.0, burst=1)

    async with opened(server, direct_pace=slow_pace) as adapter, asyncio.TaskGroup() as tasks:
        first = tasks.create_task(adapter.send(part("1")))
        await first
        second = tasks.create_task(adapter.send(part("2")))
        await asyncio.wait_for(adapter.send(part(chat=place(8))), 2)
        second.cancel()

    assert [len(server.sent_now(7)), len(server.sent_now(8))] == [1, 1]


# -- typing -----------------------------------------------------------------------------------


async def test_typing_is_shown_again_and_again_until_the_context_ends(server):
    server.know(CHAT)

    async with opened(server, typing_every_s=0.02) as adapter:
        async with adapter.typing(place()):
            await server.until(lambda: len(server.called("sendChatAction")) >= 3)
        shown = len(server.called("sendChatAction"))
        await asyncio.sleep(0.1)

    assert len(server.called("sendChatAction")) <= shown + 1


async def test_typing_stops_and_lets_the_error_through_when_the_answer_fails(server):
    server.know(CHAT)

    async with opened(server, typing_every_s=0.02) as adapter:
        with pytest.raises(ZeroDivisionError):
            async with adapter.typing(place()):
                raise ZeroDivisionError
        shown = len(server.called("sendChatAction"))
        await asyncio.sleep(0.1)

    assert len(server.called("sendChatAction")) == shown


async def test_typing_stops_when_the_turn_is_cancelled(server):
    server.know(CHAT)

    async def turn(adapter):
        async with adapter.typing(place()):
            await asyncio.sleep(60)

    async with opened(server, typing_every_s=0.02) as adapter, asyncio.TaskGroup() as tasks:
        task = tasks.create_task(turn(adapter))
        await server.until(lambda: server.called("sendChatAction"))
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()


async def test_typing_that_cannot_be_shown_harms_nothing(server):
    server.fail("sendChatAction", blocked(), too_many(9), drop_before())

    async with opened(server, typing_every_s=0.01) as adapter, adapter.typing(place()):
        await server.until(lambda: len(server.called("sendChatAction")) >= 4)


async def test_an_edit_is_handed_in_and_confirmed_and_not_answered_again(server, intake):
    said = server.say(CHAT, ANN, "black tea")

    async with running(server, intake):
        await intake.taken()
        server.edit(CHAT, said, "綠茶")
        async with asyncio.timeout(5):
            while not intake.edits:
                await asyncio.sleep(0.01)
        await server.confirmed(1001)

    [edited] = intake.edits
    assert (edited.message, edited.text) == (str(said), "綠茶")
    assert len(intake.inbounds) == 1
