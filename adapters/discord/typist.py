"""Showing that an answer is being written, in as many chats as there are.

It owns its tasks while `run` runs; who shows is only counted, so it can be asked at any time.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import discord

from adapters.discord.errors import FOREIGN

REPEAT_S = 8.0
"""Discord shows it for 10 s (developer docs, "Trigger Typing Indicator")."""
LONGEST_S = 600.0
"""Nobody writes longer than that: something hangs, and the sign would lie."""


class Typist:
    """The chats in which the bot is writing just now."""

    def __init__(self) -> None:
        self._open: Counter[int] = Counter()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._asked = asyncio.Event()

    @asynccontextmanager
    async def showing(self, channel: int) -> AsyncIterator[None]:
        """Show it for as long as the context is open; nested ones end together."""
        self._open[channel] += 1
        self._asked.set()
        try:
            yield
        finally:
            self._open[channel] -= 1
            if self._open[channel] <= 0:
                del self._open[channel]
                self._stop(channel)

    def _stop(self, channel: int) -> None:
        task = self._tasks.pop(channel, None)
        if task is not None:
            task.cancel()

    async def run(self, client: discord.Client) -> None:
        """Show it in Discord, until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                while True:
                    for channel in self._open.keys() - self._tasks.keys():
                        typing = self._show(client.get_partial_messageable(channel))
                        self._tasks[channel] = tasks.create_task(typing)
                    self._asked.clear()
                    await self._asked.wait()
        finally:
            self._tasks.clear()

    async def _show(self, channel: discord.PartialMessageable) -> None:
        """A sign that cannot be shown never disturbs the answer."""
        try:
            async with asyncio.timeout(LONGEST_S):
                while True:
                    await channel.typing()
                    await asyncio.sleep(REPEAT_S)
        except FOREIGN:
            return
