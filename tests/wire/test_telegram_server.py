import asyncio
import subprocess
import sys

import pytest
from telegram import Bot, ReplyParameters, Update
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
)

from tests.wire.telegram_server import BOT_ID, BOT_NAME, TOKEN, open_telegram_server
from tests.wire.telegram_values import (
    Person,
    bad_request,
    blocked,
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

ANN = Person(id=7, first_name="Ann", username="ann", language="en")
BEN = Person(id=8, first_name="Ben")
CHAT = private(ANN)


@pytest.fixture
async def server():
    async with open_telegram_server() as running:
        yield running


@pytest.fixture
async def bot(server):
    async with Bot(server.token, base_url=server.base_url) as client:
        yield client


async def test_the_real_client_logs_in_and_is_told_who_it_is(bot):
    me = await bot.get_me()

    assert (me.id, me.username, me.can_read_all_group_messages) == (BOT_ID, BOT_NAME, True)


@pytest.mark.parametrize("token", ["4242:wrong", "not-a-token"])
async def test_a_wrong_token_is_refused(server, token):
    client = Bot(token, base_url=server.base_url)

    with pytest.raises(InvalidToken):
        await client.initialize()
    await client.shutdown()


async def test_an_offset_confirms_everything_below_it_and_nothing_else(server, bot):
    for word in ("one", "two", "three"):
        server.say(CHAT, ANN, word)

    first = await bot.get_updates(limit=2)
    again = await bot.get_updates()
    rest = await bot.get_updates(offset=first[-1].update_id + 1)

    assert [u.message.text for u in first] == ["one", "two"]
    assert [u.message.text for u in again] == ["one", "two", "three"]
    assert [u.message.text for u in rest] == ["three"]
    assert server.offset == first[-1].update_id + 1


async def test_a_long_poll_returns_as_soon_as_somebody_speaks(server, bot):
    async with asyncio.TaskGroup() as group_:
        poll = group_.create_task(bot.get_updates(timeout=30))
        await server.until(lambda: server.called("getUpdates"))
        server.say(CHAT, ANN, "hi")

    assert [u.message.text for u in poll.result()] == ["hi"]


async def test_an_empty_long_poll_ends_after_its_timeout(bot):
    assert await bot.get_updates(timeout=1) == ()


async def test_a_second_poller_ends_the_first_with_409(server, bot):
    async with asyncio.TaskGroup() as group_:
        poll = group_.create_task(_outcome(bot.get_updates(timeout=30)))
        await server.until(lambda: server.called("getUpdates"))
        async with Bot(server.token, base_url=server.base_url) as second:
            await second.get_updates()

    assert isinstance(poll.result(), Conflict)


async def test_a_webhook_must_be_deleted_before_polling(server, bot):
    server.webhook = "https://elsewhere.example/hook"
    with pytest.raises(Conflict, match="webhook is active"):
        await bot.get_updates()

    await bot.delete_webhook()

    assert await bot.get_updates() == ()


async def test_allowed_updates_are_remembered_from_call_to_call(server, bot):
    await bot.get_updates(allowed_updates=["message"])
    await bot.get_updates()

    server.push(poll={"id": "1"})
    kept = server.say(CHAT, ANN, "hi")

    assert [u.message.message_id for u in await bot.get_updates()] == [kept]


async def test_ids_that_start_over_lower_are_not_lost_by_an_old_offset(server, bot):
    server.start_ids_at(500)
    server.say(CHAT, ANN, "after a quiet week")

    assert [u.update_id for u in await bot.get_updates(offset=9000)] == [500]


async def test_messages_of_every_kind_are_read_by_the_real_parser(server, bot):
    forum = supergroup(-1001, is_forum=True)
    said = server.say(group(-5), BEN, "😀 @kith_test_bot hi")
    server.say(group(-5), BEN, "yes", reply_to=said)
    server.say(forum, ANN, "/help@kith_test_bot now", topic=77)
    server.edit(group(-5), said, "changed")
    server.migrate(group(-5), -1005)

    updates = await bot.get_updates()

    assert updates[0].message.parse_entities() == {updates[0].message.entities[0]: "@kith_test_bot"}
    assert updates[1].message.reply_to_message.message_id == said
    assert (updates[2].message.message_thread_id, updates[2].message.is_topic_message) == (77, True)
    assert updates[2].message.entities[0].type == "bot_command"
    assert updates[3].edited_message.text == "changed"
    assert updates[4].message.migrate_to_chat_id == -1005
    assert updates[5].message.migrate_from_chat_id == -5


async def test_malformed_and_repeated_updates_are_delivered_as_they_are(server, bot):
    said = server.say(CHAT, ANN, "hi")
    server.repeat(1000)
    server.push(message={"broken": True})

    raw = await bot.do_api_request("GetUpdates")

    assert [u.get("message", {}).get("message_id") for u in raw] == [said, said, None]
    with pytest.raises(KeyError):
        Update.de_json(raw[2], bot)


async def test_what_the_bot_sends_is_kept_in_order_with_its_reply_and_topic(server, bot):
    forum = supergroup(-1001, is_forum=True)
    said = server.say(forum, ANN, "hi", topic=77)

    await bot.send_message(
        -1001, "one", message_thread_id=77, reply_parameters=ReplyParameters(said)
    )
    await bot.send_message(-1001, "<b>two</b> &amp; 😀<i>x</i>", parse_mode="HTML")

    one, two = await server.sent(forum, 2)
    assert (one.text, one.thread, one.reply_to) == ("one", 77, said)
    assert two.text == "two & 😀x"
    assert two.entities == [
        {"type": "bold", "offset": 0, "length": 3},
        {"type": "italic", "offset": 8, "length": 1},
    ]
    assert one.at_s <= two.at_s


async def test_the_limit_counts_utf16_units_after_the_entities_are_parsed(server, bot):
    server.know(CHAT)

    await bot.send_message(7, "<b>" + "a" * 4096 + "</b>", parse_mode="HTML")
    await bot.send_message(7, "😀" * 2048)

    with pytest.raises(BadRequest, match="Message is too long"):
        await bot.send_message(7, "😀" * 2049)
    assert len(server.sent_now(7)) == 2


@pytest.mark.parametrize("html", ["a < b", "<b>x", "<b>x</i>", "<div>x</div>", "x</b>"])
async def test_broken_html_is_refused(server, bot, html):
    server.know(CHAT)

    with pytest.raises(BadRequest, match="parse entities"):
        await bot.send_message(7, html, parse_mode="HTML")


async def test_refusals_have_the_words_of_the_real_thing(server, bot):
    server.know(CHAT)
    moved = group(-5)
    server.migrate(moved, -1005)
    server.close_chat(group(-6))

    refusals = {
        "chat not found": bot.send_message(999, "x"),
        "thread not found": bot.send_message(7, "x", message_thread_id=3),
        "replied not found": bot.send_message(7, "x", reply_parameters=ReplyParameters(55)),
        "text is empty": bot.send_message(7, " "),
        "to edit not found": bot.edit_message_text("x", chat_id=7, message_id=55),
    }
    for words, call in refusals.items():
        with pytest.raises(BadRequest, match=rf"(?i){words}"):
            await call
    with pytest.raises(ChatMigrated) as migrated:
        await bot.send_message(-5, "x")
    assert migrated.value.new_chat_id == -1005
    with pytest.raises(Forbidden, match="kicked"):
        await bot.send_message(-6, "x")


async def test_a_message_may_be_sent_without_the_reply_that_is_gone(server, bot):
    server.know(CHAT)

    await bot.send_message(
        7, "x", reply_parameters=ReplyParameters(55, allow_sending_without_reply=True)
    )

    assert server.sent_now(7)[0].reply_to is None


async def test_an_edit_changes_the_message_and_keeps_what_it_was(server, bot):
    server.know(CHAT)
    sent = await bot.send_message(7, "draft")

    await bot.edit_message_text("final", chat_id=7, message_id=sent.message_id)

    assert (server.sent_now(7)[0].text, server.sent_now(7)[0].edits) == ("final", ["draft"])
    with pytest.raises(BadRequest, match=r"(?i)not modified"):
        await bot.edit_message_text("final", chat_id=7, message_id=sent.message_id)


async def test_the_small_methods_answer_the_real_client(server, bot):
    server.know(CHAT)
    await bot.set_my_commands([("help", "show help")], language_code="zh")

    assert [c.command for c in await bot.get_my_commands(language_code="zh")] == ["help"]
    assert await bot.get_my_commands() == ()
    assert await bot.send_chat_action(7, "typing")
    assert (await bot.get_chat(7)).type == "private"
    assert (await bot.get_chat_member(7, 7)).status == "member"


async def test_faults_hit_the_next_calls_one_each_in_order(server, bot):
    server.know(CHAT)
    server.fail("sendMessage", too_many(3), server_error(), not_json(), blocked())
    server.fail("sendMessage", bad_request("whatever"), drop_before(), drop_after(), slow(0.01))

    outcomes = [await _outcome(bot.send_message(7, f"{n}")) for n in range(8)]

    kinds = [RetryAfter, NetworkError, NetworkError, Forbidden, BadRequest] + [NetworkError] * 2
    assert [type(outcome) for outcome in outcomes[:7]] == kinds
    assert [sent.text for sent in server.sent_now(7)] == ["6", "7"]


async def test_a_fault_may_be_meant_for_one_chat(server, bot):
    server.know(CHAT)
    server.know(private(BEN))
    server.fail("sendMessage", blocked(chat=8))

    await bot.send_message(7, "fine")

    with pytest.raises(Forbidden):
        await bot.send_message(8, "not fine")


async def test_waiting_for_what_never_comes_says_what_came(server):
    with pytest.raises(AssertionError, match="2 messages in 7"):
        await server.sent(7, 2, timeout_s=0.05)


async def test_a_client_in_another_process_is_served_too(server):
    server.say(CHAT, ANN, "hi")
    code = (
        "import asyncio, sys\n"
        "from telegram import Bot\n"
        "async def main():\n"
        "    async with Bot(sys.argv[1], base_url=sys.argv[2]) as bot:\n"
        "        [update] = await bot.get_updates()\n"
        "        await bot.send_message(update.message.chat_id, update.message.text + '!')\n"
        "asyncio.run(main())\n"
    )

    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, TOKEN, server.base_url, stderr=subprocess.DEVNULL
    )

    assert await process.wait() == 0
    assert (await server.sent(7, 1))[0].text == "hi!"


async def _outcome(call):
    try:
        return await call
    except NetworkError as error:
        return error
    except (Conflict, RetryAfter, Forbidden) as error:
        return error
