import asyncio
from dataclasses import replace

import pytest

from adapters.telegram.options import TELEGRAM
from bot.access.access import Access
from bot.config.access_settings import AccessSettings, IdLists
from bot.delivery.answers import Claim
from bot.delivery.intake import ATTEMPTS, HELD_CLAIMS
from bot.ports import ChatKind, Position, Quarantined
from bot.turn.turns import TurnEngine
from memory.errors import ModelTimedOut, StoreError
from memory.values import Mode
from tests.bot.stack import direct, echo, group, open_stack, said, until
from tests.fakes import FakeAdapter, FakeChatModel, FakeClock

SECRET = "槐樹下的暗號 swordfish"
POOLS = AccessSettings(allow=IdLists(users=("*",)), mode=Mode.POOLS)


def bytes_under(directory):
    return b"".join(path.read_bytes() for path in directory.rglob("*") if path.is_file())


async def forever(_request):
    await asyncio.Event().wait()


async def test_a_message_is_answered_and_its_text_leaves_the_inbox_and_the_outbox(tmp_path):
    async with open_stack(tmp_path) as stack:
        await stack.intake.accept([said("hello")])
        await stack.settled()

        assert stack.adapter.texts() == ["re: hello"]
        assert await stack.rows("SELECT state, text, name FROM inbox") == [("answered", None, None)]
        assert await stack.rows("SELECT state, text, platform_id FROM outbox") == [
            ("delivered", None, "sent-1")
        ]
        assert stack.adapter.typed == [direct()]
        assert stack.adapter.typing_now == 0


async def test_a_message_that_could_not_be_answered_is_not_called_answered(tmp_path):
    async with open_stack(tmp_path, model=FakeChatModel([ModelTimedOut("slow")])) as stack:
        await stack.intake.accept([said("hello")])
        await stack.settled()

        assert len(stack.adapter.texts()) == 1
        assert await stack.rows("SELECT state, text FROM inbox") == [("failed", None)]


async def test_a_message_delivered_twice_is_answered_once(tmp_path):
    async with open_stack(tmp_path) as stack:
        await stack.intake.accept([said("hello"), said("hello")])
        await stack.settled()
        await stack.intake.accept([said("hello")])
        await stack.settled()

        assert stack.adapter.texts() == ["re: hello"]


async def test_a_message_is_known_again_after_a_restart(tmp_path):
    async with open_stack(tmp_path) as stack:
        await stack.intake.accept([said("hello")])
        await stack.settled()

    async with open_stack(tmp_path) as stack:
        await stack.intake.accept([said("hello")])
        await stack.settled()

        assert stack.adapter.texts() == []


async def test_the_same_number_in_another_chat_or_for_another_bot_is_another_message(tmp_path):
    other_bot = replace(direct(), bot="2")

    async with open_stack(tmp_path) as stack:
        await stack.intake.accept([said("a"), said("b", chat=group()), said("c", chat=other_bot)])
        await stack.settled()

        assert sorted(stack.adapter.texts()) == ["re: a", "re: b", "re: c"]


async def test_positions_and_quarantine_are_kept_with_the_messages(tmp_path):
    position = Position(platform=TELEGRAM, bot="1", stream="updates", value="17")
    poison = Quarantined(platform=TELEGRAM, bot="1", update="16", fault="KeyError")
    async with open_stack(tmp_path) as stack:
        await stack.intake.accept([said("x")], positions=[position], quarantined=[poison])
        await stack.intake.accept([], positions=[replace(position, value="18")])

    async with open_stack(tmp_path) as stack:
        assert await stack.intake.positions(TELEGRAM, "1") == {"updates": "18"}
        assert await stack.intake.positions(TELEGRAM, "2") == {}
        assert (await stack.delivery.counts()).quarantined == 1


