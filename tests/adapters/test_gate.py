import asyncio

import pytest

from adapters.gate import Gate

pytestmark = pytest.mark.looptime


class Journal(list):
    """What happened, with the second it happened in."""

    def note(self, what):
        self.append((what, round(asyncio.get_running_loop().time(), 3)))

    def work(self, name, seconds, answer=None):
        async def run():
            self.note(f"{name} starts")
            try:
                await asyncio.sleep(seconds)
            except asyncio.CancelledError:
                self.note(f"{name} cancelled")
                raise
            self.note(f"{name} ends")
            return answer

        return run

    async def person(self, gate, name, seconds, *, after=0.0):
        await asyncio.sleep(after)
        async with gate.interactive():
            return await self.work(name, seconds)()

    async def background(self, gate, name, seconds, *, after=0.0):
        await asyncio.sleep(after)
        return await gate.background(self.work(name, seconds, answer=name))


async def test_one_place_lets_one_call_run_at_a_time():
    gate, journal = Gate(), Journal()

    async with asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(journal.person(gate, name, 2))

    assert journal == [
        ("a starts", 0),
        ("a ends", 2),
        ("b starts", 2),
        ("b ends", 4),
        ("c starts", 4),
        ("c ends", 6),
    ]


async def test_two_places_let_two_calls_run_and_the_third_waits():
    gate, journal = Gate(places=2), Journal()

    async with asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(journal.person(gate, name, 2))

    assert journal[-1] == ("c ends", 4)
    assert ("b starts", 0) in journal


async def test_interactive_call_preempts_a_background_call_which_starts_again_afterwards():
    gate, journal = Gate(), Journal()

    async with asyncio.TaskGroup() as group:
        background = group.create_task(journal.background(gate, "pass", 10))
        group.create_task(journal.person(gate, "person", 3, after=4))

    assert background.result() == "pass"
    assert journal == [
        ("pass starts", 0),
        ("pass cancelled", 4),
        ("person starts", 4),
        ("person ends", 7),
        ("pass starts", 7),
        ("pass ends", 17),
    ]


async def test_background_call_waits_until_no_interactive_call_waits():
    gate, journal = Gate(), Journal()

    async with asyncio.TaskGroup() as group:
        group.create_task(journal.background(gate, "pass", 10))
        for name in "ab":
            group.create_task(journal.person(gate, name, 3, after=1))

    assert [what for what, _ in journal] == [
        "pass starts",
        "pass cancelled",
        "a starts",
        "a ends",
        "b starts",
        "b ends",
        "pass starts",
        "pass ends",
    ]


async def test_preempted_call_comes_before_background_calls_that_never_ran():
    gate, journal = Gate(), Journal()

    async with asyncio.TaskGroup() as group:
        group.create_task(journal.background(gate, "first", 5))
        group.create_task(journal.background(gate, "second", 5))
        group.create_task(journal.person(gate, "person", 1, after=2))

    ends = [what for what, _ in journal if what.endswith("ends")]
    assert ends == ["person ends", "first ends", "second ends"]


async def test_only_as_many_background_calls_give_way_as_people_need():
    gate, journal = Gate(places=2), Journal()

    async with asyncio.TaskGroup() as group:
        group.create_task(journal.background(gate, "old", 10))
        group.create_task(journal.background(gate, "young", 10, after=1))
        group.create_task(journal.person(gate, "person", 1, after=2))

    assert ("young cancelled", 2) in journal
    assert ("old ends", 10) in journal
    assert ("young ends", 13) in journal


async def test_background_call_is_preempted_as_often_as_people_come_and_is_never_lost():
    gate, journal = Gate(), Journal()

    async with asyncio.TaskGroup() as group:
        background = group.create_task(journal.background(gate, "pass", 10))
        for after in (1, 5, 9):
            group.create_task(journal.person(gate, "person", 1, after=after))

    assert background.result() == "pass"
    assert journal.count(("pass ends", 20)) == 1
    assert [what for what, _ in journal].count("pass cancelled") == 3


