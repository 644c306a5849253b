import asyncio
from secrets import token_hex

import pytest
from structlog.testing import capture_logs

from adapters.discord.options import DISCORD
from adapters.telegram.options import TELEGRAM
from bot.config.delivery_settings import DeliverySettings
from bot.delivery import outbox
from bot.delivery.outbox import NewPart, OutboxState
from bot.errors import PlatformUnreachable, SendDeferred, SendRefused, SendUnknown
from memory.errors import StoreError
from tests.bot.stack import direct, open_stack, said, until
from tests.fakes import FakeAdapter, FakeClock


async def post(stack, chat, *texts):
    """Queue parts that answer no message."""
    async with stack.database.unit() as unit:
        for number, text in enumerate(texts):
            part = NewPart(chat=chat, text=text, part=number, seed=token_hex(16))
            await outbox.put(unit, part, now_ns=stack.clock.now_ns())
    stack.delivery.wake()


async def test_parts_arrive_in_order_and_each_is_recorded(tmp_path):
    async with open_stack(tmp_path, adapter=FakeAdapter(part_chars=4)) as stack:
        await stack.intake.accept([said("12345678")])
        await stack.settled()

        assert stack.adapter.texts() == ["re: ", "1234", "5678"]
        assert await stack.rows("SELECT part, platform_id, text FROM outbox") == [
            (0, "sent-1", None),
            (1, "sent-2", None),
            (2, "sent-3", None),
        ]


async def test_every_part_has_a_nonce_of_its_own_that_fits_the_platform(tmp_path):
    async with open_stack(tmp_path, adapter=FakeAdapter(part_chars=4)) as stack:
        await stack.intake.accept([said("12345678"), said("12345678", "2")])
        await stack.settled()

        nonces = [part.nonce for part in stack.adapter.arrived]
        assert len(set(nonces)) == len(nonces) == 6
        assert all(0 < len(nonce) <= 25 for nonce in nonces)


async def test_a_chat_that_has_to_wait_keeps_its_order_and_holds_up_no_other(tmp_path):
    async with open_stack(tmp_path) as stack:
        stack.adapter.faults = [SendDeferred(retry_after_s=30)]
        await post(stack, direct("7"), "one", "two")
        await stack.settled()
        await post(stack, direct("8"), "other")
        await stack.settled()
        assert stack.adapter.texts() == ["other"]

        await stack.later(29)
        assert stack.adapter.texts() == ["other"]

        await stack.later(2)
        assert stack.adapter.texts() == ["other", "one", "two"]


async def test_an_error_that_nobody_foresaw_costs_its_part_and_nobody_elses(tmp_path):
    with capture_logs() as logged:
        async with open_stack(tmp_path) as stack:
            stack.adapter.faults = [RuntimeError("could not send swordfish") for _ in range(2)]
            await post(stack, direct("7"), "swordfish")
            for _ in range(3):
                await stack.later(30)
            await post(stack, direct("7"), "two")
            await post(stack, direct("8"), "other")
            await stack.settled()

            assert sorted(stack.adapter.texts()) == ["other", "two"]
            assert await stack.states("outbox") == ["unknown", "delivered", "delivered"]

    assert {
        "event": "part.broke",
        "row": 1,
        "error": "RuntimeError",
        "log_level": "error",
    } in logged
    assert "swordfish" not in str(logged)


async def test_a_slow_chat_holds_up_no_other(tmp_path):
    go = asyncio.Event()

    async def when(part):
        if part.chat.chat == "7":
            await go.wait()

    async with open_stack(tmp_path) as stack:
        stack.adapter.when = when
        await post(stack, direct("7"), "slow")
        await post(stack, direct("8"), "fast")
        await until(lambda: stack.adapter.texts() == ["fast"])
        go.set()
        await stack.settled()

        assert stack.adapter.texts() == ["fast", "slow"]


async def test_the_wait_that_a_platform_asks_for_outlives_a_restart(tmp_path):
    clock = FakeClock()
    async with open_stack(tmp_path, clock=clock) as stack:
        stack.adapter.faults = [SendDeferred(retry_after_s=30)]
        await post(stack, direct(), "one")
        await stack.settled()

    async with open_stack(tmp_path, clock=clock) as stack:
        await stack.settled()
        assert stack.adapter.tried == []
        await stack.later(31)
        assert stack.adapter.texts() == ["one"]


async def test_a_refused_part_takes_the_rest_of_its_reply_along_and_nothing_else(tmp_path):
    async with open_stack(tmp_path, adapter=FakeAdapter(part_chars=4)) as stack:
        stack.adapter.faults = [None, SendRefused("blocked")]
        await stack.intake.accept([said("12345678"), said("x", "2")])
        await stack.settled()

        assert stack.adapter.texts() == ["re: ", "re: ", "x"]
        assert await stack.states("outbox") == [
            "delivered",
            "refused",
            "refused",
            "delivered",
            "delivered",
        ]
        assert await stack.rows("SELECT text FROM outbox WHERE text IS NOT NULL") == []


async def test_a_platform_that_is_down_loses_nothing_and_counts_as_not_sent(tmp_path):
    async with open_stack(tmp_path) as stack:
        stack.adapter.faults = [PlatformUnreachable("down")] * 20 + [SendUnknown("hung up")]
        await post(stack, direct(), "one")
        for _ in range(22):
            await stack.later(10)

        assert stack.adapter.texts() == ["one"]


