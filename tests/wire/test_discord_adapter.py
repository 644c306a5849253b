"""The adapter over the real client library against the loopback Discord."""

import asyncio
import time
from contextlib import asynccontextmanager, suppress

import pytest
import structlog

from adapters.discord import typist
from adapters.discord.adapter import open_discord
from adapters.discord.check import check
from adapters.discord.options import DISCORD, DiscordOptions
from bot.errors import AdapterError, LoginRefused, SendDeferred, SendRefused, SendUnknown
from bot.ports import (
    ChatKind,
    CommandAnswer,
    CommandGroup,
    CommandOption,
    CommandSpec,
    OptionKind,
    Outbound,
    Secret,
)
from memory.errors import StoreError
from tests.fakes import FakeClock, FakeCommandRunner, FakeIntake
from tests.wire.discord_server import discord_server
from tests.wire.discord_world import snowflake

ADMIN = CommandGroup(name="admin", descriptions={"en": "For admins", "zh-TW": "管理員專用"})
SPECS = (
    CommandSpec(name="help", descriptions={"en": "What I can do", "zh-TW": "我會做什麼"}),
    CommandSpec(
        name="whoami",
        descriptions={"en": "Who you are to me", "zh-TW": "我眼中的你"},
        private=True,
    ),
    CommandSpec(
        name="reset",
        group=ADMIN,
        admin_only=True,
        in_direct=False,
        descriptions={"en": "Reset a session"},
        options=(
            CommandOption(name="target", descriptions={"en": "Which"}, required=True),
            CommandOption(name="all", descriptions={"en": "Everything"}, kind=OptionKind.FLAG),
            CommandOption(
                name="how", descriptions={"en": "How", "zh-TW": "方式"}, choices=("soft", "hard")
            ),
        ),
    ),
)


@pytest.fixture
async def server():
    async with discord_server() as server:
        yield server


@pytest.fixture
def intake():
    return FakeIntake()


@pytest.fixture
def door():
    return FakeCommandRunner()


def options(server, **changes):
    defaults = {
        "token": Secret(server.token),
        "api_url": server.api_url,
        "guild_ready_timeout_s": 0.05,
        "identify_pause_s": 0.0,
    }
    return DiscordOptions(**(defaults | changes))


class Running:
    """An adapter that runs, and how often Discord has let it in."""

    def __init__(self, adapter):
        self.adapter = adapter
        self.let_in = asyncio.Semaphore(0)

    async def ready(self):
        async with asyncio.timeout(5):
            await self.let_in.acquire()


def opened(server, intake, door=None, specs=(), **changes):
    clock = FakeClock(time.time_ns())
    return open_discord(
        options(server, **changes),
        intake=intake,
        commands=door or FakeCommandRunner(),
        specs=specs,
        clock=clock,
    )


@asynccontextmanager
async def running(server, intake, door=None, specs=(), **changes):
    async with opened(server, intake, door, specs, **changes) as adapter:
        life = Running(adapter)
        task = asyncio.create_task(adapter.run(life.let_in.release))
        try:
            await life.ready()
            yield life
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def part(chat, text="hello", *, reply_to=None, nonce="row-1"):
    return Outbound(chat=chat, text=text, reply_to=reply_to, nonce=nonce)


# --- receiving


async def test_a_direct_message_is_taken_in(server, intake):
    mia = server.user("Mia")

    async with running(server, intake):
        message = server.dm(mia, "你好")
        [inbound] = await intake.taken()

    assert inbound.text == "你好"
    assert inbound.addressed
    assert (inbound.author.person, inbound.author.name) == (f"discord:{mia.id}", "Mia")
    assert (inbound.chat.platform, inbound.chat.bot) == (DISCORD, server.bot.id)
    assert inbound.chat.kind is ChatKind.DIRECT
    assert inbound.chat.chat == message["channel_id"]
    positions = await intake.positions(DISCORD, server.bot.id)
    assert positions[message["channel_id"]] == message["id"]


async def test_a_mention_in_a_channel_is_taken_in_without_the_mention(server, intake):
    mia = server.user("Mia")
    garden = server.guild("Garden", members=[mia])
    role = garden.role("gardener")
    server.join(garden, mia, roles=[role])
    general = garden.channel("general")

    async with running(server, intake):
        server.say(general, mia, "nobody is asked")
        server.say(general, mia, f"hey {server.bot.mention} what blooms?")
        [inbound] = await intake.taken()

    assert inbound.text == "hey what blooms?"
    assert inbound.author.roles == (role,)
    assert (inbound.chat.chat, inbound.chat.guild) == (general.id, garden.id)
    assert (inbound.chat.kind, inbound.chat.title) == (ChatKind.GROUP, "general")


