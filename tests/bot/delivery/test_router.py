import asyncio

import pytest

from bot.delivery.router import open_router
from bot.errors import LaneFull
from memory.values import SessionId

A, B = SessionId("a"), SessionId("b")


@pytest.mark.looptime
async def test_one_session_keeps_its_order_and_never_overlaps(looptime):
    seen, running = [], 0

    def job(number):
        async def work():
            nonlocal running
            running += 1
            assert running == 1
            await asyncio.sleep(10 - number)
            running -= 1
            seen.append(number)

        return work

    async with open_router() as router:
        for number in range(5):
            router.deliver(A, job(number))
        await router.drain()

    assert seen == [0, 1, 2, 3, 4]


@pytest.mark.looptime
async def test_sessions_do_not_wait_for_each_other(looptime):
    async with open_router() as router:
        for number in range(10):
            router.deliver(SessionId(str(number)), lambda: asyncio.sleep(10))
        await router.drain()

    assert looptime == 10


async def test_a_failed_job_does_not_end_its_lane():
    seen = []

    async def fails():
        raise RuntimeError

    async def works():
        seen.append(1)

    async with open_router() as router:
        router.deliver(A, fails)
        router.deliver(A, works)
        await router.drain()

    assert seen == [1]


@pytest.mark.looptime
async def test_a_full_lane_says_so_and_others_stay_open(looptime):
    async with open_router(lane_jobs=2) as router:
        router.deliver(A, lambda: asyncio.sleep(1))
        await asyncio.sleep(0.1)
        router.deliver(A, lambda: asyncio.sleep(1))
        router.deliver(A, lambda: asyncio.sleep(1))
        with pytest.raises(LaneFull):
            router.deliver(A, lambda: asyncio.sleep(1))
        router.deliver(B, lambda: asyncio.sleep(1))
        await router.drain()


@pytest.mark.looptime
async def test_an_idle_lane_closes_and_opens_again(looptime):
    async with open_router(idle_s=60) as router:
        router.deliver(A, lambda: asyncio.sleep(0))
        await asyncio.sleep(59)
        assert router.open_lanes == 1
        await asyncio.sleep(2)
        assert router.open_lanes == 0
        router.deliver(A, lambda: asyncio.sleep(0))
        await router.drain()


@pytest.mark.looptime
async def test_leaving_ends_the_lanes_that_still_work(looptime):
    async with open_router() as router:
        router.deliver(A, lambda: asyncio.sleep(1000))
        await asyncio.sleep(1)

    assert looptime == 1


async def test_what_goes_wrong_outside_the_lanes_is_raised_as_it_is():
    with pytest.raises(KeyError):
        async with open_router() as router:
            router.deliver(SessionId("a"), asyncio.Event().wait)
            await asyncio.sleep(0)
            raise KeyError
