import asyncio
import json
from datetime import time
from random import Random

import pytest
from typer.testing import CliRunner

from adapters.registry import MANIFESTS
from bot.app.schemas import SCHEMAS
from bot.cli import run_job as verb
from bot.cli.root import app
from bot.config.config import Loaded
from bot.config.tables import config_type
from bot.errors import ControlRefused, UsageError
from bot.jobs.job_log import JobLog, JobOutcome
from bot.jobs.schedule import Daily
from bot.jobs.scheduler import Job, Missed, Scheduler
from bot.service.control import serve_control
from bot.service.job_verbs import job_verbs
from memory.database.database import open_database
from tests.fakes import NOON_NS, FakeClock


def kith(*words):
    return CliRunner().invoke(app, [*words])


async def log_a_run(directory):
    async with open_database(directory / "kith.db", SCHEMAS) as database:
        job_log = JobLog(database)
        await job_log.began("summarise", at_ns=NOON_NS)
        await job_log.ended("summarise", JobOutcome.DONE, duration_ms=1_500, detail="3 sessions")


def in_a_loop(work):
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(work)


@pytest.fixture
def directory(tmp_path, monkeypatch):
    # The verbs make a loop of their own; the current one must stay what it was.
    monkeypatch.setattr("bot.cli.boundary.asyncio.run", in_a_loop)
    return tmp_path


def test_before_the_first_run_the_jobs_are_listed_and_nothing_is_made(directory):
    found = kith("jobs", "--json", "--data-dir", str(directory))

    states = json.loads(found.stdout)
    assert [(state["name"], state["last"]) for state in states] == [
        ("summarise", None),
        ("sweep", None),
        ("compact", None),
        ("forget-ids", None),
        ("tools", None),
    ]
    assert list(directory.iterdir()) == []


def test_the_last_run_is_told_without_a_service(directory):
    in_a_loop(log_a_run(directory))

    as_json = json.loads(kith("jobs", "--json", "--data-dir", str(directory)).stdout)
    table = kith("jobs", "--data-dir", str(directory)).stdout

    assert as_json[0]["last"]["outcome"] == "done"
    assert "done" in table
    assert "1.5 s" in table


def test_a_job_that_is_not_there_is_a_usage_error(directory):
    found = kith("jobs", "run", "nope", "--data-dir", str(directory))

    assert found.exit_code == 2
    assert "jobs are: summarise, sweep" in found.output


async def test_a_running_service_runs_the_job_itself_and_tells_how_it_went(tmp_path):
    began = asyncio.Event()

    async def work(report):
        report(1, 2)
        began.set()
        await asyncio.sleep(0.05)
        return "2 sessions"

    job = Job(name="summarise", schedule=Daily(at=time(0)), work=work, missed=Missed.SKIP)
    clock, steps = FakeClock(), []
    async with open_database(tmp_path / "kith.db", SCHEMAS) as database:
        scheduler = Scheduler(
            [job], job_log=JobLog(database), clock=clock, zone=None, random=Random(1)
        )
        settings = Loaded(
            config=config_type(MANIFESTS)(data_dir=str(tmp_path)), source=None, manifests=MANIFESTS
        )
        async with (
            serve_control(tmp_path, job_verbs(scheduler, clock)),
            asyncio.TaskGroup() as tasks,
        ):
            running = tasks.create_task(scheduler.run())
            await asyncio.sleep(0.01)
            ended = await verb._run_now(settings, "summarise", lambda *step: steps.append(step))
            with pytest.raises(ControlRefused):
                await verb._run_in_service(tmp_path, "nope", lambda *_: None)
            running.cancel()

    assert (ended["outcome"], ended["detail"]) == ("done", "2 sessions")
    assert began.is_set()


async def test_an_unknown_job_is_refused_before_anything_is_opened(tmp_path):
    settings = Loaded(
        config=config_type(MANIFESTS)(data_dir=str(tmp_path)), source=None, manifests=MANIFESTS
    )

    with pytest.raises(UsageError):
        await verb._run_now(settings, "nope", lambda *_: None)
