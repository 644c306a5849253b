"""Takes messages over from the platforms: first who may speak, then the disk, then the lanes.

Nothing of a stranger's words is stored or logged. What is on disk is fed to a lane exactly once
while the process lives, and again after it ended without an answer. Session order is kept, also
when a lane is full.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

import structlog

from bot.access import positions
from bot.access.places import Place, Places
from bot.config.delivery_settings import DeliverySettings
from bot.delivery import inbox
from bot.delivery.amending import Amending, Corrections
from bot.delivery.attempt import Attempt
from bot.delivery.claim import Claim, lane_of
from bot.delivery.delivery import SECOND_NS, Delivery
from bot.delivery.inbox import InboxState, Waiting
from bot.errors import LaneFull
from bot.ports import (
    Author,
    ChatRef,
    CommandCall,
    Inbound,
    Platform,
    Position,
    Quarantined,
)
from bot.texts.keys import Text
from bot.texts.language import language_of
from bot.texts.tables import say
from memory.database.database import Database, Unit
from memory.errors import StoreError
from memory.ports import Clock
from memory.values import Mode, SessionId

log = structlog.get_logger()

HELD_CLAIMS = 100
"""Messages of one session that may wait in front of a full lane. Beyond, its people are told."""
ATTEMPTS = 3
"""Attempts at one message. One that ends the process each time must not do so for ever."""
DOUBT_PAUSE_S = 5.0
"""Pause before rows whose turn failed to be written are fed again."""


class Lanes(Protocol):
    """What the router offers: jobs of one session in order, those of several at once."""

    def deliver(self, session: SessionId, job: Callable[[], Awaitable[None]]) -> None:
        """Put a job at the end of its lane.

        Raises:
            LaneFull: this one was not taken.
        """
        ...


class Handler(Protocol):
    """What answers: `bot.delivery.answers.Answers`."""

    def command(self, text: str, chat: ChatRef, author: Author) -> CommandCall | None:
        """The command that a message gives, if it gives one."""
        ...

    async def handle(self, claim: Claim, attempt: Attempt) -> None:
        """Answer, and close the inbox row."""
        ...


@dataclass(slots=True, kw_only=True)
class _TakenOver:
    """What one transaction took over."""

    claims: list[Claim] = field(default_factory=list)
    notices: int = 0


class InboxIntake:
    """The one entry point for messages; `bot.ports.Intake` for the adapters."""

    def __init__(  # noqa: PLR0913 - each is a part that the composition root hands over
        self,
        *,
        database: Database,
        delivery: Delivery,
        places: Places,
        lanes: Lanes,
        handler: Handler,
        corrections: Corrections,
        clock: Clock,
        settings: DeliverySettings,
    ) -> None:
        self._database = database
        self._delivery = delivery
        self._places = places
        self._lanes = lanes
        self._handler = handler
        self._clock = clock
        self._settings = settings
        self._amending = Amending(
            database=database, corrections=corrections, deliver=lanes.deliver, clock=clock
        )
        self._known: set[int] = set()
        self._held: dict[SessionId, deque[Claim]] = {}
        self._suspects = asyncio.Lock()
        self._doubt = asyncio.Event()
        self._feeding = True

    async def accept(
        self,
        inbounds: Sequence[Inbound],
        *,
        positions: Sequence[Position] = (),
        quarantined: Sequence[Quarantined] = (),
    ) -> None:
        """Take messages over; see `bot.ports.Intake.accept`."""
        if self._doubt.is_set():
            await self._sweep()
        try:
            async with self._database.unit() as unit:
                batch = await self._take_all(unit, inbounds)
                await _note(unit, positions, quarantined, now_ns=self._clock.now_ns())
        except asyncio.CancelledError:
            self._doubt.set()  # the transaction may have been kept: nobody fed its rows
            raise
        for claim in batch.claims:
            self._feed(claim)
        if batch.notices:
            self._delivery.wake()

    async def positions(self, platform: Platform, bot: str) -> Mapping[str, str]:
        """The stored position of each stream of this bot."""
        async with self._database.reading() as reader:
            return await positions.of_bot(reader, platform, bot)

    async def moved(self, old: ChatRef, new: ChatRef) -> None:
        """Let a place go on under its new id, with its session, its rule and what waits for it."""
        async with self._database.unit() as unit:
            await self._delivery.moved(unit, old, new)
        self._delivery.moves.add(old.platform, old.bot, old=old.chat, new=new.chat)
        self._delivery.wake()

    async def edited(self, inbound: Inbound) -> None:
        """Let what is kept of a message follow its edit; see `bot.ports.Intake.edited`."""
        place = self._place(inbound)
        if place.allowed:
            await self._amending.edited(place.session, inbound)

    async def deleted(self, chat: ChatRef, messages: Sequence[str]) -> None:
        """Forget messages; see `bot.ports.Intake.deleted`."""
        here = replace(chat, chat=self._delivery.moves.first(chat))
        patterns = self._places.patterns(chat)
        await self._amending.deleted(
            here, messages, patterns, lambda inbound: self._place(inbound).session
        )

    async def resume(self) -> None:
        """Bring in order what an earlier process left, and feed it.

        Call it once, before the sender and the adapters run.

        Raises:
            StoreError: nothing was changed.
        """
        async with self._database.unit() as unit:
            await inbox.rest(unit)
            for part in await self._delivery.recover(unit):
                await self._notify(unit, part.chat, Text.LOST, None)
        await self._sweep()

    async def run(self) -> None:
        """Feed again what could not be finished because the database failed; a root task."""
        while True:
            await self._doubt.wait()
            await asyncio.sleep(DOUBT_PAUSE_S)
            try:
                await self._sweep()
            except StoreError as error:
                log.error("inbox.failed", error=type(error).__name__)  # noqa: TRY400 - handled

    def stop_feeding(self) -> None:
        """From now on messages are taken over and left for the next start: we are shutting down."""
        self._feeding = False

    async def _take_all(self, unit: Unit, inbounds: Iterable[Inbound]) -> _TakenOver:
        batch = _TakenOver()
        for inbound in inbounds:
            place = self._place(inbound)
            if place.allowed and inbound.addressed:
                await self._take(unit, inbound, place, batch)
        return batch

    def _place(self, inbound: Inbound) -> Place:
        place = self._places.place(inbound.chat, inbound.author)
        if not place.allowed:
            # Ids alone: what an operator needs to let them in.
            log.info("message.ignored", person=inbound.author.person, chat=inbound.chat.chat)
        return place

    async def _take(self, unit: Unit, inbound: Inbound, place: Place, batch: _TakenOver) -> None:
        call = self._command(inbound)
        notice = self._refusal(inbound, lane_of(place.session, call))
        now_ns = self._clock.now_ns()
        row = await inbox.take(
            unit,
            inbound if place.mode is not Mode.POOLS else _wordless(inbound),
            with_text=place.mode is not Mode.POOLS and notice is None,
            now_ns=now_ns,
            state=_CLOSED_AS[notice] if notice else InboxState.WAITING,
        )
        if row is None:
            log.info("message.repeated", session=place.session)
        elif notice:
            await self._notify(unit, inbound.chat, notice, inbound)
            batch.notices += 1
        else:
            batch.claims.append(Claim(row=row, inbound=inbound, place=place, call=call))

    def _command(self, inbound: Inbound) -> CommandCall | None:
        return self._handler.command(inbound.text, inbound.chat, inbound.author)

    def _refusal(self, inbound: Inbound, lane: SessionId) -> Text | None:
        """Why a message that may be answered is not, if there is a reason."""
        if self._is_old(inbound):
            return Text.LEFT_UNANSWERED
        if len(self._held.get(lane, ())) >= HELD_CLAIMS:
            return Text.BUSY
        return None

    def _is_old(self, inbound: Inbound) -> bool:
        age_ns = self._clock.now_ns() - inbound.sent_at_ns
        return age_ns > self._settings.max_age_s * SECOND_NS

    async def _notify(
        self, unit: Unit, chat: ChatRef, notice: Text, inbound: Inbound | None
    ) -> None:
        text, hint = (inbound.text, inbound.author.language) if inbound else ("", None)
        language = language_of(text, hint)
        log.info("message.unanswered", why=notice.value, platform=chat.platform)
        await self._delivery.notify(
            unit, chat, notice.value, lambda count: say(notice, language, count=count)
        )

    async def _sweep(self) -> None:
        """Feed every open row that no lane knows, unless there is a reason not to."""
        self._doubt.clear()
        try:
            async with self._database.unit() as unit:
                rows = await inbox.waiting(unit)
                unknown = [one for one in rows if one.row not in self._known]
                claims = [await self._reclaim(unit, one) for one in unknown]
        except BaseException:
            self._doubt.set()
            raise
        for claim in _least_suspect_first([claim for claim in claims if claim is not None]):
            self._feed(claim)
        self._delivery.wake()

    async def _reclaim(self, unit: Unit, waiting: Waiting) -> Claim | None:
        inbound = waiting.inbound
        place = self._place(inbound)
        notice = self._ending(waiting)
        if not place.allowed or notice:
            state = _CLOSED_AS[notice] if notice and place.allowed else InboxState.REFUSED
            await inbox.close(unit, waiting.row, state, now_ns=self._clock.now_ns())
            if notice and place.allowed:
                await self._notify(unit, inbound.chat, notice, inbound)
            return None
        return Claim(
            row=waiting.row,
            inbound=inbound,
            place=place,
            call=self._command(inbound),
            attempts=waiting.attempts,
        )

    def _ending(self, waiting: Waiting) -> Text | None:
        """Why an open row is not fed again, if there is a reason."""
        if not waiting.has_text:
            return Text.LOST
        if self._is_old(waiting.inbound):
            return Text.LEFT_UNANSWERED
        return Text.FAULT if waiting.attempts >= ATTEMPTS else None

    def _feed(self, claim: Claim) -> None:
        """Give a claim to its lane, or hold it in front of the lane. No await in here."""
        if claim.row in self._known:
            return
        self._known.add(claim.row)
        self._held.setdefault(claim.lane, deque()).append(claim)
        self._refill(claim.lane)

    def _refill(self, lane: SessionId) -> None:
        held = self._held.get(lane)
        while held and self._feeding:
            claim = held[0]
            try:
                self._lanes.deliver(lane, partial(self._work, lane, claim))
            except LaneFull:
                log.info("lane.filled", session=lane, held=len(held))
                return
            held.popleft()
        if not held:
            self._held.pop(lane, None)

    async def _work(self, lane: SessionId, claim: Claim) -> None:
        """The job of one claim. What it cannot finish is fed again later.

        Messages that were under way when an earlier process ended go one at a time: whichever of
        them ends this process too makes no suspect of the others.
        """
        self._refill(lane)
        finished = False
        try:
            async with self._suspects if claim.attempts else nullcontext():
                await self._attempt(claim)
            finished = True
        finally:
            self._known.discard(claim.row)
            if not finished:
                self._doubt.set()

    async def _attempt(self, claim: Claim) -> None:
        async with self._database.unit() as unit:
            begun = await inbox.begin(unit, claim.row, now_ns=self._clock.now_ns())
        if not begun:
            return
        attempt = Attempt(self._database, claim.row)
        try:
            await self._handler.handle(self._renewed(claim), attempt)
        except asyncio.CancelledError:
            await attempt.waits()  # the process is stopped: that is nobody's fault
            raise

    def _renewed(self, claim: Claim) -> Claim:
        """The claim with what was decided while it waited behind other turns.

        From here on nobody asks again: the place is carried to the command or the turn.
        """
        place = self._place(claim.inbound)
        if not place.allowed:
            # Nothing is known of a stranger's place: what it was stays, without any right.
            place = replace(claim.place, allowed=False, admin=False)
        return replace(claim, place=place)


def _least_suspect_first(claims: Sequence[Claim]) -> list[Claim]:
    """Claims by how often their session's worst one was tried; each session's in their order."""
    worst: dict[SessionId, int] = {}
    for claim in claims:
        worst[claim.lane] = max(worst.get(claim.lane, 0), claim.attempts)
    return sorted(claims, key=lambda claim: worst[claim.lane])


_CLOSED_AS = {
    Text.LEFT_UNANSWERED: InboxState.EXPIRED,
    Text.LOST: InboxState.LOST,
    Text.BUSY: InboxState.FAILED,
    Text.FAULT: InboxState.FAILED,
}


async def _note(
    unit: Unit, seen: Sequence[Position], quarantined: Sequence[Quarantined], *, now_ns: int
) -> None:
    await positions.save(unit, seen)
    await positions.set_aside(unit, quarantined, now_ns=now_ns)


def _wordless(inbound: Inbound) -> Inbound:
    """The message as pools mode may write it: instead of words, the language that they were in."""
    language = language_of(inbound.text, inbound.author.language).value
    return replace(inbound, text="", author=replace(inbound.author, name="", language=language))
