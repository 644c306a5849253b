"""The life of the service over fakes: what ends it, and in which order things end."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from adapters.discord.options import DISCORD
from bot.errors import LoginRefused, NoAdapterLeft, RootTaskEnded
from bot.service.service import Service, serve
from bot.service.supervisor import Standings, Supervisor
from tests.bot.stack import open_stack, said, until
from tests.fakes import FakeAdapter, FakeChatModel, FakeClock


class Told:
    """A notifier that writes down what systemd would hear."""

    def __init__(self):
        self.states = []

    def notify(self, state):
        self.states.append(state)

    async def keep_alive(self):
        await asyncio.Event().wait()


class Refused(FakeAdapter):
    async def run(self, ready):
        raise LoginRefused("a new token, please")


@asynccontextmanager
async def open_service(directory, *, adapter=None, model=None, drain_s=5.0):
    async with open_stack(directory, adapter=adapter, model=model, sending=False) as stack:
        clock = FakeClock()
        standings = Standings([stack.adapter.platform], clock)
        yield (
            stack,
            Service(
                directory=directory,
                intake=stack.intake,
                router=stack.router,
                sender=stack.sender,
                supervisor=Supervisor([stack.adapter], standings, clock=clock),
                standings=standings,
                verbs={},
                drain_s=drain_s,
            ),
        )


@asynccontextmanager
async def serving(service):
    stop, told = asyncio.Event(), Told()
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(serve(service, stop=stop, notifier=told))
        await until(lambda: told.states)
        yield stop, told, task


async def test_it_is_ready_once_the_adapters_are_up_and_says_when_it_stops(tmp_path):
    async with open_service(tmp_path) as (_, service), serving(service) as (stop, told, task):
        assert told.states == ["READY=1"]
        assert (tmp_path / "kith.sock").is_socket()
        stop.set()
        await task

    assert told.states == ["READY=1", "STOPPING=1"]
    assert not (tmp_path / "kith.sock").exists()


async def test_a_stop_ends_the_turn_under_way_and_sends_its_reply(tmp_path):
    model = FakeChatModel(lambda _: "done", delay_s=0.2)
    async with open_service(tmp_path, model=model) as (stack, service):
        async with serving(service) as (stop, _, task):
            await stack.intake.accept([said("hello")])
            await until(lambda: model.running)
            stop.set()
            await task

        assert stack.adapter.texts() == ["done"]


async def test_a_turn_beyond_the_budget_is_cut_and_its_message_stays_open(tmp_path):
    model = FakeChatModel(lambda _: "late", delay_s=60)
    async with open_service(tmp_path, model=model, drain_s=0.05) as (stack, service):
        async with serving(service) as (stop, _, task):
            await stack.intake.accept([said("hello")])
            await until(lambda: model.running)
            stop.set()
            await task

        assert stack.adapter.texts() == []
        assert await stack.states("inbox") == ["working"]


async def test_what_arrives_while_it_stops_is_kept_and_not_begun(tmp_path):
    model = FakeChatModel(lambda _: "done", delay_s=0.2)
    async with open_service(tmp_path, model=model) as (stack, service):
        async with serving(service) as (stop, told, task):
            await stack.intake.accept([said("hello", "1")])
            await until(lambda: model.running)
            stop.set()
            await until(lambda: "STOPPING=1" in told.states)
            await stack.intake.accept([said("more", "2")])
            await task

        assert await stack.states("inbox") == ["answered", "waiting"]


async def test_when_no_platform_is_left_the_service_ends_with_the_reason(tmp_path):
    async with open_service(tmp_path, adapter=Refused(DISCORD)) as (_, service):
        with pytest.raises(NoAdapterLeft, match="a new token"):
            await serve(service, stop=asyncio.Event(), notifier=Told())


async def test_a_part_that_ends_by_itself_ends_the_service(tmp_path, monkeypatch):
    async with open_service(tmp_path) as (stack, service):
        monkeypatch.setattr(stack.sender, "run", lambda: asyncio.sleep(0))

        with pytest.raises(RootTaskEnded, match="sender"):
            await serve(service, stop=asyncio.Event(), notifier=Told())


async def test_chores_run_with_the_service_and_are_ended_before_the_turns_are_drained(tmp_path):
    seen = []

    async def chore():
        try:
            seen.append("begun")
            await asyncio.Event().wait()
        finally:
            seen.append(f"ended with {model.running} turns under way")

    model = FakeChatModel(lambda _: "done", delay_s=0.2)
    async with open_service(tmp_path, model=model) as (stack, service):
        async with serving(replace(service, chores={"tidying": chore})) as (stop, _, task):
            await stack.intake.accept([said("hello")])
            await until(lambda: model.running)
            stop.set()
            await task

    assert seen == ["begun", "ended with 1 turns under way"]


async def test_a_chore_that_ends_by_itself_ends_the_service(tmp_path):
    async with open_service(tmp_path) as (_, service):
        with pytest.raises(RootTaskEnded, match="tidying"):
            await serve(
                replace(service, chores={"tidying": lambda: asyncio.sleep(0)}),
                stop=asyncio.Event(),
                notifier=Told(),
            )
