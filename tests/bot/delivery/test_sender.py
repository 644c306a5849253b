import asyncio
from secrets import token_hex

import pytest
from structlog.testing import capture_logs

from adapters.discord.options import DISCORD
from adapters.registry import MANIFESTS
from adapters.telegram.options import TELEGRAM
from bot.config.delivery_settings import DeliverySettings
from bot.delivery import outbox
from bot.delivery.outbox import NewPart, OutboxState
from bot.errors import PlatformUnreachable, SendDeferred, SendRefused, SendUnknown
from memory.errors import StoreError
from tests.bot.house import direct, open_house, said, until
from tests.fakes import FakeAdapter, FakeClock


async def post(house, chat, *texts):
    """Queue parts that answer no message."""
    async with house.database.unit() as unit:
        for number, text in enumerate(texts):
            part = NewPart(chat=chat, text=text, part=number, seed=token_hex(16))
            await outbox.put(unit, part, now_ns=house.clock.now_ns())
    house.delivery.wake()


async def test_parts_arrive_in_order_and_each_is_recorded(tmp_path):
    async with open_house(tmp_path, adapter=FakeAdapter(part_chars=4)) as house:
        await house.intake.accept([said("12345678")])
        await house.settled()

        assert house.adapter.texts() == ["re: ", "1234", "5678"]
        assert await house.rows("SELECT part, platform_id, text FROM outbox") == [
            (0, "sent-1", None),
            (1, "sent-2", None),
            (2, "sent-3", None),
        ]


async def test_every_part_has_a_nonce_of_its_own_that_fits_the_platform(tmp_path):
    async with open_house(tmp_path, adapter=FakeAdapter(part_chars=4)) as house:
        await house.intake.accept([said("12345678"), said("12345678", "2")])
        await house.settled()

        nonces = [part.nonce for part in house.adapter.arrived]
        assert len(set(nonces)) == len(nonces) == 6
        assert all(0 < len(nonce) <= 25 for nonce in nonces)


async def test_a_chat_that_has_to_wait_keeps_its_order_and_holds_up_no_other(tmp_path):
    async with open_house(tmp_path) as house:
        house.adapter.faults = [SendDeferred(retry_after_s=30)]
        await post(house, direct("7"), "one", "two")
        await house.settled()
        await post(house, direct("8"), "other")
        await house.settled()
        assert house.adapter.texts() == ["other"]

        await house.later(29)
        assert house.adapter.texts() == ["other"]

        await house.later(2)
        assert house.adapter.texts() == ["other", "one", "two"]


async def test_an_error_that_nobody_foresaw_costs_its_part_and_nobody_elses(tmp_path):
    with capture_logs() as logged:
        async with open_house(tmp_path) as house:
            house.adapter.faults = [
                RuntimeError("could not send swordfish")
                for _ in range(MANIFESTS.platforms[house.adapter.platform].most_sends)
            ]
            await post(house, direct("7"), "swordfish")
            for _ in range(3):
                await house.later(30)
            await post(house, direct("7"), "two")
            await post(house, direct("8"), "other")
            await house.settled()

            assert sorted(house.adapter.texts()) == ["other", "two"]
            assert await house.states("outbox") == ["unknown", "delivered", "delivered"]

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

    async with open_house(tmp_path) as house:
        house.adapter.when = when
        await post(house, direct("7"), "slow")
        await post(house, direct("8"), "fast")
        await until(lambda: house.adapter.texts() == ["fast"])
        go.set()
        await house.settled()

        assert house.adapter.texts() == ["fast", "slow"]


async def test_the_wait_that_a_platform_asks_for_outlives_a_restart(tmp_path):
    clock = FakeClock()
    async with open_house(tmp_path, clock=clock) as house:
        house.adapter.faults = [SendDeferred(retry_after_s=30)]
        await post(house, direct(), "one")
        await house.settled()

    async with open_house(tmp_path, clock=clock) as house:
        await house.settled()
        assert house.adapter.tried == []
        await house.later(31)
        assert house.adapter.texts() == ["one"]


async def test_a_refused_part_takes_the_rest_of_its_reply_along_and_nothing_else(tmp_path):
    async with open_house(tmp_path, adapter=FakeAdapter(part_chars=4)) as house:
        house.adapter.faults = [None, SendRefused("blocked")]
        await house.intake.accept([said("12345678"), said("x", "2")])
        await house.settled()

        assert house.adapter.texts() == ["re: ", "re: ", "x"]
        assert await house.states("outbox") == [
            "delivered",
            "refused",
            "refused",
            "delivered",
            "delivered",
        ]
        assert await house.rows("SELECT text FROM outbox WHERE text IS NOT NULL") == []


async def test_a_platform_that_is_down_loses_nothing_and_counts_as_not_sent(tmp_path):
    async with open_house(tmp_path) as house:
        house.adapter.faults = [PlatformUnreachable("down")] * 20 + [SendUnknown("hung up")]
        await post(house, direct(), "one")
        for _ in range(22):
            await house.later(10)

        assert house.adapter.texts() == ["one"]


