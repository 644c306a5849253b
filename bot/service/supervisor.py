"""Keeps every platform's adapter running, each on its own: one that fails is started again.

An adapter whose token is refused is given up, as trying again cannot help. The rest goes on for
as long as one is left.
"""

import asyncio
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import structlog

from bot.errors import AdapterError, LoginRefused, NoAdapterLeft, PollingConflict
from bot.ports import ChatAdapter, Platform
from bot.service.service_status import AdapterStatus, Standing
from memory.errors import KithError
from memory.ports import Clock

log = structlog.get_logger()

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0
"""Doubled from the first to this: quick after a hiccup, no burden in an outage."""
CONFLICT_PAUSE_S = 60.0
"""Telegram holds another process's poll for up to 50 s; sooner only disturbs it."""
STEADY_S = 120.0
"""An adapter that was up for so long starts with the first pause when it fails again."""
SECOND_NS = 1_000_000_000


class Standings:
    """How each adapter stands; written by the supervisor, read by whoever shows it."""

    def __init__(self, platforms: Iterable[Platform], clock: Clock) -> None:
        self._clock = clock
        self._statuses = {
            platform: AdapterStatus(
                platform=platform, standing=Standing.STARTING, since_ns=clock.now_ns()
            )
            for platform in platforms
        }
        self.settled = asyncio.Event()
        """Set when every adapter is up, or has failed at least once."""

    @property
    def all(self) -> tuple[AdapterStatus, ...]:
        """How each adapter stands now."""
        return tuple(self._statuses.values())

    def of(self, platform: Platform) -> AdapterStatus:
        """How one adapter stands now."""
        return self._statuses[platform]

    def set(self, platform: Platform, standing: Standing, error: Exception | None = None) -> None:
        """Note a change; without an error the last one stays, as what went wrong before."""
        before = self._statuses[platform]
        self._statuses[platform] = replace(
            before,
            standing=standing,
            since_ns=self._clock.now_ns(),
            restarts=before.restarts + (standing is Standing.DOWN),
            error=before.error if error is None else _reason(error),
        )
        if all(one.standing is not Standing.STARTING for one in self.all):
            self.settled.set()


class Supervisor:
    """The root task of all adapters."""

    def __init__(
        self,
        adapters: Sequence[ChatAdapter],
        standings: Standings,
        *,
        clock: Clock,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._adapters = tuple(adapters)
        self._standings = standings
        self._clock = clock
        self._jitter = jitter

    async def run(self) -> None:
        """Run all adapters until cancelled.

        Raises:
            NoAdapterLeft: every one of them was given up.
        """
        async with asyncio.TaskGroup() as tasks:
            for adapter in self._adapters:
                tasks.create_task(self._keep(adapter))
        raise NoAdapterLeft([f"{one.platform}: {one.error}" for one in self._standings.all])

    async def _keep(self, adapter: ChatAdapter) -> None:
        """Run one adapter again and again; returns when it is given up."""
        pause_s = FIRST_PAUSE_S
        while True:
            error = await self._run_once(adapter)
            if isinstance(error, LoginRefused):
                self._standings.set(adapter.platform, Standing.GIVEN_UP, error)
                log.error("adapter.refused", platform=adapter.platform, why=str(error))
                return
            if self._was_steady(adapter):
                pause_s = FIRST_PAUSE_S
            self._standings.set(adapter.platform, Standing.DOWN, error)
            wait_s = self._wait_s(error, pause_s)
            self._log(adapter, error, wait_s)
            await asyncio.sleep(wait_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    async def _run_once(self, adapter: ChatAdapter) -> Exception:
        """Why the adapter ended. A job boundary: a fault here must not silence the others."""
        try:
            await adapter.run(lambda: self._up(adapter))
        except Exception as error:  # noqa: BLE001 - logged by the caller with what happens next
            return error
        return AdapterError("it ended by itself")

    def _up(self, adapter: ChatAdapter) -> None:
        if self._standings.of(adapter.platform).standing is not Standing.UP:
            log.info("adapter.connected", platform=adapter.platform)
            self._standings.set(adapter.platform, Standing.UP)

    def _was_steady(self, adapter: ChatAdapter) -> bool:
        status = self._standings.of(adapter.platform)
        up_ns = self._clock.now_ns() - status.since_ns
        return status.standing is Standing.UP and up_ns >= STEADY_S * SECOND_NS

    def _wait_s(self, error: Exception, pause_s: float) -> float:
        least_s = CONFLICT_PAUSE_S if isinstance(error, PollingConflict) else pause_s
        return least_s * (1 + self._jitter() / 2)

    def _log(self, adapter: ChatAdapter, error: Exception, wait_s: float) -> None:
        known = isinstance(error, KithError)
        log.warning(
            "adapter.failed" if known else "adapter.broke",
            platform=adapter.platform,
            error=type(error).__name__,
            why=str(error) if known else "",
            retry_s=round(wait_s, 1),
            exc_info=None if known else error,
        )


def _reason(error: Exception) -> str:
    """What is safe to show: a foreign error's text may quote what a person wrote."""
    return str(error) if isinstance(error, KithError) else type(error).__name__