async def test_nothing_is_kept_when_the_disk_says_no(tmp_path, monkeypatch):
    position = Position(platform=TELEGRAM, bot="1", stream="updates", value="17")

    async def fails(*_args, **_kwargs):
        raise StoreError("no")

    async with open_stack(tmp_path) as stack:
        with monkeypatch.context() as patch:
            patch.setattr("bot.access.positions.save", fails)
            with pytest.raises(StoreError):
                await stack.intake.accept([said("x")], positions=[position])

        assert await stack.states("inbox") == []
        await stack.intake.accept([said("x")], positions=[position])
        await stack.settled()
        assert stack.adapter.texts() == ["re: x"]


@pytest.mark.parametrize(
    "access",
    [
        AccessSettings(),
        AccessSettings(allow=IdLists(users=("8",))),
        AccessSettings(allow=IdLists(users=("*",)), deny=IdLists(users=("7",))),
        AccessSettings(allow=IdLists(chats=("-5",))),
    ],
    ids=["empty list", "stranger", "blocked", "elsewhere"],
)
async def test_who_may_not_speak_gets_no_answer_and_leaves_no_word(tmp_path, capsys, access):
    poison = Quarantined(platform=TELEGRAM, bot="1", update="16", fault="KeyError")

    async with open_stack(tmp_path, access=access) as stack:
        await stack.intake.accept([said(SECRET)], quarantined=[poison])
        await stack.intake.accept([said(SECRET, "2", chat=group())])
        await stack.later(60)

        assert stack.adapter.tried == []
        assert await stack.states("inbox") == []
        assert b"swordfish" not in bytes_under(tmp_path)
    assert b"swordfish" not in bytes_under(tmp_path)
    assert "swordfish" not in "".join(capsys.readouterr())


async def test_what_does_not_address_the_bot_is_not_kept(tmp_path):
    async with open_stack(tmp_path) as stack:
        await stack.intake.accept([said(SECRET, chat=group(), addressed=False)])
        await stack.settled()

        assert b"swordfish" not in bytes_under(tmp_path)


async def test_a_message_is_answered_in_the_group_that_it_was_written_in(tmp_path):
    async with open_stack(tmp_path) as stack:
        await stack.intake.accept([said("hi", "33", chat=group(topic="5"))])
        await stack.settled()

        [part] = stack.adapter.arrived
        assert (part.chat.chat, part.chat.topic, part.reply_to) == ("-100", "5", "33")


# After a crash


async def test_a_message_taken_over_before_a_crash_is_answered_after_it(tmp_path):
    async with open_stack(tmp_path, model=FakeChatModel(forever)) as stack:
        await stack.intake.accept([said("hello")])

    async with open_stack(tmp_path) as stack:
        await stack.settled()

        assert stack.adapter.texts() == ["re: hello"]


async def test_order_within_a_chat_survives_a_crash(tmp_path):
    messages = [said(str(n), str(n)) for n in range(5)]
    async with open_stack(tmp_path, model=FakeChatModel(forever)) as stack:
        await stack.intake.accept(messages)

    async with open_stack(tmp_path) as stack:
        await stack.intake.accept([said("5", "5")])
        await stack.settled()

        assert stack.adapter.texts() == [f"re: {n}" for n in range(6)]


async def test_what_is_too_old_gets_one_notice_a_chat_that_counts_it(tmp_path):
    clock = FakeClock()
    async with open_stack(tmp_path, model=FakeChatModel(forever), clock=clock) as stack:
        await stack.intake.accept([said("早安", "1"), said("還在嗎", "2")])
        await stack.intake.accept([said("hello", "1", chat=direct("8"), user="8")])
    clock.advance(3600)

    async with open_stack(tmp_path, clock=clock) as stack:
        # What the platform had kept meanwhile comes in two batches.
        await stack.intake.accept([said("第三則", "3")])
        await stack.intake.accept([said("第四則", "4"), said("第五則", "5")])
        await stack.later(10)

        [chinese] = stack.adapter.texts("7")
        [english] = stack.adapter.texts("8")
        assert "5 則" in chinese
        assert "not answer: 1" in english
        assert set(await stack.states("inbox")) == {"expired"}
        assert await stack.rows("SELECT text FROM inbox WHERE text IS NOT NULL") == []

    async with open_stack(tmp_path, clock=clock) as stack:
        await stack.later(10)
        assert stack.adapter.texts() == []