async def test_a_mention_of_the_bots_own_role_is_a_mention(server, intake):
    mia = server.user("Mia")
    garden = server.guild("Garden", members=[mia])

    async with running(server, intake):
        server.say(garden.channel("general"), mia, f"<@&{garden.bot_role}> 開花了嗎？")
        [inbound] = await intake.taken()

    assert inbound.text == "開花了嗎？"


async def test_a_reply_to_the_bot_is_addressed_without_a_mention(server, intake):
    mia = server.user("Mia")
    general = server.guild("Garden", members=[mia]).channel("general")

    async with running(server, intake):
        ours = server.world.message(general, server.bot, "It rains.")
        theirs = server.world.message(general, server.user("Ben"), "It does not.")
        server.say(general, mia, "not for you", reply_to=theirs)
        server.say(general, mia, "really?", reply_to=ours)
        [inbound] = await intake.taken()

    assert (inbound.text, inbound.reply_to) == ("really?", ours["id"])


async def test_a_thread_and_a_forum_post_carry_their_parent(server, intake):
    mia = server.user("Mia")
    garden = server.guild("Garden", members=[mia])
    forum = server.forum(garden, "questions")

    async with running(server, intake):
        thread = server.thread(garden.channel("general"), "roses")
        server.say(thread, mia, "in a thread", mentions=[server.bot])
        post, _ = server.post(forum, "When to sow?", mia, "a post", mentions=[server.bot])
        first, second = await intake.taken(2)

    assert (first.chat.chat, first.chat.parent) == (thread.id, garden.channel("general").id)
    assert (second.chat.chat, second.chat.parent, second.message) == (post.id, forum.id, post.id)
    assert (second.chat.title, second.chat.guild) == ("When to sow?", garden.id)


async def test_a_thread_that_discord_never_listed_is_looked_up(server, intake):
    mia = server.user("Mia")
    garden = server.guild("Garden", members=[mia])

    async with running(server, intake):
        asleep = server.thread(garden.channel("general"), "old roses", archived=True)
        server.gateway.dispatch("THREAD_DELETE", asleep.payload())
        server.say(asleep, mia, "still there?", mentions=[server.bot])
        [inbound] = await intake.taken()

    assert inbound.chat.parent == garden.channel("general").id


async def test_bots_webhooks_and_notices_are_not_heard(server, intake):
    mia, robot = server.user("Mia"), server.user("Robot", bot=True)
    general = server.guild("Garden", members=[mia]).channel("general")

    async with running(server, intake):
        server.say(general, robot, "I am a bot", mentions=[server.bot])
        server.say(general, mia, "hooked", mentions=[server.bot], webhook_id="123456789012345678")
        server.say(general, mia, "joined", mentions=[server.bot], type=7)
        server.say(general, mia, "last", mentions=[server.bot])
        inbounds = await intake.taken()

    assert [inbound.text for inbound in inbounds] == ["last"]


async def test_chatter_is_handed_in_only_where_the_operator_wants_it(server, intake):
    mia = server.user("Mia")
    general = server.guild("Garden", members=[mia]).channel("general")

    async with running(server, intake, chatter=True):
        server.say(general, mia, "between us")
        [inbound] = await intake.taken()

    assert (inbound.text, inbound.addressed) == ("between us", False)


# --- losing and finding the connection


async def test_what_a_resume_replays_twice_is_taken_once_and_in_order(server, intake):
    mia = server.user("Mia")

    async with running(server, intake) as life:
        server.dm(mia, "one")
        await intake.taken()
        server.gateway.rewind = 1
        server.gateway.kill()
        server.dm(mia, "two")
        server.dm(mia, "three")
        inbounds = await intake.taken(3)
        await life.ready()

    assert [inbound.text for inbound in inbounds] == ["one", "two", "three"]
    assert (server.gateway.identifies, server.gateway.resumes) == (1, 1)