@pytest.mark.parametrize(("platform", "seen"), [(DISCORD, 1), (TELEGRAM, 2)])
async def test_a_part_that_may_have_arrived_is_sent_again_with_the_same_nonce(
    tmp_path, platform, seen
):
    async with open_house(tmp_path, adapter=FakeAdapter(platform)) as house:
        house.adapter.faults_after = [SendUnknown("hung up")]
        await post(house, direct(platform=platform), "one")
        await house.settled()
        await house.later(30)

        assert len({part.nonce for part in house.adapter.tried}) == 1
        assert len(house.adapter.tried) == 2
        assert len(house.adapter.arrived) == seen
        assert await house.states("outbox") == ["delivered"]


@pytest.mark.parametrize("platform", [DISCORD, TELEGRAM])
async def test_a_part_that_stays_in_doubt_is_not_sent_for_ever(tmp_path, platform):
    async with open_house(tmp_path, adapter=FakeAdapter(platform)) as house:
        house.adapter.faults = [SendUnknown("hung up")] * 20
        await post(house, direct(platform=platform), "one")
        for _ in range(10):
            await house.later(60)

        assert len(house.adapter.tried) == MANIFESTS.platforms[platform].most_sends
        assert await house.rows("SELECT state, text FROM outbox") == [("unknown", None)]


async def test_what_was_not_begun_before_a_crash_is_sent_once_after_it(tmp_path):
    async with open_house(tmp_path, sending=False) as house:
        await house.intake.accept([said("hello")])
        await house.router.drain()
        assert await house.states("outbox") == ["waiting"]

    async with open_house(tmp_path) as house:
        await house.settled()

        assert house.adapter.texts() == ["re: hello"]
        assert house.model.requests == []


async def test_a_part_in_doubt_at_a_crash_is_sent_once_more_and_then_left(tmp_path):
    async def forever(_part):
        await asyncio.Event().wait()

    tried = 0
    for _ in range(3):
        adapter = FakeAdapter()
        adapter.when = forever
        async with open_house(tmp_path, adapter=adapter) as house:
            if not tried:
                await post(house, direct(), "one")
                await until(lambda: adapter.tried)  # noqa: B023 - awaited at once
            else:
                await asyncio.sleep(0.05)
            tried += len(adapter.tried)

    assert tried == MANIFESTS.platforms[TELEGRAM].most_sends


async def test_what_arrived_is_not_sent_again_because_the_disk_was_full(tmp_path, monkeypatch):
    close, failures = outbox.close, [StoreError("full")] * 3

    async def sometimes(*args, **kwargs):
        if failures:
            raise failures.pop()
        await close(*args, **kwargs)

    async with open_house(tmp_path) as house:
        monkeypatch.setattr(outbox, "close", sometimes)
        await post(house, direct(), "one", "two")
        await house.settled()

        assert house.adapter.texts() == ["one", "two"]
        assert failures == []


async def test_a_reply_that_grew_too_old_is_not_sent(tmp_path):
    clock = FakeClock()
    settings = DeliverySettings(reply_max_age_s=3600)
    async with open_house(tmp_path, sending=False, clock=clock, settings=settings) as house:
        await post(house, direct(), "one")
    clock.advance(3601)

    async with open_house(tmp_path, clock=clock, settings=settings) as house:
        await house.settled()

        assert house.adapter.tried == []
        assert await house.rows("SELECT state, text FROM outbox") == [("expired", None)]


async def test_a_finished_reply_is_sent_late_rather_than_not_at_all(tmp_path):
    clock = FakeClock()
    async with open_house(tmp_path, sending=False, clock=clock) as house:
        await house.intake.accept([said("hello")])
        await house.router.drain()
    clock.advance(2 * 3600)

    async with open_house(tmp_path, clock=clock) as house:
        await house.settled()

        assert house.adapter.texts() == ["re: hello"]


async def test_what_was_closed_or_deleted_meanwhile_is_not_sent(tmp_path):
    async with open_house(tmp_path, sending=False) as house:
        await post(house, direct(), "one")
        async with house.database.unit() as unit:
            [part] = await outbox.waiting(unit)
            await outbox.close(unit, part.row, OutboxState.REFUSED, now_ns=1)

            assert not await outbox.sending(unit, part.row, now_ns=1)


async def test_a_notice_that_was_sent_speaks_of_no_more_messages(tmp_path):
    async with open_house(tmp_path) as house:
        old = house.clock.now_ns() - 86_400 * 10**9
        await house.intake.accept([said("a", "1", sent_at_ns=old)])
        await house.later(10)
        await house.intake.accept([said("b", "2", sent_at_ns=old)])
        await house.later(10)

        assert ["not answer: 1" in text for text in house.adapter.texts()] == [True, True]


async def test_what_is_for_a_platform_that_is_switched_off_waits(tmp_path):
    async with open_house(tmp_path) as house:
        await post(house, direct(platform=DISCORD), "one")
        await house.settled()

        assert await house.states("outbox") == ["waiting"]


async def test_draining_waits_for_what_is_due_and_not_for_what_must_wait_longer(tmp_path):
    async with open_house(tmp_path) as house:
        house.adapter.faults = [SendDeferred(retry_after_s=600)]
        await post(house, direct("7"), "later")
        await post(house, direct("8"), "now")

        async with asyncio.timeout(5):
            await house.sender.drain()

        assert house.adapter.texts() == ["now"]
        assert (await house.delivery.counts()).outbox_open == 1