async def test_what_is_too_old_is_counted_once_however_often_it_is_delivered(tmp_path):
    async with open_stack(tmp_path) as stack:
        old = said("hello", sent_at_ns=stack.clock.now_ns() - 86_400 * 10**9)
        await stack.intake.accept([old])
        await stack.intake.accept([old])
        await stack.later(10)

        [notice] = stack.adapter.texts()
        assert "not answer: 1" in notice


async def test_a_message_whose_answer_is_stopped_with_the_service_is_no_suspect(tmp_path):
    for attempt in range(ATTEMPTS):
        model = FakeChatModel(forever)
        async with open_stack(tmp_path, model=model) as stack:
            if attempt == 0:
                await stack.intake.accept([said("slow")])
            await until(lambda: model.requests)  # noqa: B023 - awaited at once

    async with open_stack(tmp_path) as stack:
        await stack.settled()

        assert stack.adapter.texts() == ["re: slow"]


async def test_suspects_go_one_at_a_time_and_nobody_else_waits_for_them(tmp_path):
    async with open_stack(tmp_path, model=FakeChatModel(forever)) as stack:
        others = [direct(str(n)) for n in range(3)]
        await stack.intake.accept([said("old", chat=chat) for chat in others])
        await until(lambda: len(stack.model.requests) == len(others))
        async with stack.database.unit() as unit:
            await unit.execute("UPDATE inbox SET attempts = 2")  # as a crash would leave it

    async with open_stack(tmp_path, model=FakeChatModel(forever)) as stack:
        await stack.intake.accept([said("new", chat=direct("9"))])
        await until(lambda: len(stack.model.requests) == 2)
        await asyncio.sleep(0.05)

        assert [one.messages[-1].text.splitlines()[-1] for one in stack.model.requests] in (
            ["old", "new"],
            ["new", "old"],
        )
        assert sorted(await stack.rows("SELECT attempts FROM inbox")) == [(1,), (1,), (1,), (2,)]


async def test_who_was_blocked_meanwhile_is_not_answered_after_a_restart(tmp_path):
    async with open_stack(tmp_path, model=FakeChatModel(forever)) as stack:
        await stack.intake.accept([said("hello")])

    async with open_stack(tmp_path, access=AccessSettings()) as stack:
        await stack.later(10)

        assert stack.adapter.texts() == []
        assert await stack.rows("SELECT state, text FROM inbox") == [("refused", None)]


async def test_what_comes_during_a_shutdown_is_kept_for_the_next_start(tmp_path):
    async with open_stack(tmp_path) as stack:
        await stack.intake.accept([said("one")])
        stack.intake.stop_feeding()
        await stack.intake.accept([said("two", "2")])
        await stack.settled()
        assert stack.adapter.texts() == ["re: one"]

    async with open_stack(tmp_path) as stack:
        await stack.settled()
        assert stack.adapter.texts() == ["re: two"]


# Full lanes


async def test_nothing_is_lost_and_order_is_kept_when_a_lane_is_full(tmp_path):
    async with open_stack(tmp_path, lane_jobs=2) as stack:
        for n in range(12):
            await stack.intake.accept([said(str(n), str(n))])
        await stack.settled()

        assert stack.adapter.texts() == [f"re: {n}" for n in range(12)]


async def test_beyond_what_may_wait_people_are_told_once(tmp_path):
    go = asyncio.Event()

    async def when_told(request):
        await go.wait()
        return echo(request)

    async with open_stack(tmp_path, lane_jobs=1, model=FakeChatModel(when_told)) as stack:
        for n in range(HELD_CLAIMS + 5):
            await stack.intake.accept([said(str(n), str(n))])
        go.set()
        await stack.later(10)

        notices = [text for text in stack.adapter.texts() if not text.startswith("re:")]
        assert len(notices) == 1
        states = await stack.states("inbox")
        assert states.count("answered") + states.count("failed") == HELD_CLAIMS + 5
        assert states.count("failed") >= 3


