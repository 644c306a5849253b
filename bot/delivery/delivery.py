"""What is sent out: replies and notices on their way through the outbox, and what is known.

It queues parts inside the caller's transaction and keeps, in memory alone, the text of
those that may not be written to disk. It never sends: `bot.delivery.sender` does.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from secrets import token_hex

import structlog

from bot.access import positions
from bot.access.positions import Moves
from bot.config.delivery_settings import DeliverySettings
from bot.delivery import inbox, outbox
from bot.delivery.claim import Claim
from bot.delivery.inbox import InboxState
from bot.delivery.outbox import NewPart, OutboxState, Part
from bot.manifests import PlatformManifest
from bot.ports import ChatKind, ChatRef, Platform
from memory.database.database import Database, Unit
from memory.ports import Clock

log = structlog.get_logger()

SECOND_NS = 1_000_000_000
DAY_NS = 86_400 * SECOND_NS

NOTICE_DELAY_NS = 2 * SECOND_NS
"""A notice waits this long, so that one notice can speak of a whole backlog."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryCounts:
    """How much is on its way."""

    inbox_open: int
    outbox_open: int
    perhaps_delivered: int
    quarantined: int


class Delivery:
    """The way out. Made by `open_delivery`."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        settings: DeliverySettings,
        platforms: Mapping[Platform, PlatformManifest],
        moves: Moves,
    ) -> None:
        self._database = database
        self._clock = clock
        self._settings = settings
        self._platforms = platforms
        self._unwritten: dict[str, str] = {}
        self.moves = moves
        self.woken = asyncio.Event()
        """Set when there may be something new to send; whoever sends clears it."""
        self.quiet = asyncio.Event()
        """Set while nothing is due and nothing is being sent; `wake` clears it."""

    def wake(self) -> None:
        """Make the sender look again. Call it after the transaction that wrote parts."""
        self.quiet.clear()
        self.woken.set()

    async def settle(
        self,
        unit: Unit,
        claim: Claim,
        parts: Sequence[str],
        *,
        state: InboxState = InboxState.ANSWERED,
    ) -> None:
        """Close an inbox row and queue its reply, as part of the caller's transaction.

        A row that was closed before, or deleted, gets no second reply. Call `wake` when the
        transaction is over.

        Args:
            unit: the transaction.
            claim: whose row; in pools mode the text of the parts is kept in memory alone.
            parts: the reply, cut for its platform; may be empty.
            state: how the row ends.
        """
        now_ns = self._clock.now_ns()
        if not await inbox.close(unit, claim.row, state, now_ns=now_ns):
            log.warning("turn.outlived", row=claim.row)
            return
        inbound = claim.inbound
        chat = inbound.chat
        seed = f"{chat.platform}/{chat.bot}/{chat.chat}/{inbound.message}"
        group = chat.kind is ChatKind.GROUP
        for number, text in enumerate(parts):
            part = NewPart(
                chat=self._here(chat),
                text=text,
                part=number,
                inbox=claim.row,
                reply_to=inbound.message if group and number == 0 else None,
                seed=seed,
            )
            await self._put(unit, part, on_disk=claim.on_disk)

    async def _put(self, unit: Unit, part: NewPart, *, on_disk: bool) -> None:
        stored = part if on_disk else replace(part, text=None)
        nonce = await outbox.put(unit, stored, now_ns=self._clock.now_ns())
        if part.text is not None and not on_disk:
            self._unwritten[nonce] = part.text

    def _here(self, chat: ChatRef) -> ChatRef:
        return replace(chat, chat=self.moves.current(chat))

    async def notify(
        self, unit: Unit, chat: ChatRef, notice: str, say: Callable[[int], str], *, count: int = 1
    ) -> None:
        """Say something about `count` messages in our own words, once for all of them.

        While a notice of the same kind waits for this place, it grows instead. Call `wake`
        afterwards.
        """
        now_ns = self._clock.now_ns()
        here = self._here(chat)
        if found := await outbox.waiting_notice(unit, here, notice):
            row, before = found
            total = before + count
            await outbox.grow_notice(unit, row, text=say(total), counted=total, now_ns=now_ns)
            return
        await outbox.put_notice(
            unit,
            NewPart(chat=here, text=say(count), part=0, seed=token_hex(16)),
            notice=notice,
            counted=count,
            now_ns=now_ns,
            due_at_ns=now_ns + NOTICE_DELAY_NS,
        )

    def text_of(self, part: Part) -> str | None:
        """What the part says; None when the process that knew it has ended."""
        return part.text if part.text is not None else self._unwritten.get(part.nonce)

    def drop_text(self, part: Part) -> None:
        """Forget the text of a part that is closed."""
        self._unwritten.pop(part.nonce, None)

    async def recover(self, unit: Unit) -> list[Part]:
        """Bring the outbox into order at start-up, before anything is sent.

        What was being sent is sent again as far as its platform allows. What is too old is let
        go. Returns the first part of each reply whose text was lost.
        """
        now_ns = self._clock.now_ns()
        lost: dict[int, Part] = {}
        for part in await outbox.waiting(unit):
            state = self._triage(part)
            if state is OutboxState.WAITING:
                due_at_ns = min(part.due_at_ns, now_ns) if part.sends else part.due_at_ns
                await outbox.again(
                    unit, part.row, sends=part.sends, due_at_ns=due_at_ns, now_ns=now_ns
                )
                continue
            await outbox.close(unit, part.row, state, now_ns=now_ns)
            log.warning("part.abandoned", row=part.row, state=state.value)
            if state is OutboxState.LOST:
                lost.setdefault(part.inbox or -part.row, part)
        return list(lost.values())

    def _triage(self, part: Part) -> OutboxState:
        if self.text_of(part) is None:
            return OutboxState.LOST
        if self.is_stale(part):
            return OutboxState.EXPIRED
        return OutboxState.WAITING if self.may_send(part, part.sends) else OutboxState.UNKNOWN

    def may_send(self, part: Part, sends: int) -> bool:
        """Whether a part that may have arrived so many times may be sent once more."""
        platform = self._platforms.get(part.chat.platform)
        return sends < (platform.most_sends if platform else 1)

    def is_stale(self, part: Part) -> bool:
        """Whether the part has waited for so long that it is better not sent."""
        age_ns = self._clock.now_ns() - part.created_at_ns
        return age_ns > self._settings.reply_max_age_s * SECOND_NS

    async def moved(self, unit: Unit, old: ChatRef, new: ChatRef) -> None:
        """Let a place go on under its new id. Call `moves.add` when the transaction is over."""
        await positions.move(unit, old, new.chat)
        await outbox.move(unit, old, new.chat, now_ns=self._clock.now_ns())

    async def sweep(self) -> None:
        """Delete ids that no platform will repeat any more; a daily job."""
        before_ns = self._clock.now_ns() - self._settings.keep_ids_days * DAY_NS
        async with self._database.unit() as unit:
            await outbox.sweep(unit, before_ns=before_ns)
            await inbox.sweep(unit, before_ns=before_ns)
            await positions.sweep(unit, before_ns=before_ns)

    async def counts(self) -> DeliveryCounts:
        """How much is on its way now."""
        async with self._database.reading() as reader:
            inside = await inbox.counts(reader)
            outside = await outbox.counts(reader)
            aside = await positions.quarantined(reader)
        return DeliveryCounts(
            inbox_open=inside.get(InboxState.WAITING, 0) + inside.get(InboxState.WORKING, 0),
            outbox_open=outside.get(OutboxState.WAITING, 0) + outside.get(OutboxState.SENDING, 0),
            perhaps_delivered=outside.get(OutboxState.UNKNOWN, 0),
            quarantined=aside,
        )


@asynccontextmanager
async def open_delivery(
    *,
    database: Database,
    clock: Clock,
    settings: DeliverySettings,
    platforms: Mapping[Platform, PlatformManifest],
) -> AsyncIterator[Delivery]:
    """The way out over a database that is open and holds the tables of `bot/app/schema`."""
    async with database.reading() as reader:
        moves = await positions.moves(reader)
    yield Delivery(
        database=database, clock=clock, settings=settings, platforms=platforms, moves=moves
    )