@pytest.mark.parametrize(("platform", "seen"), [(DISCORD, 1), (TELEGRAM, 2)])
async def test_a_part_that_may_have_arrived_is_sent_again_with_the_same_nonce(
    tmp_path, platform, seen
):
    async with open_stack(tmp_path, adapter=FakeAdapter(platform)) as stack:
        stack.adapter.faults_after = [SendUnknown("hung up")]
        await post(stack, direct(platform=platform), "one")
        await stack.settled()
        await stack.later(30)

        assert len({part.nonce for part in stack.adapter.tried}) == 1
        assert len(stack.adapter.tried) == 2
        assert len(stack.adapter.arrived) == seen
        assert await stack.states("outbox") == ["delivered"]


@pytest.mark.parametrize(("platform", "times"), [(DISCORD, 5), (TELEGRAM, 2)])
async def test_a_part_that_stays_in_doubt_is_not_sent_for_ever(tmp_path, platform, times):
    async with open_stack(tmp_path, adapter=FakeAdapter(platform)) as stack:
        stack.adapter.faults = [SendUnknown("hung up")] * 20
        await post(stack, direct(platform=platform), "one")
        for _ in range(10):
            await stack.later(60)

        assert len(stack.adapter.tried) == times
        assert await stack.rows("SELECT state, text FROM outbox") == [("unknown", None)]


async def test_what_was_not_begun_before_a_crash_is_sent_once_after_it(tmp_path):
    async with open_stack(tmp_path, sending=False) as stack:
        await stack.intake.accept([said("hello")])
        await stack.router.drain()
        assert await stack.states("outbox") == ["waiting"]

    async with open_stack(tmp_path) as stack:
        await stack.settled()

        assert stack.adapter.texts() == ["re: hello"]
        assert stack.model.requests == []


async def test_a_part_in_doubt_at_a_crash_is_sent_once_more_and_then_left(tmp_path):
    async def forever(_part):
        await asyncio.Event().wait()

    tried = 0
    for _ in range(3):
        adapter = FakeAdapter()
        adapter.when = forever
        async with open_stack(tmp_path, adapter=adapter) as stack:
            if not tried:
                await post(stack, direct(), "one")
                await until(lambda: adapter.tried)  # noqa: B023 - awaited at once
            else:
                await asyncio.sleep(0.05)
            tried += len(adapter.tried)

    assert tried == 2


async def test_what_arrived_is_not_sent_again_because_the_disk_was_full(tmp_path, monkeypatch):
    close, failures = outbox.close, [StoreError("full")] * 3

    async def sometimes(*args, **kwargs):
        if failures:
            raise failures.pop()
        await close(*args, **kwargs)

    async with open_stack(tmp_path) as stack:
        monkeypatch.setattr(outbox, "close", sometimes)
        await post(stack, direct(), "one", "two")
        await stack.settled()

        assert stack.adapter.texts() == ["one", "two"]
        assert failures == []


async def test_a_reply_that_grew_too_old_is_not_sent(tmp_path):
    clock = FakeClock()
    settings = DeliverySettings(reply_max_age_s=3600)
    async with open_stack(tmp_path, sending=False, clock=clock, settings=settings) as stack:
        await post(stack, direct(), "one")
    clock.advance(3601)

    async with open_stack(tmp_path, clock=clock, settings=settings) as stack:
        await stack.settled()

        assert stack.adapter.tried == []
        assert await stack.rows("SELECT state, text FROM outbox") == [("expired", None)]


async def test_a_reply_that_grows_too_old_while_it_waits_is_not_sent(tmp_path):
    settings = DeliverySettings(reply_max_age_s=3600)
    async with open_stack(tmp_path, settings=settings) as stack:
        stack.adapter.faults = [SendDeferred(retry_after_s=4000)]
        await post(stack, direct(), "one")
        await stack.settled()
        await stack.later(4001)

        assert len(stack.adapter.tried) == 1
        assert await stack.rows("SELECT state, text FROM outbox") == [("expired", None)]


async def test_a_finished_reply_is_sent_late_rather_than_not_at_all(tmp_path):
    clock = FakeClock()
    async with open_stack(tmp_path, sending=False, clock=clock) as stack:
        await stack.intake.accept([said("hello")])
        await stack.router.drain()
    clock.advance(2 * 3600)

    async with open_stack(tmp_path, clock=clock) as stack:
        await stack.settled()

        assert stack.adapter.texts() == ["re: hello"]


async def test_what_was_closed_or_deleted_meanwhile_is_not_sent(tmp_path):
    async with open_stack(tmp_path, sending=False) as stack:
        await post(stack, direct(), "one")
        async with stack.database.unit() as unit:
            [part] = await outbox.waiting(unit)
            await outbox.close(unit, part.row, OutboxState.REFUSED, now_ns=1)

            assert not await outbox.sending(unit, part.row, now_ns=1)


async def test_a_notice_that_was_sent_speaks_of_no_more_messages(tmp_path):
    async with open_stack(tmp_path) as stack:
        old = stack.clock.now_ns() - 86_400 * 10**9
        await stack.intake.accept([said("a", "1", sent_at_ns=old)])
        await stack.later(10)
        await stack.intake.accept([said("b", "2", sent_at_ns=old)])
        await stack.later(10)

        assert ["not answer: 1" in text for text in stack.adapter.texts()] == [True, True]


async def test_what_is_for_a_platform_that_is_switched_off_waits(tmp_path):
    async with open_stack(tmp_path) as stack:
        await post(stack, direct(platform=DISCORD), "one")
        await stack.settled()

        assert await stack.states("outbox") == ["waiting"]


async def test_draining_waits_for_what_is_due_and_not_for_what_must_wait_longer(tmp_path):
    async with open_stack(tmp_path) as stack:
        stack.adapter.faults = [SendDeferred(retry_after_s=600)]
        await post(stack, direct("7"), "later")
        await post(stack, direct("8"), "now")

        async with asyncio.timeout(5):
            await stack.sender.drain()

        assert stack.adapter.texts() == ["now"]
        assert (await stack.delivery.counts()).outbox_open == 1