async def test_a_row_whose_turn_could_not_be_written_is_answered_later(tmp_path, monkeypatch):
    monkeypatch.setattr("bot.delivery.intake.DOUBT_PAUSE_S", 0.01)
    broken = [StoreError("disk full"), StoreError("disk full")]

    async with open_stack(tmp_path) as stack:
        settle = stack.delivery.settle

        async def sometimes(*given, **more):
            if broken:
                raise broken.pop()
            await settle(*given, **more)

        monkeypatch.setattr(stack.delivery, "settle", sometimes)
        await stack.intake.accept([said("hello")])
        await until(lambda: stack.adapter.arrived)

        assert stack.adapter.texts() == ["re: hello"]


async def test_rows_of_a_call_that_was_cancelled_after_its_commit_are_fed_by_the_next(
    tmp_path, monkeypatch
):
    async with open_stack(tmp_path) as stack:
        unit = stack.database.unit
        entered = asyncio.Event()

        class CancelledAtTheEnd:
            async def __aenter__(self):
                self.inner = unit()
                return await self.inner.__aenter__()

            async def __aexit__(self, *error):
                await self.inner.__aexit__(*error)
                entered.set()
                raise asyncio.CancelledError

        with monkeypatch.context() as patch:
            patch.setattr(stack.database, "unit", CancelledAtTheEnd)
            with pytest.raises(asyncio.CancelledError):
                await stack.intake.accept([said("first")])
        await stack.intake.accept([said("second", "2")])
        await stack.settled()

        assert stack.adapter.texts() == ["re: first", "re: second"]


async def test_a_message_whose_turn_is_under_way_is_not_fed_again(tmp_path):
    go = asyncio.Event()

    async def when_told(request):
        await go.wait()
        return echo(request)

    async with open_stack(tmp_path, model=FakeChatModel(when_told)) as stack:
        await stack.intake.accept([said("first")])
        await until(lambda: stack.model.requests)
        stack.intake._doubt.set()
        await stack.intake.accept([said("second", "2")])
        go.set()
        await stack.settled()

        assert len(stack.model.requests) == 2
        assert stack.adapter.texts() == ["re: first", "re: second"]


async def test_a_message_without_text_on_disk_is_not_lost_while_its_turn_is_under_way(tmp_path):
    go = asyncio.Event()

    async def when_told(request):
        await go.wait()
        return echo(request)

    async with open_stack(tmp_path, access=POOLS, model=FakeChatModel(when_told)) as stack:
        await stack.intake.accept([said("first")])
        await until(lambda: stack.model.requests)
        stack.intake._doubt.set()
        await stack.intake.accept([said("second", "2")])
        go.set()
        await stack.later(10)

        assert stack.adapter.texts() == ["re: first", "re: second"]
        assert await stack.states("inbox") == ["answered", "answered"]


# Commands


async def test_an_urgent_command_does_not_wait_behind_a_turn(tmp_path):
    async with open_stack(tmp_path, model=FakeChatModel(forever)) as stack:
        await stack.intake.accept([said("think"), said("/help", "2")])
        await until(lambda: stack.adapter.arrived)

        assert "/help" in stack.adapter.texts()[0]
        assert await stack.states("inbox") == ["working", "answered"]


# Pools mode


async def test_pools_mode_writes_no_word_of_the_message_to_inbox_or_outbox(tmp_path):
    waiting = asyncio.Event()

    async def held_up(_part):
        waiting.set()
        await asyncio.Event().wait()

    adapter = FakeAdapter()
    adapter.when = held_up
    async with open_stack(tmp_path, access=POOLS, adapter=adapter) as stack:
        claims = []
        stack.intake._handler.handle = lambda claim, _: _settle_alone(stack, claim, claims)
        await stack.intake.accept([said(SECRET)])
        await stack.router.drain()
        await waiting.wait()

        assert [claim.inbound.text for claim in claims] == [SECRET]
        assert adapter.tried[0].text == f"re: {SECRET}"
        everything = bytes_under(tmp_path)
        assert b"swordfish" not in everything
        assert "槐樹".encode() not in everything
        assert b"Ann" not in everything


