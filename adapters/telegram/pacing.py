"""Waiting before a send, so that Telegram need not ask for it."""

import asyncio

from adapters.telegram.options import Pace

_FORGET_ABOVE = 4096


class Pacing:
    """One queue a chat and one over all; a busy chat never delays a quiet one.

    Each pace is a virtual schedule (GCRA): a message is given its time at once, in the order of
    the calls, and then only sleeps, so that no lock is held.
    """

    def __init__(self, total: Pace) -> None:
        self._total = total
        self._due_s: dict[str, float] = {}

    async def turn(self, chat: str, pace: Pace) -> None:
        """Return when the next message may go to this chat."""
        now_s = asyncio.get_running_loop().time()
        own_s = self._reserve(chat, pace, now_s)
        await asyncio.sleep(own_s - now_s)
        now_s = asyncio.get_running_loop().time()
        await asyncio.sleep(self._reserve("", self._total, now_s) - now_s)

    def _reserve(self, queue: str, pace: Pace, now_s: float) -> float:
        """The time of the next message: now, or when the burst is used up, its turn."""
        due_s = max(self._due_s.get(queue, 0.0), now_s)
        self._due_s[queue] = due_s + pace.every_s
        if len(self._due_s) > _FORGET_ABOVE:
            self._due_s = {key: at_s for key, at_s in self._due_s.items() if at_s > now_s}
        return max(now_s, due_s - pace.every_s * (pace.burst - 1))
