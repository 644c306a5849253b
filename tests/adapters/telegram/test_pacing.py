import asyncio

import pytest

from adapters.telegram.options import Pace
from adapters.telegram.pacing import Pacing

pytestmark = pytest.mark.looptime
QUICK = Pace(every_s=0.001, burst=1000)


def now_s():
    return asyncio.get_running_loop().time()


async def send_times(pacing, chat, pace, count):
    times = []
    for _ in range(count):
        await pacing.turn(chat, pace)
        times.append(round(now_s(), 2))
    return times


async def test_a_burst_goes_at_once_and_the_rest_follow_one_by_one():
    started = now_s()

    times = await send_times(Pacing(QUICK), "7", Pace(every_s=1, burst=3), 6)

    assert [time - round(started, 2) for time in times] == pytest.approx(
        [0, 0, 0, 1, 2, 3], abs=0.1
    )


async def test_a_busy_chat_does_not_delay_a_quiet_one():
    pacing = Pacing(QUICK)
    async with asyncio.TaskGroup() as group:
        group.create_task(send_times(pacing, "busy", Pace(every_s=1, burst=1), 20))
        quiet = group.create_task(send_times(pacing, "quiet", Pace(every_s=1, burst=1), 1))
        started = now_s()

    assert quiet.result()[0] - started < 0.5


async def test_a_group_gets_at_most_twenty_messages_in_any_minute():
    times = await send_times(Pacing(QUICK), "-5", Pace(every_s=3.5, burst=3), 60)

    assert max(sum(1 for t in times if start <= t < start + 60) for start in times) <= 20


async def test_all_chats_together_keep_the_total_pace():
    pacing = Pacing(Pace(every_s=0.1, burst=1))
    started = now_s()
    async with asyncio.TaskGroup() as group:
        for chat in range(10):
            group.create_task(pacing.turn(str(chat), Pace(every_s=1, burst=1)))

    assert now_s() - started == pytest.approx(0.9, abs=0.05)