async def test_a_lost_session_is_caught_up_from_the_history(server, intake):
    mia = server.user("Mia")

    async with running(server, intake) as life:
        server.dm(mia, "one")
        await intake.taken()
        server.gateway.forget()
        server.gateway.kill()
        server.dm(mia, "two")
        inbounds = await intake.taken(2)
        await life.ready()
        server.dm(mia, "three")
        inbounds = await intake.taken(3)

    assert [inbound.text for inbound in inbounds] == ["one", "two", "three"]
    assert server.gateway.identifies == 2


async def test_messages_of_the_downtime_are_caught_up_oldest_first(server, intake):
    mia = server.user("Mia")
    garden = server.guild("Garden", members=[mia])
    role = garden.role("gardener")
    server.join(garden, mia, roles=[role])
    general, quiet = garden.channel("general"), server.channel(garden, "quiet")
    async with running(server, intake):
        server.dm(mia, "direct 0")
        server.say(general, mia, "channel 0", mentions=[server.bot])
        await intake.taken(2)

    for number in (1, 2):
        server.dm(mia, f"direct {number}")
        server.say(general, mia, f"channel {number}", mentions=[server.bot])
    server.say(general, mia, "between us")
    server.say(quiet, mia, "first words here", mentions=[server.bot])
    async with running(server, intake):
        server.dm(mia, "direct 3")
        inbounds = await intake.taken(8)

    directs = [i.text for i in inbounds if i.chat.kind is ChatKind.DIRECT]
    channels = [i for i in inbounds if i.chat.chat == general.id]
    assert directs == ["direct 0", "direct 1", "direct 2", "direct 3"]
    assert [i.text for i in channels] == ["channel 0", "channel 1", "channel 2"]
    assert {i.author.roles for i in channels} == {(role,)}
    assert [i.text for i in inbounds if i.chat.chat == quiet.id] == ["first words here"]


async def test_catching_up_leaves_alone_what_is_too_old(server, intake):
    mia = server.user("Mia")
    async with running(server, intake):
        server.dm(mia, "known", age_s=10_000)
        await intake.taken()

    server.dm(mia, "too old", age_s=5_000)
    server.dm(mia, "new")
    async with running(server, intake, catch_up_age_s=3_600):
        inbounds = await intake.taken(2)

    assert [i.text for i in inbounds] == ["known", "new"]


async def test_catching_up_keeps_the_newest_where_there_is_too_much(server, intake):
    mia = server.user("Mia")
    async with running(server, intake):
        server.dm(mia, "known", age_s=60)
        await intake.taken()

    for number in range(5):
        server.dm(mia, f"new {number}")
    async with running(server, intake, catch_up_limit=3):
        inbounds = await intake.taken(4)

    assert [i.text for i in inbounds] == ["known", "new 2", "new 3", "new 4"]


async def test_live_messages_wait_until_the_missed_ones_are_in(server, intake):
    mia = server.user("Mia")
    async with running(server, intake) as life:
        server.dm(mia, "one")
        await intake.taken()

        held = server.rest.hold("GET", "/messages$")
        server.gateway.forget()
        server.gateway.kill()
        server.dm(mia, "two")
        await life.ready()
        server.dm(mia, "three")
        await asyncio.sleep(0.1)
        assert len(intake.inbounds) == 1
        held.set()
        inbounds = await intake.taken(3)

    assert [i.text for i in inbounds] == ["one", "two", "three"]


async def test_a_second_lost_session_is_caught_up_before_live_messages_too(server, intake):
    mia = server.user("Mia")
    async with running(server, intake) as life:
        server.dm(mia, "one")
        await intake.taken()
        first, second = (server.rest.hold("GET", "/messages$") for _ in range(2))
        for _ in range(2):
            server.gateway.forget()
            server.gateway.kill()
            await life.ready()

        first.set()
        server.dm(server.user("Ben"), "live")
        await asyncio.sleep(0.1)
        assert len(intake.inbounds) == 1
        second.set()
        inbounds = await intake.taken(2)

    assert [i.text for i in inbounds] == ["one", "live"]


async def test_a_redelivered_message_does_not_move_the_position_back(server, intake):
    mia = server.user("Mia")

    async with running(server, intake):
        old, new = server.dm(mia, "old"), server.dm(mia, "new")
        await intake.taken(2)
        server.redeliver(old)
        server.dm(server.user("Ben"), "marker")
        await intake.taken(3)

    positions = await intake.positions(DISCORD, server.bot.id)
    assert positions[new["channel_id"]] == new["id"]


