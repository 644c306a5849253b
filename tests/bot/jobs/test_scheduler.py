import asyncio
from random import Random
from zoneinfo import ZoneInfo

import pytest

from bot.app.schemas import BOT_SCHEMA
from bot.errors import JobBusy, UsageError
from bot.jobs.job_log import JobLog, JobOutcome
from bot.jobs.schedule import Every
from bot.jobs.scheduler import Job, Missed, Scheduler
from memory.database.database import open_database
from memory.errors import ModelTimedOut, StorageFull

pytestmark = pytest.mark.looptime

NS = 1_000_000_000
START_NS = 1_767_225_600 * NS  # 2026-01-01 00:00 UTC
QUARTER_S = 900


class LoopClock:
    """The wall clock of a loop whose time is virtual; `shift_s` sets it, as people set clocks."""

    def __init__(self):
        self.shift_s = 0

    def now_ns(self):
        return START_NS + int((asyncio.get_running_loop().time() + self.shift_s) * NS)


class Runs:
    """A job that notes when it began, in seconds, and takes `lasts_s`."""

    def __init__(self, clock, *, lasts_s=0.0, errors=()):
        self.clock, self.lasts_s, self.errors = clock, lasts_s, list(errors)
        self.began = []
        self.going = self.most_going = 0

    async def __call__(self, report):
        self.began.append(round((self.clock.now_ns() - START_NS) / NS))
        self.going += 1
        self.most_going = max(self.going, self.most_going)
        report(1, 2)
        await asyncio.sleep(self.lasts_s)
        self.going -= 1
        if self.errors:
            raise self.errors.pop(0)
        return f"run {len(self.began)}"


class MemoryLog:
    """A job log that forgets with the process: a real one waits in real threads."""

    def __init__(self):
        self.runs = {}
        self.error = None

    async def last_runs(self):
        return dict(self.runs)

    async def began(self, name, *, at_ns):
        if self.error:
            raise self.error
        self.runs[name] = Began(at_ns)

    async def ended(self, name, outcome, *, duration_ms, detail):
        if name in self.runs:
            self.runs[name].outcome = outcome
            self.runs[name].detail = detail


class Began:
    def __init__(self, at_ns):
        self.began_at_ns, self.outcome, self.detail = at_ns, None, ""


@pytest.fixture
def clock():
    return LoopClock()


def job(work, *, name="job", missed=Missed.SKIP, jitter_s=0.0):
    every = Every(minutes=15)
    return Job(name=name, schedule=every, work=work, missed=missed, jitter_s=jitter_s)


def scheduler(clock, *jobs, job_log=None):
    return Scheduler(
        jobs,
        job_log=job_log or MemoryLog(),
        clock=clock,
        zone=ZoneInfo("Asia/Taipei"),
        random=Random(1),
    )


async def run_for(scheduler, seconds, meanwhile=None):
    """The scheduler for so long; then it is cancelled, as at the service's end."""
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(scheduler.run())
        if meanwhile:
            await meanwhile()
        await asyncio.sleep(seconds)
        running.cancel()


async def test_a_job_runs_whenever_it_is_due(clock):
    runs = Runs(clock)

    await run_for(scheduler(clock, job(runs)), 3_000)

    assert runs.began == [900, 1_800, 2_700]


async def test_a_run_that_takes_longer_than_its_period_is_not_overlapped(clock):
    runs = Runs(clock, lasts_s=2_000)

    await run_for(scheduler(clock, job(runs)), 8_000)

    assert runs.began == [900, 3_600, 6_300]
    assert runs.most_going == 1


async def test_a_slow_job_holds_up_no_other(clock):
    slow, quick = Runs(clock, lasts_s=50_000), Runs(clock)

    await run_for(scheduler(clock, job(slow, name="slow"), job(quick, name="quick")), 3_000)

    assert quick.began == [900, 1_800, 2_700]


async def test_a_failed_run_is_logged_and_the_job_goes_on(clock):
    runs, kept = Runs(clock, errors=[ModelTimedOut("x"), ZeroDivisionError()]), MemoryLog()

    await run_for(scheduler(clock, job(runs), job_log=kept), 1_000)
    assert (kept.runs["job"].outcome, kept.runs["job"].detail) == (
        JobOutcome.FAILED,
        "ModelTimedOut",
    )

    await run_for(scheduler(clock, job(runs), job_log=kept), 2_000)
    assert len(runs.began) == 3
    assert (kept.runs["job"].outcome, kept.runs["job"].detail) == (JobOutcome.DONE, "run 3")


async def test_a_log_that_cannot_be_written_fails_the_run_and_not_the_scheduler(clock):
    runs, kept = Runs(clock), MemoryLog()
    kept.error = StorageFull("full")

    async def free_space():
        await asyncio.sleep(1_000)
        kept.error = None

    await run_for(scheduler(clock, job(runs), job_log=kept), 1_000, free_space)

    assert runs.began == [1_800]