async def test_waiting_caller_that_is_cancelled_leaves_the_queue():
    gate, journal = Gate(), Journal()

    async with asyncio.TaskGroup() as group:
        group.create_task(journal.person(gate, "first", 5))
        second = group.create_task(journal.person(gate, "second", 5, after=1))
        group.create_task(journal.person(gate, "third", 5, after=2))
        await asyncio.sleep(3)
        second.cancel()

    assert ("third ends", 10) in journal
    assert not any(what.startswith("second") for what, _ in journal)


async def test_running_caller_that_is_cancelled_frees_its_place():
    gate, journal = Gate(), Journal()

    async with asyncio.TaskGroup() as group:
        first = group.create_task(journal.person(gate, "first", 50))
        group.create_task(journal.person(gate, "second", 1, after=1))
        await asyncio.sleep(3)
        first.cancel()

    assert ("second ends", 4) in journal


async def test_place_handed_over_to_a_caller_cancelled_in_the_same_moment_is_passed_on():
    gate, journal = Gate(), Journal()

    async with asyncio.TaskGroup() as group:
        holding = asyncio.Event()

        async def holder():
            async with gate.interactive():
                await holding.wait()
            second.cancel()

        group.create_task(holder())
        second = group.create_task(journal.person(gate, "second", 1, after=1))
        group.create_task(journal.person(gate, "third", 1, after=2))
        await asyncio.sleep(3)
        holding.set()

    assert journal == [("third starts", 3), ("third ends", 4)]


async def test_cancelling_the_caller_of_a_background_call_ends_it_for_good():
    gate, journal = Gate(), Journal()

    async with asyncio.TaskGroup() as group:
        background = group.create_task(journal.background(gate, "pass", 50))
        await asyncio.sleep(1)
        background.cancel()
        group.create_task(journal.person(gate, "person", 1))

    assert background.cancelled()
    assert [what for what, _ in journal].count("pass starts") == 1
    assert ("person ends", 2) in journal


async def test_cancelling_a_preempted_call_while_it_waits_ends_it_for_good():
    gate, journal = Gate(), Journal()

    async with asyncio.TaskGroup() as group:
        background = group.create_task(journal.background(gate, "pass", 50))
        group.create_task(journal.person(gate, "person", 5, after=1))
        await asyncio.sleep(3)
        background.cancel()

    assert background.cancelled()
    assert journal[-1] == ("person ends", 6)


async def test_error_of_the_work_reaches_its_caller_unchanged_and_frees_the_place():
    gate, journal = Gate(), Journal()

    async def broken():
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        await gate.background(broken)

    await journal.person(gate, "person", 1)
    assert journal[-1] == ("person ends", 1)


async def test_background_call_that_ends_as_it_is_preempted_keeps_its_answer():
    gate, journal = Gate(), Journal()

    async with asyncio.TaskGroup() as group:
        background = group.create_task(journal.background(gate, "pass", 4))
        group.create_task(journal.person(gate, "person", 1, after=4))

    assert background.result() == "pass"
    assert [what for what, _ in journal].count("pass ends") == 1


async def test_person_who_comes_while_a_place_is_handed_to_a_background_call_still_goes_first():
    gate, journal = Gate(), Journal()

    async with asyncio.TaskGroup() as group:

        async def two_calls_in_a_row():
            await journal.person(gate, "first", 2)
            async with gate.interactive():
                await journal.work("second", 2)()

        group.create_task(two_calls_in_a_row())
        group.create_task(journal.background(gate, "pass", 50, after=1))

    assert ("second starts", 2) in journal
    assert [what for what, _ in journal].count("pass starts") == 1


async def test_deadline_of_the_caller_is_not_taken_for_a_preemption():
    gate, journal = Gate(), Journal()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(2):
            await gate.background(journal.work("pass", 50))

    assert journal == [("pass starts", 0), ("pass cancelled", 2)]


def test_gate_without_places_is_refused():
    with pytest.raises(ValueError, match="at least one place"):
        Gate(places=0)