async def test_what_overtook_each_other_before_a_crash_is_read_again_and_taken_once(server, intake):
    mia = server.user("Mia")
    early = snowflake()
    async with running(server, intake):
        server.dm(mia, "second")
        await intake.taken()

    server.world.message(server.world.direct(mia), mia, "first", id_=early)
    server.dm(mia, "third")
    async with running(server, intake):
        inbounds = await intake.taken(3)

    assert [i.text for i in inbounds] == ["second", "first", "third"]


async def test_what_was_read_back_is_not_read_again(server, intake):
    mia = server.user("Mia")
    general = server.guild("Garden", members=[mia]).channel("general")
    async with running(server, intake):
        server.say(general, mia, "hello", mentions=[server.bot])
        await intake.taken()
    server.say(general, mia, "between us")

    for number in (2, 3):
        async with running(server, intake):
            server.dm(mia, "live")
            await intake.taken(number)

    assert server.rest.count("GET", f"/channels/{general.id}/messages$") == 1


async def test_channels_without_news_are_not_asked(server, intake):
    mia = server.user("Mia")
    general = server.guild("Garden", members=[mia]).channel("general")
    async with running(server, intake):
        server.say(general, mia, "hello", mentions=[server.bot])
        await intake.taken()

    async with running(server, intake):
        server.dm(mia, "live")
        await intake.taken(2)

    assert server.rest.count("GET", f"/channels/{general.id}") == 0


async def test_a_full_disk_ends_the_run_and_the_next_run_takes_the_message(server, intake):
    mia = server.user("Mia")
    async with running(server, intake):
        server.dm(mia, "one")
        await intake.taken()

    async with opened(server, intake) as adapter:
        life = Running(adapter)
        task = asyncio.create_task(adapter.run(life.let_in.release))
        await life.ready()
        intake.failures = 1
        server.dm(mia, "two")
        with pytest.raises(AdapterError) as failed:
            await task
        # The chain is: our error, the task group, the store's error.
        assert isinstance(failed.value.__cause__.exceptions[0].exceptions[0], StoreError)

    async with running(server, intake):
        inbounds = await intake.taken(2)

    assert [i.text for i in inbounds] == ["one", "two"]


async def test_a_malformed_event_ends_the_run_and_loses_nothing(server, intake):
    mia = server.user("Mia")
    async with running(server, intake):
        server.dm(mia, "one")
        await intake.taken()
    async with opened(server, intake) as adapter:
        life = Running(adapter)
        task = asyncio.create_task(adapter.run(life.let_in.release))
        await life.ready()
        server.malformed(server.world.direct(mia))
        server.dm(mia, "two")
        with pytest.raises(AdapterError):
            await task

    async with running(server, intake):
        inbounds = await intake.taken(2)

    assert [i.text for i in inbounds] == ["one", "two"]


class SlowIntake(FakeIntake):
    """One whose disk takes its time."""

    async def accept(self, inbounds, **more):
        await asyncio.sleep(0.2)
        await super().accept(inbounds, **more)


async def ended_by_a_malformed_event(server, intake, say, *, after_s=0.0):
    async with opened(server, intake) as adapter:
        life = Running(adapter)
        task = asyncio.create_task(adapter.run(life.let_in.release))
        await life.ready()
        await asyncio.sleep(after_s)
        say()
        server.malformed(server.world.direct(server.user("Eve")))
        with pytest.raises(AdapterError):
            await task


async def test_a_malformed_event_loses_nothing_of_people_who_never_wrote_before(server):
    """Discord lists no direct chats: what is not handed in now is never found again."""
    intake = SlowIntake()
    mia, ben = server.user("Mia"), server.user("Ben")

    def say():
        server.dm(mia, "one")
        server.dm(ben, "two")
        server.dm(mia, "three")

    await ended_by_a_malformed_event(server, intake, say, after_s=0.1)

    assert [i.text for i in intake.inbounds] == ["one", "two", "three"]


