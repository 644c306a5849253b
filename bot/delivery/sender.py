"""Sends what the outbox holds: each chat in order, all chats at once.

A part is marked before the platform is asked and closed after it answered, so that after a crash
only parts that are marked are in doubt. What the platform said is never asked for twice: when it
cannot be written down, writing is tried again, not sending.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import structlog

from bot.delivery import outbox
from bot.delivery.delivery import SECOND_NS, Delivery
from bot.delivery.outbox import OutboxState, Part
from bot.errors import AdapterError, SendDeferred, SendError, SendRefused
from bot.ports import ChatAdapter, ChatRef, Outbound, Platform
from memory.database.database import Database, Unit
from memory.errors import StoreError
from memory.ports import Clock

log = structlog.get_logger()

STORE_RETRY_S = 5.0
"""Pause before the database is asked again after it failed."""
DOUBT_PAUSE_S = 2.0
"""Pause before a part that may have arrived is sent again; grows with each time."""
ADAPTER_PAUSE_S = 5.0
"""Pause before a platform whose connection is down is asked again."""

Place = tuple[Platform, str, str]
Written = TypeVar("Written")


class Sender:
    """The root task that empties the outbox."""

    def __init__(
        self,
        *,
        database: Database,
        delivery: Delivery,
        adapters: Mapping[Platform, ChatAdapter],
        clock: Clock,
        store_retry_s: float = STORE_RETRY_S,
    ) -> None:
        self._database = database
        self._delivery = delivery
        self._adapters = adapters
        self._clock = clock
        self._store_retry_s = store_retry_s
        self._busy: set[Place] = set()

    async def run(self) -> None:
        """Send until cancelled. Nothing that a platform says ends it."""
        async with asyncio.TaskGroup() as lanes:
            while True:
                self._delivery.woken.clear()
                heads = await self._surely(self._heads)
                pause_s = self._start_due(heads, lanes)
                await self._wait(pause_s)

    async def drain(self) -> None:
        """Wait until all that is due was sent; what must wait longer stays in the outbox.

        The caller sets the deadline.
        """
        self._delivery.wake()
        await self._delivery.quiet.wait()

    def _start_due(self, heads: list[Part], lanes: asyncio.TaskGroup) -> float | None:
        """Start a lane for each chat that has something due; seconds until the next is due."""
        now_ns, next_ns = self._clock.now_ns(), None
        for part in heads:
            place = _place(part.chat)
            if place in self._busy or part.chat.platform not in self._adapters:
                continue
            if part.due_at_ns <= now_ns:
                self._busy.add(place)
                lanes.create_task(self._empty(part.chat))
            elif next_ns is None or part.due_at_ns < next_ns:
                next_ns = part.due_at_ns
        if not self._busy and not self._delivery.woken.is_set():
            self._delivery.quiet.set()
        return None if next_ns is None else (next_ns - now_ns) / SECOND_NS

    async def _wait(self, pause_s: float | None) -> None:
        try:
            async with asyncio.timeout(pause_s):
                await self._delivery.woken.wait()
        except TimeoutError:
            self._delivery.quiet.clear()

    async def _empty(self, chat: ChatRef) -> None:
        """Send what is due in one chat, in order."""
        try:
            while True:
                part = await self._surely(lambda: self._head(chat))
                if part is None or part.due_at_ns > self._clock.now_ns():
                    return
                await self._send(part)
        finally:
            self._busy.discard(_place(chat))
            self._delivery.wake()

    async def _send(self, part: Part) -> None:
        text = self._delivery.text_of(part)
        if text is None or self._delivery.is_stale(part):
            state = OutboxState.LOST if text is None else OutboxState.EXPIRED
            await self._close(part, state)
            return
        if not await self._record(
            lambda unit, now_ns: outbox.sending(unit, part.row, now_ns=now_ns)
        ):
            return
        out = Outbound(chat=part.chat, text=text, reply_to=part.reply_to, nonce=part.nonce)
        await self._ask(part, out)

    async def _ask(self, part: Part, out: Outbound) -> None:
        """Ask the platform to deliver a part, and write down what came of it."""
        try:
            platform_id = await self._adapters[part.chat.platform].send(out)
        except SendRefused:
            await self._refused(part)
        except SendDeferred as error:
            await self._again(part, sends=part.sends, pause_s=error.retry_after_s)
        except AdapterError:
            await self._again(part, sends=part.sends, pause_s=ADAPTER_PAUSE_S)
        except SendError:
            await self._doubt(part)
        except Exception as error:  # noqa: BLE001 - a job boundary: one part must not silence all chats
            # The kind alone: the error of a library may quote what was sent.
            log.error("part.broke", row=part.row, error=type(error).__name__)  # noqa: TRY400
            await self._doubt(part)
        else:
            await self._close(part, OutboxState.DELIVERED, platform_id)

    async def _close(self, part: Part, state: OutboxState, platform_id: str | None = None) -> None:
        await self._record(
            lambda unit, now_ns: outbox.close(
                unit, part.row, state, now_ns=now_ns, platform_id=platform_id
            )
        )
        self._delivery.drop_text(part)
        log.info("part.closed", row=part.row, state=state.value, platform=part.chat.platform)

    async def _refused(self, part: Part) -> None:
        """Neither this part nor what follows it in the same reply will ever arrive."""
        await self._close(part, OutboxState.REFUSED)
        if (row := part.inbox) is not None:
            for other in await self._record(lambda unit, _now_ns: outbox.rest(unit, row)):
                await self._close(other, OutboxState.REFUSED)

    async def _doubt(self, part: Part) -> None:
        sends = part.sends + 1
        if self._delivery.may_send(part, sends):
            await self._again(part, sends=sends, pause_s=DOUBT_PAUSE_S * sends)
        else:
            await self._close(part, OutboxState.UNKNOWN)

    async def _again(self, part: Part, *, sends: int, pause_s: float) -> None:
        pause_ns = int(pause_s * SECOND_NS)
        await self._record(
            lambda unit, now_ns: outbox.again(
                unit, part.row, sends=sends, due_at_ns=now_ns + pause_ns, now_ns=now_ns
            )
        )
        log.info("part.postponed", row=part.row, pause_s=pause_s, sends=sends)

    async def _record(self, write: Callable[[Unit, int], Awaitable[Written]]) -> Written:
        """Write in a transaction of its own, again and again until it is done."""

        async def once() -> Written:
            async with self._database.unit() as unit:
                return await write(unit, self._clock.now_ns())

        return await self._surely(once)

    async def _surely(self, work: Callable[[], Awaitable[Written]]) -> Written:
        """Do database work, again after a pause for as long as the database cannot."""
        while True:
            try:
                return await work()
            except StoreError as error:
                log.error("outbox.failed", error=type(error).__name__)  # noqa: TRY400 - handled
                await asyncio.sleep(self._store_retry_s)

    async def _heads(self) -> list[Part]:
        async with self._database.reading() as reader:
            return await outbox.heads(reader)

    async def _head(self, chat: ChatRef) -> Part | None:
        async with self._database.reading() as reader:
            return await outbox.head(reader, chat)


def _place(chat: ChatRef) -> Place:
    return (chat.platform, chat.bot, chat.chat)
