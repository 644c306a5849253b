import asyncio

import pytest

from adapters.calls import CallScheduler

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

    async def person(self, calls, name, seconds, *, after=0.0):
        await asyncio.sleep(after)
        async with calls.interactive():
            return await self.work(name, seconds)()

    async def background(self, calls, name, seconds, *, after=0.0):
        await asyncio.sleep(after)
        return await calls.background(self.work(name, seconds, answer=name))


async def test_one_place_lets_one_call_run_at_a_time():
    calls, journal = CallScheduler().of("m"), Journal()

    async with asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(journal.person(calls, name, 2))

    assert journal == [
        ("a starts", 0),
        ("a ends", 2),
        ("b starts", 2),
        ("b ends", 4),
        ("c starts", 4),
        ("c ends", 6),
    ]


async def test_two_places_let_two_calls_run_and_the_third_waits():
    calls, journal = CallScheduler(places=2).of("m"), Journal()

    async with asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(journal.person(calls, name, 2))

    assert journal[-1] == ("c ends", 4)
    assert ("b starts", 0) in journal


async def test_interactive_call_preempts_a_background_call_which_starts_again_afterwards():
    calls, journal = CallScheduler().of("m"), Journal()

    async with asyncio.TaskGroup() as group:
        background = group.create_task(journal.background(calls, "pass", 10))
        group.create_task(journal.person(calls, "person", 3, after=4))

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
    calls, journal = CallScheduler().of("m"), Journal()

    async with asyncio.TaskGroup() as group:
        group.create_task(journal.background(calls, "pass", 10))
        for name in "ab":
            group.create_task(journal.person(calls, name, 3, after=1))

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
    calls, journal = CallScheduler().of("m"), Journal()

    async with asyncio.TaskGroup() as group:
        group.create_task(journal.background(calls, "first", 5))
        group.create_task(journal.background(calls, "second", 5))
        group.create_task(journal.person(calls, "person", 1, after=2))

    ends = [what for what, _ in journal if what.endswith("ends")]
    assert ends == ["person ends", "first ends", "second ends"]


async def test_background_calls_leave_one_place_of_several_to_the_replies():
    calls, journal = CallScheduler(places=2).of("m"), Journal()

    async with asyncio.TaskGroup() as group:
        group.create_task(journal.background(calls, "old", 10))
        group.create_task(journal.background(calls, "young", 10, after=1))
        group.create_task(journal.person(calls, "person", 1, after=2))

    assert ("person starts", 2) in journal
    assert ("old ends", 10) in journal
    assert ("young starts", 10) in journal


async def test_only_as_many_background_calls_give_way_as_people_need():
    calls, journal = CallScheduler(places=3).of("m"), Journal()

    async with asyncio.TaskGroup() as group:
        group.create_task(journal.background(calls, "old", 10))
        group.create_task(journal.background(calls, "young", 10, after=1))
        for after in (2, 3):
            group.create_task(journal.person(calls, "person", 3, after=after))

    assert ("young cancelled", 3) in journal
    assert ("old ends", 10) in journal
    assert ("young ends", 15) in journal


async def test_background_call_gives_way_once_and_then_keeps_its_place():
    calls, journal = CallScheduler().of("m"), Journal()

    async with asyncio.TaskGroup() as group:
        background = group.create_task(journal.background(calls, "pass", 10))
        for after in (1, 5, 9):
            group.create_task(journal.person(calls, "person", 1, after=after))

    assert background.result() == "pass"
    assert journal.count(("pass ends", 12)) == 1
    assert [what for what, _ in journal].count("pass cancelled") == 1


async def test_background_call_that_waited_long_comes_before_later_replies_and_keeps_its_place():
    calls, journal = CallScheduler().of("m"), Journal()

    async with asyncio.TaskGroup() as group:
        for n in range(6):
            group.create_task(journal.person(calls, f"person {n}", 4, after=3 * n))
        group.create_task(journal.background(calls, "pass", 3, after=0.5))
        group.create_task(journal.person(calls, "late", 1, after=17))

    # Due at 15.5 s: after the reply asked for at 15 s, before that of 17 s.
    order = [what for what, _ in journal if what.endswith("starts")]
    assert order[-2:] == ["pass starts", "late starts"]
    assert not any(what == "pass cancelled" for what, _ in journal)