async def test_a_malformed_event_while_catching_up_loses_no_message_and_no_order(server, intake):
    mia, ben = server.user("Mia"), server.user("Ben")
    async with running(server, intake):
        server.dm(mia, "one")
        await intake.taken()
    server.dm(mia, "two")
    held = server.rest.hold("GET", "/messages$")

    def say():
        server.dm(mia, "three")
        server.dm(ben, "new here")

    await ended_by_a_malformed_event(server, intake, say)
    assert [i.text for i in intake.inbounds] == ["one", "new here"]
    held.set()

    async with running(server, intake):
        inbounds = await intake.taken(4)

    assert [i.text for i in inbounds] == ["one", "new here", "two", "three"]


async def test_a_silent_gateway_is_left_for_a_new_connection(server, intake):
    server.gateway.heartbeat_ms = 100

    async with running(server, intake, heartbeat_timeout_s=0.5) as life:
        server.gateway.silent = True
        await life.ready()

    assert server.gateway.resumes >= 1


async def test_a_bad_token_is_refused_with_the_fix_and_without_the_token(server, intake):
    async with opened(server, intake, token=Secret("wrong-token-value")) as adapter:
        with pytest.raises(LoginRefused, match="Reset Token") as refused:
            await adapter.run(lambda: None)

    assert "wrong-token-value" not in f"{refused.value!r}{refused.value.__cause__!r}"


async def test_a_missing_intent_is_refused_with_the_fix(server, intake):
    server.gateway.content_allowed = False

    async with opened(server, intake) as adapter:
        with pytest.raises(LoginRefused, match="Message Content Intent"):
            await adapter.run(lambda: None)


async def test_a_token_revoked_while_running_is_refused(server, intake):
    async with opened(server, intake) as adapter:
        life = Running(adapter)
        task = asyncio.create_task(adapter.run(life.let_in.release))
        await life.ready()
        server.gateway.close(4004)
        with pytest.raises(LoginRefused):
            await task


async def test_a_check_tells_name_intent_and_invitation(server, intake):
    async with opened(server, intake):
        before = await check(options(server))
        server.gateway.content_allowed = False
        after = await check(options(server))

    assert (before.id, before.name) == (server.bot.id, "Kith")
    assert (before.reads_messages, after.reads_messages) == (True, False)
    assert f"client_id={server.bot.id}" in before.invite_url
    assert "bot+applications.commands" in before.invite_url


async def test_a_check_with_a_bad_token_is_refused(server, intake):
    async with opened(server, intake):
        with pytest.raises(LoginRefused, match="Reset Token"):
            await check(options(server, token=Secret("wrong")))


async def test_an_api_that_is_down_asks_for_another_try(server, intake):
    async with opened(server, intake, api_url="http://127.0.0.1:9/api/v10") as adapter:
        with pytest.raises(AdapterError) as failed:
            await adapter.run(lambda: None)

    assert not isinstance(failed.value, LoginRefused)


async def test_no_text_is_logged(server, intake):
    mia = server.user("Mia")

    with structlog.testing.capture_logs() as lines:
        async with running(server, intake):
            server.dm(mia, "密語 xyzzy")
            await intake.taken()

    assert lines
    assert "xyzzy" not in str(lines)


# --- sending


@pytest.fixture
async def place(server, intake):
    """A running adapter with a message in a channel to answer."""
    mia = server.user("Mia")
    general = server.guild("Garden", members=[mia]).channel("general")
    async with running(server, intake) as life:
        question = server.say(general, mia, "hello", mentions=[server.bot])
        [inbound] = await intake.taken()
        life.chat, life.channel, life.question = inbound.chat, general, question
        life.mia = mia
        yield life


async def test_a_reply_refers_to_its_message_and_notifies_only_who_asked(server, place):
    text = f"@everyone @here {place.mia.mention} <@&{place.channel.guild.bot_role}> 嗨"

    id_ = await place.adapter.send(part(place.chat, text, reply_to=place.question["id"]))

    [sent] = server.posted(place.channel)
    assert (sent["id"], sent["content"]) == (id_, text)
    assert sent["message_reference"]["message_id"] == place.question["id"]
    assert sent["pings"] == [place.mia.id]
    [request] = [r for r in server.rest.requests if r.path.endswith("/messages")]
    assert request.body["allowed_mentions"] == {"parse": [], "replied_user": True}
    assert (request.body["nonce"], request.body["enforce_nonce"]) == ("row-1", True)


async def test_a_reply_to_a_deleted_message_is_sent_all_the_same(server, place):
    server.delete(place.question)

    await place.adapter.send(part(place.chat, reply_to=place.question["id"]))

    assert [m["content"] for m in server.posted(place.channel)] == ["hello"]


