"""The long-poll loop: updates are on our disk before we confirm them to Telegram."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from secrets import SystemRandom
from typing import Any

import structlog
from telegram.error import Conflict, RetryAfter, TelegramError

from adapters.telegram.connection import Connection
from adapters.telegram.errors import adapter_error, reason, retry_after_s
from adapters.telegram.options import TELEGRAM, TelegramOptions
from adapters.telegram.translate import (
    UNREADABLE,
    EditedUpdate,
    Me,
    Moved,
    fault,
    translate,
    update_id,
)
from bot.errors import AdapterError, LoginRefused
from bot.ports import Inbound, Intake, Position, Quarantined
from memory.errors import StoreError

STREAM = "updates"
"""The only stream of a bot; its position is the next offset."""

_CONFLICTS_FORGOTTEN_AFTER_PAUSES = 10
_WITHOUT_ID = "none"

log = structlog.get_logger()
_chance = SystemRandom()


@dataclass(slots=True, kw_only=True)
class _Troubles:
    """What went wrong lately."""

    failures: int = 0
    """Polls that failed in a row."""
    conflicts: int = 0
    conflicted_at_s: float = 0.0


@dataclass(slots=True, kw_only=True)
class _Polled:
    """The updates of one answer, understood as far as they can be."""

    events: list[Inbound | Moved | EditedUpdate] = field(default_factory=list)
    quarantined: list[Quarantined] = field(default_factory=list)
    next_offset: int


class Receiving:
    """Takes updates in for as long as it runs."""

    def __init__(
        self, connection: Connection, intake: Intake, me: Me, options: TelegramOptions
    ) -> None:
        self._connection = connection
        self._intake = intake
        self._me = me
        self._options = options
        self._troubles = _Troubles()

    async def run(self) -> None:
        """Receive until cancelled.

        Raises:
            AdapterError: Telegram, or the inbox, has failed too often in a row.
        """
        stored = await self._intake.positions(TELEGRAM, str(self._me.id))
        offset = int(stored.get(STREAM, 0))
        while True:
            try:
                updates = await self._connection.updates(offset)
                offset = await self._take(updates, offset)
            except TelegramError as error:
                await self._recover(error)
            except StoreError as error:
                await self._back_off(AdapterError("the inbox takes no messages"), error)
            else:
                self._troubles.failures = 0

    async def _take(self, updates: Sequence[Any], offset: int) -> int:
        """Put a batch on disk and return the offset that confirms it.

        Ids may start over lower after a week without updates (Bot API, Update.update_id), so the
        next offset follows the batch and not the highest id ever seen.

        Raises:
            StoreError: it is not on disk, and nothing is confirmed.
            TelegramError: no update had an id, so that none can be confirmed.
        """
        if not updates:
            return offset
        batch = self._understood(updates, offset)
        received: list[Inbound] = []
        for event in batch.events:
            if isinstance(event, Inbound):
                received.append(event)
                continue
            if received:
                await self._intake.accept(received)
                received = []
            if isinstance(event, EditedUpdate):
                await self._intake.edited(event.inbound)
            else:
                await self._intake.moved(event.old, event.new)
        position = Position(
            platform=TELEGRAM,
            bot=str(self._me.id),
            stream=STREAM,
            value=str(batch.next_offset),
        )
        await self._intake.accept(received, positions=[position], quarantined=batch.quarantined)
        if all(update_id(raw) is None for raw in updates):
            raise TelegramError("updates without ids cannot be confirmed")
        return batch.next_offset

    def _understood(self, updates: Sequence[Any], offset: int) -> _Polled:
        ids = [number for number in map(update_id, updates) if number is not None]
        batch = _Polled(next_offset=max(ids) + 1 if ids else offset)
        for raw in updates:
            try:
                event = translate(raw, self._me)
            except UNREADABLE as error:
                batch.quarantined.append(self._quarantined(raw, error))
            else:
                if event is not None:
                    batch.events.append(event)
        return batch

    def _quarantined(self, raw: object, error: Exception) -> Quarantined:
        number = update_id(raw)
        row = Quarantined(
            platform=TELEGRAM,
            bot=str(self._me.id),
            update=_WITHOUT_ID if number is None else str(number),
            fault=fault(raw, error),
        )
        log.warning("update.quarantined", platform="telegram", update=row.update, fault=row.fault)
        return row

    async def _recover(self, error: TelegramError) -> None:
        """Wait as long as this kind of failure needs, or give up."""
        meaning = adapter_error(error)
        if isinstance(meaning, LoginRefused):
            raise meaning from error
        if isinstance(error, Conflict):
            await self._stand_back(error)
        elif isinstance(error, RetryAfter):
            wait_s = retry_after_s(error)
            log.warning("poll.deferred", platform="telegram", retry_after_s=wait_s)
            await asyncio.sleep(wait_s)
        else:
            await self._back_off(meaning, error)

    async def _stand_back(self, error: Conflict) -> None:
        """Let the other poll end; two pollers would take turns for ever, so the count stays."""
        now_s = asyncio.get_running_loop().time()
        troubles, pause_s = self._troubles, self._options.conflict_pause_s
        if now_s - troubles.conflicted_at_s > _CONFLICTS_FORGOTTEN_AFTER_PAUSES * pause_s:
            troubles.conflicts = 0
        troubles.conflicts += 1
        troubles.conflicted_at_s = now_s
        log.warning("poll.conflicted", platform="telegram", count=troubles.conflicts)
        if troubles.conflicts > self._options.conflicts_allowed:
            raise adapter_error(error) from error
        await asyncio.sleep(pause_s)

    async def _back_off(self, giving_up: AdapterError, error: TelegramError | StoreError) -> None:
        """Wait longer after each failure in a row, with jitter; raise after too many."""
        self._troubles.failures += 1
        count = self._troubles.failures
        why = reason(error) if isinstance(error, TelegramError) else type(error).__name__
        log.warning("poll.failed", platform="telegram", count=count, why=why)
        if count > self._options.failures_allowed:
            raise giving_up from error
        longest_s = min(
            self._options.retry_first_s * 2 ** (count - 1), self._options.retry_longest_s
        )
        await asyncio.sleep(longest_s * _chance.uniform(0.5, 1.0))