@pytest.mark.parametrize("chat", [direct(), group()], ids=["direct", "group"])
async def test_a_place_set_to_pools_keeps_no_transcript_of_a_whole_turn(tmp_path, chat):
    """From the door to the platform, the turn engine included."""
    access = AccessSettings(allow=IdLists(users=("*",)), modes={chat.chat: Mode.POOLS})
    async with open_stack(tmp_path, access=access) as stack:
        await stack.intake.accept([said(SECRET, chat=chat)])
        await stack.settled()

        assert stack.adapter.texts() == [f"re: {SECRET}"]
        assert stack.delivery._unwritten == {}
        assert await stack.rows("SELECT COUNT(*) FROM messages") == [(0,)]
        assert await stack.states("inbox") == ["answered"]
        for word in (b"swordfish", "槐樹".encode(), b"Ann"):
            assert word not in bytes_under(tmp_path)


async def test_a_memory_chosen_while_a_message_waits_holds_for_its_reply(tmp_path):
    go = asyncio.Event()

    async def answer(request):
        await go.wait()
        return "swordfish" if "two" in request.messages[-1].text else "first"

    async with open_stack(tmp_path, model=FakeChatModel(answer)) as stack:
        await stack.intake.accept([said("one", "1"), said("two", "2")])
        await until(lambda: stack.model.requests)
        stack.intake._places._access = Access({TELEGRAM: POOLS})
        go.set()
        await stack.settled()

        assert stack.adapter.texts() == ["first", "swordfish"]
        assert b"swordfish" not in bytes_under(tmp_path)


async def test_a_command_whose_author_lost_access_while_it_waited_is_refused(tmp_path):
    go = asyncio.Event()

    async def answer(request):
        await go.wait()
        return "first"

    async with open_stack(tmp_path, model=FakeChatModel(answer)) as stack:
        await stack.intake.accept([said("one", "1"), said("/reset all yes", "2")])
        await until(lambda: stack.model.requests)
        closed = AccessSettings(allow=IdLists(users=("*",)), deny=IdLists(users=("7",)))
        stack.intake._places._access = Access({TELEGRAM: closed})
        go.set()
        await stack.settled()

        assert "may not" in stack.adapter.texts()[-1]
        assert await stack.rows("SELECT COUNT(*) FROM messages") == [(2,)]


@pytest.mark.parametrize(("chat", "shared"), [(direct(), False), (group(), True)])
async def test_a_turn_knows_whether_others_read_along(tmp_path, monkeypatch, chat, shared):
    contexts = []
    answer = TurnEngine.answer

    async def noted(self, context, *rest, **more):
        contexts.append(context)
        return await answer(self, context, *rest, **more)

    monkeypatch.setattr(TurnEngine, "answer", noted)
    async with open_stack(tmp_path) as stack:
        await stack.intake.accept([said("hi", chat=chat)])
        await stack.settled()

    assert [context.kind is ChatKind.GROUP for context in contexts] == [shared]


async def _settle_alone(stack, claim: Claim, claims):
    """What the turn engine does, without the transcript."""
    claims.append(claim)
    async with stack.database.unit() as unit:
        await stack.delivery.settle(unit, claim, [f"re: {claim.inbound.text}"])
    stack.delivery.wake()


async def test_pools_mode_asks_for_a_message_again_that_a_crash_took(tmp_path):
    async with open_stack(tmp_path, access=POOLS, model=FakeChatModel(forever)) as stack:
        await stack.intake.accept([said("記得嗎？我說過的", "1"), said("還有這個", "2")])
        await stack.intake.accept([said("hello", chat=direct("8"), user="8")])

    async with open_stack(tmp_path, access=POOLS) as stack:
        await stack.later(10)

        assert stack.model.requests == []
        [chinese], [english] = stack.adapter.texts("7"), stack.adapter.texts("8")
        assert "再傳一次" in chinese
        assert "send it again" in english
        assert set(await stack.states("inbox")) == {"lost"}

    async with open_stack(tmp_path, access=POOLS) as stack:
        await stack.later(10)
        assert stack.adapter.texts() == []