async def test_the_same_part_sent_again_is_one_message(server, place):
    first = await place.adapter.send(part(place.chat))
    again = await place.adapter.send(part(place.chat))

    assert first == again
    assert len(server.posted(place.channel)) == 1


async def test_a_long_reply_is_split_so_that_every_part_is_taken(server, place):
    text = "這是一個很長的句子，說了又說。" * 300 + "\n```python\n" + "x = 1\n" * 800 + "```"

    parts = place.adapter.split(text)
    for number, piece in enumerate(parts):
        await place.adapter.send(part(place.chat, piece, nonce=f"row-{number}"))

    assert len(parts) >= 4
    assert [m["content"] for m in server.posted(place.channel)] == parts


async def test_a_rate_limit_is_waited_out(server, place):
    server.rest.limit("POST", "/messages$", retry_after_s=0.1)

    await place.adapter.send(part(place.chat))

    assert len(server.posted(place.channel)) == 1


async def test_a_long_rate_limit_is_handed_back(server, place):
    server.rest.limit("POST", "/messages$", retry_after_s=90)

    with pytest.raises(SendDeferred) as deferred:
        await place.adapter.send(part(place.chat))

    assert deferred.value.retry_after_s == 90
    assert server.posted(place.channel) == []


async def test_a_server_error_is_tried_again(server, place):
    server.rest.fail("POST", "/messages$", status=500)

    await place.adapter.send(part(place.chat))

    assert len(server.posted(place.channel)) == 1


async def test_a_connection_cut_before_the_answer_leaves_it_unknown(server, place):
    server.rest.drop("POST", "/messages$", late=True)

    with pytest.raises(SendUnknown):
        await place.adapter.send(part(place.chat))
    await place.adapter.send(part(place.chat))

    assert len(server.posted(place.channel)) == 1


@pytest.mark.parametrize("change", ["forbidden", "locked", "gone"])
async def test_what_will_never_arrive_is_refused(server, place, change):
    if change == "gone":
        del server.world.channels[place.channel.id]
    elif change == "locked":
        place.channel.archived = place.channel.locked = True
    else:
        place.channel.forbidden = True

    with pytest.raises(SendRefused) as refused:
        await place.adapter.send(part(place.chat, "private words"))

    assert "private words" not in str(refused.value)


async def test_a_person_who_takes_no_messages_is_refused(server, intake):
    mia = server.user("Mia")
    async with running(server, intake) as life:
        server.dm(mia, "hello")
        [inbound] = await intake.taken()
        mia.closed = True

        with pytest.raises(SendRefused):
            await life.adapter.send(part(inbound.chat))


async def test_sending_waits_while_there_is_no_connection(server, intake):
    async with running(server, intake) as life:
        server.dm(server.user("Mia"), "hello")
        [inbound] = await intake.taken()

    with pytest.raises(SendDeferred):
        await life.adapter.send(part(inbound.chat))


async def test_typing_is_shown_again_and_again_and_stops_with_the_answer(
    server, place, monkeypatch
):
    monkeypatch.setattr(typist, "REPEAT_S", 0.05)

    async with place.adapter.typing(place.chat):
        await asyncio.sleep(0.3)
    shown = server.rest.typed()[place.channel.id]
    await asyncio.sleep(0.15)

    assert shown >= 3
    assert server.rest.typed()[place.channel.id] == shown


async def test_typing_that_fails_or_hangs_does_not_disturb_the_answer(server, place, monkeypatch):
    monkeypatch.setattr(typist, "REPEAT_S", 0.02)
    monkeypatch.setattr(typist, "LONGEST_S", 0.1)

    async with place.adapter.typing(place.chat):
        await asyncio.sleep(0.3)
        assert server.rest.typed()[place.channel.id] <= 5
    place.channel.forbidden = True
    with pytest.raises(ZeroDivisionError):
        async with place.adapter.typing(place.chat):
            await asyncio.sleep(0.05)
            raise ZeroDivisionError
    place.channel.forbidden = False

    await place.adapter.send(part(place.chat))


# --- slash commands