@pytest.mark.parametrize(
    ("missed", "last_s", "first"),
    [
        (Missed.ONCE, -5_000, 0),  # several were missed: one makes up for them
        (Missed.ONCE, None, 0),  # never ran
        (Missed.ONCE, 0, 900),  # none was missed
        (Missed.SKIP, -5_000, 900),
    ],
)
async def test_missed_runs_are_made_up_for_once_or_left_out(clock, missed, last_s, first):
    runs, kept = Runs(clock), MemoryLog()
    if last_s is not None:
        kept.runs["job"] = Began(START_NS + last_s * NS)

    await run_for(scheduler(clock, job(runs, missed=missed), job_log=kept), 1_000)

    assert runs.began == sorted({first, 900})


async def test_jitter_delays_a_run_and_never_the_one_after(clock):
    runs = Runs(clock)

    await run_for(scheduler(clock, job(runs, jitter_s=60)), 9_000)

    delays = [began % QUARTER_S for began in runs.began]
    assert len(runs.began) == 9
    assert all(0 <= delay <= 60 for delay in delays)
    assert len(set(delays)) > 3


async def test_a_clock_set_back_by_seconds_repeats_no_run(clock):
    runs = Runs(clock, lasts_s=1)

    async def correct():
        await asyncio.sleep(900.5)
        clock.shift_s = -5

    await run_for(scheduler(clock, job(runs)), 1_000, correct)

    assert [round(began, -1) for began in runs.began] == [900, 1_800]


async def test_a_clock_set_forward_is_noticed_within_half_a_minute(clock):
    runs = Runs(clock)

    async def jump():
        await asyncio.sleep(10)
        clock.shift_s = 100_000

    await run_for(scheduler(clock, job(runs)), 60, jump)

    assert len(runs.began) == 1


async def test_a_job_runs_at_once_on_demand_and_reports_how_far_it_is(clock):
    runs, steps = Runs(clock, lasts_s=3), []
    jobs = scheduler(clock, job(runs))

    run = await jobs.run_now("job", lambda done, total: steps.append((done, total)))

    assert (run.outcome, run.detail, run.duration_ms) == (JobOutcome.DONE, "run 1", 3_000)
    assert steps == [(1, 2)]


async def test_a_job_that_runs_cannot_be_run_at_once_as_well(clock):
    runs = Runs(clock, lasts_s=100)
    jobs = scheduler(clock, job(runs))
    refused = []

    async def twice():
        await asyncio.sleep(910)
        assert (await jobs.states())[0].running
        with pytest.raises(JobBusy):
            await jobs.run_now("job")
        refused.append(True)

    await run_for(jobs, 10, twice)

    assert refused
    assert runs.most_going == 1


async def test_a_job_that_is_asked_for_begins_at_once_in_its_own_task_and_stays_on_schedule(clock):
    runs = Runs(clock, lasts_s=5)
    jobs = scheduler(clock, job(runs))
    states = []

    async def ask():
        await asyncio.sleep(100)
        jobs.ask("job")
        await asyncio.sleep(1)
        states.extend(await jobs.states())
        with pytest.raises(JobBusy):
            jobs.ask("job")

    await run_for(jobs, 1_000, ask)

    assert runs.began == [100, 900]
    assert (states[0].running, states[0].steps) == (True, (1, 2))


async def test_a_job_that_has_not_told_its_steps_stands_at_none_of_none(clock):
    async def silent(_report):
        await asyncio.sleep(100)
        return ""

    jobs = scheduler(clock, job(silent))
    states = []

    async def look():
        jobs.ask("job")
        await asyncio.sleep(1)
        states.extend(await jobs.states())

    await run_for(jobs, 200, look)

    assert [(one.running, one.steps) for one in states] == [(True, (0, 0))]


async def test_a_job_that_is_not_there_is_named_with_those_that_are(clock):
    with pytest.raises(UsageError, match="jobs are: job"):
        await scheduler(clock, job(Runs(clock))).run_now("other")


async def test_the_states_tell_last_run_and_next(clock):
    jobs = scheduler(clock, job(Runs(clock)))
    await jobs.run_now("job")

    [state] = await jobs.states()

    assert (state.name, state.expression, state.running) == ("job", "every 15 minutes", False)
    assert state.next_at_ns == START_NS + QUARTER_S * NS
    assert state.last.outcome is JobOutcome.DONE


@pytest.mark.looptime(False)
async def test_the_last_run_is_kept_in_the_database(tmp_path):
    async with open_database(tmp_path / "kith.db", [BOT_SCHEMA]) as database:
        kept = JobLog(database)
        await kept.began("a", at_ns=5)
        await kept.began("b", at_ns=6)
        await kept.ended("a", JobOutcome.DONE, duration_ms=7, detail="3 sessions")
        await kept.began("a", at_ns=8)
        await kept.ended("a", JobOutcome.FAILED, duration_ms=9, detail="ModelTimedOut")
    async with open_database(tmp_path / "kith.db", [BOT_SCHEMA]) as database:
        runs = await JobLog(database).last_runs()

    assert list(runs) == ["a", "b"]
    assert (runs["a"].began_at_ns, runs["a"].duration_ms, runs["a"].outcome) == (8, 9, "failed")
    assert (runs["a"].detail, runs["b"].outcome) == ("ModelTimedOut", None)
