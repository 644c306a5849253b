"""The life of the running service: its root tasks, and its end in good order.

At a stop nothing new is begun, then turns under way are ended within a budget, then replies
are sent; what is left stays in the inbox and the outbox for the next process.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog

from bot.delivery.intake import InboxIntake
from bot.delivery.router import Router
from bot.delivery.sender import Sender
from bot.errors import RootTaskEnded
from bot.service.control import Verb, serve_control
from bot.service.supervisor import Standings, Supervisor
from bot.service.systemd_notify import Notifier
from memory.errors import KithError

log = structlog.get_logger()

Chore = Callable[[], Coroutine[Any, Any, None]]
"""Work in the background that never ends by itself."""

FLUSH_S = 5.0
"""For sending what was answered in the drain."""
SETTLE_S = 60.0
"""Adapters that have neither come up nor failed by then do not hold up `READY=1`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The parts that run."""

    directory: Path
    intake: InboxIntake
    router: Router
    sender: Sender
    supervisor: Supervisor
    standings: Standings
    verbs: Mapping[str, Verb]
    drain_s: float
    chores: Mapping[str, Chore] = field(default_factory=dict)
    """What else runs for as long as the service, by name."""


async def serve(service: Service, *, stop: asyncio.Event, notifier: Notifier) -> None:
    """Run until `stop` is set, then end in good order.

    Raises:
        NoAdapterLeft: no platform can be used any more.
        RootTaskEnded: a part that runs for ever came to an end.
        StoreError: what an earlier process left could not be taken up.
    """
    await service.intake.resume()
    try:
        async with serve_control(service.directory, service.verbs):
            await _run_roots(service, stop, notifier)
    except BaseExceptionGroup as group:
        raise _first(group) from group


async def _run_roots(service: Service, stop: asyncio.Event, notifier: Notifier) -> None:
    async with asyncio.TaskGroup() as roots:
        running = [
            roots.create_task(_forever("sender", service.sender.run())),
            roots.create_task(_forever("supervisor", service.supervisor.run())),
            roots.create_task(_forever("watchdog", notifier.keep_alive())),
        ]
        works = {"intake": service.intake.run, **service.chores}
        beside = [roots.create_task(_forever(name, work())) for name, work in works.items()]
        beside.append(roots.create_task(_announce(service.standings, notifier)))
        await stop.wait()
        log.info("service.stopping", drain_s=service.drain_s)
        notifier.notify("STOPPING=1")
        service.intake.stop_feeding()
        for task in beside:
            task.cancel()
        await _drain(service)
        for task in running:
            task.cancel()
    log.info("service.stopped")


async def _drain(service: Service) -> None:
    """End the turns under way, send their replies; what takes too long is left for next time."""
    try:
        async with asyncio.timeout(service.drain_s):
            await service.router.drain()
    except TimeoutError:
        log.warning("drain.cut_short", lanes=service.router.open_lanes)
    service.router.close()
    try:
        async with asyncio.timeout(FLUSH_S):
            await service.sender.drain()
    except TimeoutError:
        log.warning("flush.cut_short")


async def _announce(standings: Standings, notifier: Notifier) -> None:
    """Notify systemd that we are ready once every adapter has come up or failed."""
    try:
        async with asyncio.timeout(SETTLE_S):
            await standings.settled.wait()
    except TimeoutError:
        log.warning("adapters.not_settled")
    notifier.notify("READY=1")
    log.info("service.ready")


async def _forever(name: str, work: Coroutine[Any, Any, None]) -> None:
    await work
    raise RootTaskEnded(f"the {name} came to an end")


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error to report: one of ours if there is one, as the others follow from it."""
    leaves = list(_leaves(group))
    return next((error for error in leaves if isinstance(error, KithError)), leaves[0])


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    found: list[BaseException] = []
    for error in group.exceptions:
        found += _leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found