async def test_commands_are_published_once_and_again_only_when_they_change(server, intake):
    for _ in range(2):
        async with running(server, intake, specs=SPECS) as life:
            server.gateway.forget()
            server.gateway.kill()
            await life.ready()
    assert server.rest.count("PUT", "/commands$") == 1

    async with running(server, intake, specs=SPECS[:2]):
        pass

    assert server.rest.count("PUT", "/commands$") == 2
    assert sorted(c["name"] for c in server.rest.commands) == ["help", "whoami"]


async def test_published_commands_carry_both_languages_and_their_places(server, intake):
    async with running(server, intake, specs=SPECS):
        by_name = {c["name"]: c for c in server.rest.commands}

    help_, admin = by_name["help"], by_name["admin"]
    assert help_["description"] == "What I can do"
    assert help_["description_localizations"]["zh-TW"] == "我會做什麼"
    assert help_["contexts"] == [0, 1]
    assert admin["contexts"] == [0]
    assert admin["default_member_permissions"] == 1 << 5
    [reset] = admin["options"]
    target, *others = reset["options"]
    assert (target["name"], target["required"], target["type"]) == ("target", True, 3)
    flags = {o["name"]: (o["required"], o["type"]) for o in others}
    assert flags == {"all": (False, 5), "how": (False, 3)}
    [how] = [o for o in others if o["name"] == "how"]
    assert [c["value"] for c in how["choices"]] == ["soft", "hard"]
    assert how["description_localizations"]["zh-TW"] == "方式"


async def test_refused_commands_do_not_keep_the_bot_away_and_are_tried_again(server, intake):
    server.rest.fail("PUT", "/commands$", status=403, code=50001, message="Missing Access")
    async with running(server, intake, specs=SPECS):
        assert server.rest.commands == []

    async with running(server, intake, specs=SPECS):
        assert len(server.rest.commands) == 3


class SlowDoor(FakeCommandRunner):
    """Notes when it was asked, and answers when allowed to."""

    def __init__(self, answer=None):
        super().__init__(answer)
        self.asked_at_s = 0.0
        self.go = asyncio.Event()

    async def run(self, call):
        self.asked_at_s = time.monotonic()
        await self.go.wait()
        return await super().run(call)


async def test_a_command_is_acknowledged_before_it_runs(server, intake):
    mia, door = server.user("Mia"), SlowDoor()
    general = server.guild("Garden", members=[mia]).channel("general")

    async with running(server, intake, door, SPECS):
        used = server.interaction(mia, "help", channel=general, language="zh-TW")
        await used.acknowledged.wait()
        assert used.replies == []
        door.go.set()
        assert await used.texts() == ["done: help"]

    [call] = door.calls
    assert used.called_back_at_s < door.asked_at_s
    assert (call.author.person, call.author.language) == (f"discord:{mia.id}", "zh-TW")
    assert (call.chat.chat, call.chat.guild) == (general.id, general.guild.id)
    assert not used.ephemeral


async def test_a_private_command_answers_for_one_pair_of_eyes(server, intake, door):
    mia = server.user("Mia")
    general = server.guild("Garden", members=[mia]).channel("general")

    async with running(server, intake, door, SPECS):
        used = server.interaction(mia, "whoami", channel=general)
        await used.texts()

    assert used.ephemeral
    assert server.posted(general) == []


async def test_an_answer_that_turns_out_private_is_not_shown_to_all(server, intake):
    door = FakeCommandRunner(lambda call: CommandAnswer(text="secret", private=True))
    mia = server.user("Mia")
    general = server.guild("Garden", members=[mia]).channel("general")

    async with running(server, intake, door, SPECS):
        used = server.interaction(mia, "help", channel=general)
        assert await used.texts() == ["secret"]

    assert server.posted(general) == []


async def test_a_group_command_gives_its_options_as_strings(server, intake, door):
    mia = server.user("Mia")
    general = server.guild("Garden", members=[mia]).channel("general")
    given = {"target": "discord:1", "all": True}

    async with running(server, intake, door, SPECS):
        used = server.interaction(mia, "admin reset", given, channel=general)
        await used.texts()

    [call] = door.calls
    assert call.name == "admin reset"
    assert call.arguments == {"target": "discord:1", "all": "true"}


async def test_a_long_answer_is_followed_up_in_parts_that_notify_nobody(server, intake):
    text = "@everyone " + "長長的說明。" * 500
    door = FakeCommandRunner(lambda call: CommandAnswer(text=text))
    mia = server.user("Mia")
    general = server.guild("Garden", members=[mia]).channel("general")

    async with running(server, intake, door, SPECS):
        used = server.interaction(mia, "help", channel=general)
        texts = await used.texts(2)

    assert "".join(texts) == text
    assert all(m["pings"] == [] for m in server.posted(general))


