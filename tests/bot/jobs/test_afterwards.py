import asyncio

import pytest

from bot.jobs.afterwards import FIRST_RETRY_S, QUIET_S, open_afterwards
from memory.errors import ModelUnreachable
from memory.values import Moment, SessionId

ROOM, HALL = SessionId("cli-room"), SessionId("cli-hall")


class FakeWork:
    """Work that fails as often as it is told to."""

    def __init__(self, failures=(), *, held=()):
        self.failures = list(failures)
        self.held = list(held)
        self.queue = asyncio.Queue()
        self.done = []

    async def next_queued(self):
        return await self.queue.get()

    def enqueue(self, session, moment=Moment.TURN):
        self.queue.put_nowait((session, moment))

    async def do(self, session, moment):
        if self.failures and (error := self.failures.pop(0)):
            raise error
        self.done.append((session, moment, asyncio.get_running_loop().time()))

    def in_memory(self):
        return self.held


@pytest.mark.looptime
async def test_sessions_are_worked_on_in_the_order_asked_for():
    work = FakeWork()
    async with open_afterwards(work):
        work.enqueue(ROOM)
        work.enqueue(HALL)
        await asyncio.sleep(1)

    assert [one[0] for one in work.done] == [ROOM, HALL]


@pytest.mark.looptime
async def test_a_failure_is_tried_again_later_and_holds_up_nobody():
    work = FakeWork([ModelUnreachable("away"), RuntimeError("a bug"), None])
    async with open_afterwards(work):
        work.enqueue(ROOM)
        await asyncio.sleep(FIRST_RETRY_S + 1)
        work.enqueue(HALL)
        await asyncio.sleep(3 * FIRST_RETRY_S)

    turns = [one for one in work.done if one[1] is Moment.TURN]
    assert [one[0] for one in turns] == [HALL, ROOM]
    assert turns[1][2] >= 3 * FIRST_RETRY_S


@pytest.mark.looptime
async def test_a_session_is_wanted_once_more_when_it_is_quiet_and_when_it_is_idle():
    work = FakeWork()
    async with open_afterwards(work, idle_s=600):
        work.enqueue(ROOM)
        await asyncio.sleep(QUIET_S - 5)
        work.enqueue(ROOM)
        await asyncio.sleep(QUIET_S - 5)
        assert [one[1] for one in work.done] == [Moment.TURN, Moment.TURN]
        await asyncio.sleep(500)
        assert [one[1] for one in work.done[2:]] == [Moment.QUIET]
        await asyncio.sleep(100)

    assert [one[1] for one in work.done[2:]] == [Moment.QUIET, Moment.IDLE]


@pytest.mark.looptime
async def test_at_the_end_what_is_in_memory_alone_is_finished_within_its_time():
    quick = FakeWork(held=[ROOM, HALL])
    async with open_afterwards(quick):
        pass
    assert [one[0] for one in quick.done] == [ROOM, HALL]

    class Slow(FakeWork):
        async def do(self, session, moment):
            await asyncio.sleep(1_000)

    began = asyncio.get_running_loop().time()
    async with open_afterwards(Slow(held=[ROOM]), finish_s=10):
        pass
    assert asyncio.get_running_loop().time() - began == pytest.approx(10, abs=1)


async def test_an_error_of_the_body_comes_out_as_it_is():
    with pytest.raises(ModelUnreachable):
        async with open_afterwards(FakeWork()):
            raise ModelUnreachable("away")
