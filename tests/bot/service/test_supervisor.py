import asyncio

import pytest

from adapters.discord.options import DISCORD
from adapters.telegram.options import TELEGRAM
from bot.errors import (
    AdapterError,
    LoginRefused,
    NoAdapterLeft,
    PlatformUnreachable,
    PollingConflict,
)
from bot.service.service_status import Standing
from bot.service.supervisor import Standings, Supervisor
from tests.fakes import FakeAdapter, FakeClock

pytestmark = pytest.mark.looptime


class LoopClock(FakeClock):
    def now_ns(self):
        return int(asyncio.get_running_loop().time() * 1_000_000_000)


class Scripted(FakeAdapter):
    """Each run: an exception to end with at once, or (seconds up, exception)."""

    def __init__(self, platform, runs):
        super().__init__(platform)
        self.runs = list(runs)
        self.started_at = []

    async def run(self, ready):
        self.started_at.append(asyncio.get_running_loop().time())
        step = self.runs.pop(0) if self.runs else (10**9, None)
        if isinstance(step, tuple):
            ready()
            await asyncio.sleep(step[0])
            step = step[1]
        if step is not None:
            raise step


async def run_for(supervisor, seconds):
    try:
        async with asyncio.timeout(seconds):
            await supervisor.run()
    except TimeoutError:
        pass


def supervise(*adapters, jitter=0.0):
    clock = LoopClock()
    standings = Standings([adapter.platform for adapter in adapters], clock)
    return Supervisor(adapters, standings, clock=clock, jitter=lambda: jitter)


def standings(supervisor):
    return {status.platform: status.standing for status in supervisor._standings.all}


async def test_one_that_fails_is_started_again_and_the_other_never_notices():
    telegram = Scripted(TELEGRAM, [PlatformUnreachable("down")] * 3)
    discord = Scripted(DISCORD, [])
    supervisor = supervise(telegram, discord)

    await run_for(supervisor, 100)

    assert len(telegram.started_at) == 4
    assert len(discord.started_at) == 1
    assert set(standings(supervisor).values()) == {Standing.UP}


async def test_pauses_grow_to_a_limit():
    telegram = Scripted(TELEGRAM, [PlatformUnreachable("down")] * 10)

    await run_for(supervise(telegram), 1000)

    pauses = [b - a for a, b in zip(telegram.started_at, telegram.started_at[1:], strict=False)]
    assert pauses == pytest.approx([1, 2, 4, 8, 16, 32, 60, 60, 60, 60])


async def test_jitter_spreads_the_pauses():
    telegram = Scripted(TELEGRAM, [PlatformUnreachable("down")])
    supervisor = supervise(telegram, jitter=1.0)

    await run_for(supervisor, 10)

    assert telegram.started_at[1] == pytest.approx(1.5)


async def test_after_a_steady_time_a_failure_is_a_hiccup_again():
    steady = (500, PlatformUnreachable("down"))
    telegram = Scripted(TELEGRAM, [PlatformUnreachable("down")] * 6 + [steady])

    await run_for(supervise(telegram), 1000)

    assert telegram.started_at[-1] - telegram.started_at[-2] == pytest.approx(501)


async def test_a_connection_that_only_comes_and_goes_still_backs_off():
    telegram = Scripted(TELEGRAM, [(1, PlatformUnreachable("down"))] * 5)

    await run_for(supervise(telegram), 500)

    assert telegram.started_at[-1] - telegram.started_at[-2] == pytest.approx(1 + 16)


async def test_a_conflict_waits_longer_than_the_other_poll_may_last():
    telegram = Scripted(TELEGRAM, [PollingConflict("another process")])

    await run_for(supervise(telegram), 200)

    assert telegram.started_at[1] > 50


async def test_a_refused_token_ends_that_adapter_alone():
    telegram = Scripted(TELEGRAM, [LoginRefused("new token, please")])
    discord = Scripted(DISCORD, [])
    supervisor = supervise(telegram, discord)

    await run_for(supervisor, 1000)

    assert len(telegram.started_at) == 1
    assert standings(supervisor) == {
        TELEGRAM: Standing.GIVEN_UP,
        DISCORD: Standing.UP,
    }


async def test_when_none_is_left_the_service_ends_with_every_reason():
    supervisor = supervise(
        Scripted(TELEGRAM, [LoginRefused("token one")]),
        Scripted(DISCORD, [PlatformUnreachable("down"), LoginRefused("token two")]),
    )

    with pytest.raises(
        NoAdapterLeft, match=r"no platform is left to run on:\n(.|\n)*token one(.|\n)*token two"
    ):
        await supervisor.run()


@pytest.mark.parametrize("fault", [None, KeyError("text of a person"), AdapterError("broken")])
async def test_neither_a_bug_nor_a_quiet_end_silences_the_others(fault):
    telegram = Scripted(TELEGRAM, [(1, fault)])
    discord = Scripted(DISCORD, [])
    supervisor = supervise(telegram, discord)

    await run_for(supervisor, 10)

    assert len(telegram.started_at) == 2
    assert "text of a person" not in str(supervisor._standings.all)


async def test_it_has_settled_when_each_is_up_or_has_failed_once():
    telegram = Scripted(TELEGRAM, [PlatformUnreachable("down")])
    discord = Scripted(DISCORD, [])
    supervisor = supervise(telegram, discord)
    assert not supervisor._standings.settled.is_set()

    await run_for(supervisor, 0.5)

    assert supervisor._standings.settled.is_set()