async def test_an_interaction_replayed_after_a_lost_connection_runs_once(server, intake, door):
    mia = server.user("Mia")

    async with running(server, intake, door, SPECS):
        used = server.interaction(mia, "help")
        await used.texts()
        server.gateway.dispatch("INTERACTION_CREATE", used.payload)
        other = server.interaction(mia, "whoami")
        await other.texts()

    assert [call.name for call in door.calls] == ["help", "whoami"]


@pytest.mark.parametrize("error", [StoreError("disk"), ZeroDivisionError("bug")])
async def test_a_failing_command_is_answered_plainly(server, intake, error):
    def answer(call):
        raise error

    mia = server.user("Mia")

    async with running(server, intake, FakeCommandRunner(answer), SPECS):
        used = server.interaction(mia, "help", language="zh-TW")

        assert await used.texts() == ["這個指令出了問題，請稍後再試。"]


async def test_a_command_that_is_no_longer_there_is_answered_plainly(server, intake, door):
    async with running(server, intake, door, SPECS):
        used = server.interaction(server.user("Mia"), "gone")

        assert await used.texts() == [
            "Something went wrong with this command. Please try again later."
        ]
    assert used.ephemeral


async def test_an_answer_after_the_token_expired_goes_to_the_channel(server, intake):
    mia, door = server.user("Mia"), SlowDoor()
    general = server.guild("Garden", members=[mia]).channel("general")

    async with running(server, intake, door, SPECS):
        used = server.interaction(mia, "help", channel=general)
        await used.acknowledged.wait()
        used.expired = True
        door.go.set()
        [sent] = await server.sent(general, 1)

    assert sent["content"] == "done: help"


async def test_a_private_answer_after_the_token_expired_goes_to_the_person(server, intake):
    mia, door = server.user("Mia"), SlowDoor()
    general = server.guild("Garden", members=[mia]).channel("general")

    async with running(server, intake, door, SPECS):
        used = server.interaction(mia, "whoami", channel=general)
        await used.acknowledged.wait()
        used.expired = True
        door.go.set()
        [sent] = await server.sent(server.world.direct(mia), 1)

    assert sent["content"] == "done: whoami"
    assert server.posted(general) == []


async def corrected(made, n=1):
    """What was handed in, as soon as there are `n`."""
    async with asyncio.timeout(5):
        while len(made) < n:
            await asyncio.sleep(0.01)
    return made


async def test_an_edit_is_handed_in_also_when_it_no_longer_speaks_to_the_bot(server, intake):
    ann = server.user("Ann")
    channel = server.guild("Garden", members=[ann]).channel("general")
    async with running(server, intake):
        said = server.say(channel, ann, "black tea", mentions=[server.bot])
        await intake.taken()
        server.edit(said, "綠茶")

        [edited] = await corrected(intake.edits)

    assert (edited.message, edited.text) == (said["id"], "綠茶")
    assert len(intake.inbounds) == 1


async def test_a_preview_that_discord_adds_is_no_edit(server, intake):
    ann = server.user("Ann")
    async with running(server, intake):
        said = server.dm(ann, "look")
        server.gateway.deliver(said, "MESSAGE_UPDATE")
        server.dm(ann, "next")
        await intake.taken(2)

    assert intake.edits == []


async def test_deletions_are_handed_in_with_their_place(server, intake):
    ann = server.user("Ann")
    channel = server.guild("Garden", members=[ann]).channel("general")
    async with running(server, intake):
        said = [server.say(channel, ann, "x", mentions=[server.bot]) for _ in range(3)]
        direct = server.dm(ann, "y")
        await intake.taken(4)
        server.delete(said[0])
        server.delete(*said[1:])
        server.delete(direct)

        found = await corrected(intake.deletions, 3)

    assert [messages for _, messages in found] == [
        (said[0]["id"],),
        (said[1]["id"], said[2]["id"]),
        (direct["id"],),
    ]
    assert [chat.kind for chat, _ in found] == [ChatKind.GROUP, ChatKind.GROUP, ChatKind.DIRECT]
    assert found[0][0].chat == channel.id