async def test_pools_mode_asks_again_when_the_reply_was_lost(tmp_path):
    async with open_stack(tmp_path, access=POOLS, sending=False) as stack:
        stack.intake._handler.handle = lambda claim, _: _settle_alone(stack, claim, [])
        await stack.intake.accept([said("hello")])
        await stack.router.drain()

    async with open_stack(tmp_path, access=POOLS) as stack:
        await stack.later(10)

        [notice] = stack.adapter.texts()
        assert "send it again" in notice
        assert await stack.states("outbox") == ["lost", "delivered"]


# Places that move


async def test_a_group_that_became_a_supergroup_keeps_session_and_rule_over_a_restart(tmp_path):
    access = AccessSettings(allow=IdLists(chats=("-100",)))
    old, new = group("-100"), group("-200")
    async with open_stack(tmp_path, access=access) as stack:
        await stack.intake.accept([said("one", "1", chat=old)])
        await stack.settled()
        await stack.intake.moved(old, new)
        await stack.intake.accept([said("two", "1", chat=new)])
        await stack.settled()

    async with open_stack(tmp_path, access=access) as stack:
        await stack.intake.accept([said("three", "2", chat=new)])
        await stack.settled()

        assert stack.adapter.texts("-200") == ["re: three"]
        assert await stack.rows("SELECT id FROM sessions") == [("tg-1--100",)]


async def test_a_reply_that_waits_for_a_moved_group_goes_to_its_new_id(tmp_path):
    old, new = group("-100"), group("-200")
    async with open_stack(tmp_path, sending=False) as stack:
        await stack.intake.accept([said("one", chat=old)])
        await stack.router.drain()
        await stack.intake.moved(old, new)

    async with open_stack(tmp_path) as stack:
        await stack.settled()

        assert stack.adapter.texts("-200") == ["re: one"]


async def test_a_group_that_moves_while_its_reply_is_written_gets_it_at_its_new_id(tmp_path):
    old, new = group("-100"), group("-200")
    go = asyncio.Event()

    async def when_told(request):
        await go.wait()
        return echo(request)

    async with open_stack(tmp_path, model=FakeChatModel(when_told)) as stack:
        await stack.intake.accept([said("one", chat=old)])
        await until(lambda: stack.model.requests)
        await stack.intake.moved(old, new)
        go.set()
        await stack.settled()

        assert stack.adapter.texts("-200") == ["re: one"]


async def test_only_in_a_group_does_a_reply_refer_to_its_message(tmp_path):
    async with open_stack(tmp_path, adapter=FakeAdapter(part_chars=4)) as stack:
        await stack.intake.accept([said("12", "5"), said("12", "6", chat=group())])
        await stack.settled()

        references = [(part.chat.chat, part.reply_to) for part in stack.adapter.arrived]
        assert sorted(references, key=str) == [
            ("-100", "6"),
            ("-100", None),
            ("7", None),
            ("7", None),
        ]


async def test_ids_are_kept_for_as_long_as_the_settings_say(tmp_path):
    async with open_stack(tmp_path) as stack:
        await stack.intake.accept([said("one")])
        await stack.settled()

        stack.clock.advance(6 * 86_400)
        await stack.delivery.sweep()
        assert await stack.states("inbox") == ["answered"]
        stack.clock.advance(2 * 86_400)
        await stack.delivery.sweep()
        assert await stack.states("inbox") + await stack.states("outbox") == []


async def test_what_could_not_be_understood_is_noted_for_as_long_as_ids_are_kept(tmp_path):
    poison = Quarantined(platform=TELEGRAM, bot="1", update="16", fault="KeyError")
    async with open_stack(tmp_path) as stack:
        await stack.intake.accept([], quarantined=[poison])

        stack.clock.advance(6 * 86_400)
        await stack.delivery.sweep()
        assert (await stack.delivery.counts()).quarantined == 1
        stack.clock.advance(2 * 86_400)
        await stack.delivery.sweep()
        assert (await stack.delivery.counts()).quarantined == 0