async def test_background_call_that_is_nearly_done_is_let_end():
    calls, journal = CallScheduler().of("m"), Journal()
    await journal.background(calls, "usual", 4)

    async with asyncio.TaskGroup() as group:
        group.create_task(journal.background(calls, "pass", 4))
        group.create_task(journal.person(calls, "person", 1, after=3))

    assert [what for what, _ in journal][2:] == [
        "pass starts",
        "pass ends",
        "person starts",
        "person ends",
    ]


async def test_background_call_that_takes_much_longer_than_usual_gives_way():
    calls, journal = CallScheduler().of("m"), Journal()
    await journal.background(calls, "usual", 4)

    async with asyncio.TaskGroup() as group:
        hanging = group.create_task(journal.background(calls, "hanging", 100))
        group.create_task(journal.person(calls, "person", 1, after=3))
        await asyncio.sleep(20)
        hanging.cancel()

    assert ("hanging cancelled", 4 + 6) in journal
    assert ("person starts", 4 + 6) in journal


async def test_model_with_few_places_leaves_those_of_the_server_to_the_others():
    scheduler, journal = CallScheduler(places=3, model_places=1), Journal()

    async with asyncio.TaskGroup() as group:
        for n in range(2):
            group.create_task(journal.person(scheduler.of("slow"), f"slow {n}", 5))
        group.create_task(journal.person(scheduler.of("quick"), "quick", 1, after=1))

    assert ("quick starts", 1) in journal
    assert ("slow 1 starts", 5) in journal


async def test_reply_takes_the_place_of_its_own_models_pass_only():
    scheduler, journal = CallScheduler(places=3, model_places=1), Journal()

    async with asyncio.TaskGroup() as group:
        group.create_task(journal.background(scheduler.of("a"), "pass a", 10))
        group.create_task(journal.background(scheduler.of("b"), "pass b", 10, after=1))
        group.create_task(journal.person(scheduler.of("a"), "person", 1, after=2))

    assert ("pass a cancelled", 2) in journal
    assert ("pass b ends", 11) in journal


async def test_slowest_of_ten_chats_on_four_places_waits_for_two_calls():
    calls, journal = CallScheduler(places=4).of("m"), Journal()

    async with asyncio.TaskGroup() as group:
        for n in range(10):
            group.create_task(journal.person(calls, f"chat {n}", 2))

    assert journal[-1][1] == 6


async def test_hanging_call_holds_one_place_and_no_other_chat():
    calls, journal = CallScheduler(places=4).of("m"), Journal()

    async with asyncio.TaskGroup() as group:
        hanging = group.create_task(journal.person(calls, "hanging", 1000))
        for n in range(3):
            group.create_task(journal.person(calls, f"chat {n}", 2, after=1))
        await asyncio.sleep(60)
        hanging.cancel()

    assert [at for what, at in journal if what.endswith("starts")] == [0, 1, 1, 1]


async def test_more_places_let_those_who_wait_begin():
    scheduler, journal = CallScheduler(places=1), Journal()

    async with asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(journal.person(scheduler.of("m"), name, 5))
        await asyncio.sleep(1)
        scheduler.resize(2)

    assert ("b starts", 1) in journal
    assert ("c starts", 5) in journal


async def test_waiting_caller_that_is_cancelled_leaves_the_queue():
    calls, journal = CallScheduler().of("m"), Journal()

    async with asyncio.TaskGroup() as group:
        group.create_task(journal.person(calls, "first", 5))
        second = group.create_task(journal.person(calls, "second", 5, after=1))
        group.create_task(journal.person(calls, "third", 5, after=2))
        await asyncio.sleep(3)
        second.cancel()

    assert ("third ends", 10) in journal
    assert not any(what.startswith("second") for what, _ in journal)


async def test_running_caller_that_is_cancelled_frees_its_place():
    calls, journal = CallScheduler().of("m"), Journal()

    async with asyncio.TaskGroup() as group:
        first = group.create_task(journal.person(calls, "first", 50))
        group.create_task(journal.person(calls, "second", 1, after=1))
        await asyncio.sleep(3)
        first.cancel()

    assert ("second ends", 4) in journal


async def test_place_handed_over_to_a_caller_cancelled_in_the_same_moment_is_passed_on():
    calls, journal = CallScheduler().of("m"), Journal()

    async with asyncio.TaskGroup() as group:
        holding = asyncio.Event()

        async def holder():
            async with calls.interactive():
                await holding.wait()
            second.cancel()

        group.create_task(holder())
        second = group.create_task(journal.person(calls, "second", 1, after=1))
        group.create_task(journal.person(calls, "third", 1, after=2))
        await asyncio.sleep(3)
        holding.set()

    assert journal == [("third starts", 3), ("third ends", 4)]


async def test_cancelling_the_caller_of_a_background_call_ends_it_for_good():
    calls, journal = CallScheduler().of("m"), Journal()

    async with asyncio.TaskGroup() as group:
        background = group.create_task(journal.background(calls, "pass", 50))
        await asyncio.sleep(1)
        background.cancel()
        group.create_task(journal.person(calls, "person", 1))

    assert background.cancelled()
    assert [what for what, _ in journal].count("pass starts") == 1
    assert ("person ends", 2) in journal


async def test_cancelling_a_preempted_call_while_it_waits_ends_it_for_good():
    calls, journal = CallScheduler().of("m"), Journal()

    async with asyncio.TaskGroup() as group:
        background = group.create_task(journal.background(calls, "pass", 50))
        group.create_task(journal.person(calls, "person", 5, after=1))
        await asyncio.sleep(3)
        background.cancel()

    assert background.cancelled()
    assert journal[-1] == ("person ends", 6)


async def test_error_of_the_work_reaches_its_caller_unchanged_and_frees_the_place():
    calls, journal = CallScheduler().of("m"), Journal()

    async def broken():
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        await calls.background(broken)

    await journal.person(calls, "person", 1)
    assert journal[-1] == ("person ends", 1)


async def test_background_call_that_ends_as_it_is_preempted_keeps_its_answer():
    calls, journal = CallScheduler().of("m"), Journal()

    async with asyncio.TaskGroup() as group:
        background = group.create_task(journal.background(calls, "pass", 4))
        group.create_task(journal.person(calls, "person", 1, after=4))

    assert background.result() == "pass"
    assert [what for what, _ in journal].count("pass ends") == 1


async def test_person_who_comes_while_a_place_is_handed_to_a_background_call_still_goes_first():
    calls, journal = CallScheduler().of("m"), Journal()

    async with asyncio.TaskGroup() as group:

        async def two_calls_in_a_row():
            await journal.person(calls, "first", 2)
            async with calls.interactive():
                await journal.work("second", 2)()

        group.create_task(two_calls_in_a_row())
        group.create_task(journal.background(calls, "pass", 50, after=1))

    assert ("second starts", 2) in journal
    assert [what for what, _ in journal].count("pass starts") == 1


async def test_deadline_of_the_caller_is_not_taken_for_a_preemption():
    calls, journal = CallScheduler().of("m"), Journal()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(2):
            await calls.background(journal.work("pass", 50))

    assert journal == [("pass starts", 0), ("pass cancelled", 2)]


def test_scheduler_without_places_is_refused():
    with pytest.raises(ValueError, match="at least one place"):
        CallScheduler(places=0)


# Who follows a call


class Watch(list):
    async def waits(self):
        self.append("waits")

    async def begins(self):
        self.append("begins")


async def test_a_call_that_finds_a_place_is_told_to_begin_and_not_to_wait():
    calls, watch = CallScheduler().of("m"), Watch()

    async with calls.interactive(watch):
        assert watch == ["begins"]


async def test_a_call_that_finds_no_place_is_told_to_wait_and_begins_with_its_place():
    calls, watch = CallScheduler().of("m"), Watch()

    async def second():
        async with calls.interactive(watch):
            pass

    async with asyncio.TaskGroup() as group:
        async with calls.interactive():
            group.create_task(second())
            await asyncio.sleep(1)
            assert watch == ["waits"]

    assert watch == ["waits", "begins"]


@pytest.mark.parametrize("step", ["waits", "begins"])
async def test_a_watch_that_fails_leaves_its_place_to_others(step):
    calls, watch = CallScheduler().of("m"), Watch()

    async def fails():
        raise OSError(step)

    setattr(watch, step, fails)

    async def watched():
        with pytest.raises(OSError, match=step):
            async with calls.interactive(watch):
                pass

    async with asyncio.TaskGroup() as group:
        async with calls.interactive():
            group.create_task(watched())
            await asyncio.sleep(1)

    async with asyncio.timeout(1), calls.interactive():
        pass
