"""Mode `pools` (seed 2 alone): distilled facts and no transcript, not even for a moment.

A turn lives in memory until it has been distilled. This module and all that it imports cannot
reach the archive or the message vectors; an import contract sees to it.
"""

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from memory.database.database import Database, Unit
from memory.errors import ModelError
from memory.modes.interface import Gathered
from memory.pools import queue_table
from memory.pools.deconstruct_pass import Deconstructor, SourceTurn, worth_distilling
from memory.pools.entry import Source, SourceKind
from memory.pools.slot import PoolSlot
from memory.prompt.prompt import Prompt, Slots
from memory.values import NO_SEQ, Message, Moment, NewMessage, Session, SessionId, Turn

log = structlog.get_logger()

MOST_WAITING = 200
"""Turns of all sessions that may wait in memory to be distilled: an hour of a busy group while the
model is away. What is more pushes out the oldest, which is counted as lost."""
MOST_SESSIONS = 1_000
"""Sessions whose last turns are kept in memory, where that is set."""


@dataclass(slots=True, kw_only=True)
class _Waiting:
    """A turn that is in memory only."""

    exchange: SourceTurn
    mark: int
    attempts: int = 0


class PoolsMode:
    """The pools alone."""

    def __init__(
        self,
        *,
        database: Database,
        slot: PoolSlot,
        deconstructor: Deconstructor,
        recent_turns: int = 0,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self._database = database
        self._slot = slot
        self._deconstructor = deconstructor
        self._recent_turns = recent_turns
        self._most_waiting = most_waiting
        self._waiting: deque[_Waiting] = deque()
        self._pushed_out: list[_Waiting] = []
        self._recent: OrderedDict[SessionId, deque[Message]] = OrderedDict()

    @property
    def in_memory(self) -> list[SessionId]:
        """Sessions with turns that are to be distilled, who waits longest first."""
        both = (*self._pushed_out, *self._waiting)
        return list(dict.fromkeys(one.exchange.session for one in both))

    async def gather(self, session: Session, entry: NewMessage) -> Gathered:
        """A fixed number of facts; the last turns only where that is set."""
        facts = await self._slot.gather(session.id, entry)
        window = tuple(self._recent.get(session.id, ()))
        return Gathered(window=window, slots=Slots(pool=facts.lines), shown=facts.shown)

    def composed(self, session: Session, gathered: Gathered, prompt: Prompt) -> None:
        """What was left out is not missed: there is no other place for it."""

    async def keep(
        self,
        unit: Unit,
        number: int,  # noqa: ARG002 - nothing is archived here
        turn: Turn,
    ) -> int | None:
        """Note that a turn waits, without a word of it."""
        if turn.entry.speaker is None or not worth_distilling(turn.entry.text):
            return None
        if (await queue_table.state(unit, turn.session)).paused:
            return None
        return await queue_table.mark(unit, turn.session, seq=None)

    def settled(self, turn: Turn, mark: int | None) -> None:
        """Hold the turn in memory until it is distilled."""
        self._remember(turn)
        if mark is None or turn.entry.speaker is None:
            return
        self._waiting.append(_Waiting(exchange=_exchange(turn), mark=mark))
        while len(self._waiting) > self._most_waiting:
            self._pushed_out.append(self._waiting.popleft())
            log.warning("turn.lost", session=self._pushed_out[-1].exchange.session)

    def _remember(self, turn: Turn) -> None:
        if not self._recent_turns:
            return
        recent = self._recent.pop(turn.session, deque(maxlen=2 * self._recent_turns))
        recent.extend(_message(turn, one) for one in (turn.entry, turn.reply))
        self._recent[turn.session] = recent
        while len(self._recent) > MOST_SESSIONS:
            self._recent.popitem(last=False)

    async def afterwards(
        self,
        session: SessionId,
        moment: Moment,  # noqa: ARG002 - the next turn knows only what was distilled
    ) -> None:
        """Distil the session's turns, oldest first; one that fails stays and is tried again."""
        await self._count_lost()
        for one in [one for one in self._waiting if one.exchange.session == session]:
            try:
                await self._deconstructor.run(one.exchange, mark=one.mark, attempt=one.attempts)
            except ModelError:
                one.attempts += 1
                raise
            # A reset may have emptied the queue during the call.
            if one in self._waiting:
                self._waiting.remove(one)

    async def _count_lost(self) -> None:
        while self._pushed_out:
            one = self._pushed_out[0]
            async with self._database.unit() as unit:
                await queue_table.lose(unit, one.exchange.session, one.mark)
            if self._pushed_out and self._pushed_out[0] is one:
                self._pushed_out.pop(0)

    def holders(self, platform_ids: Sequence[str]) -> set[SessionId]:
        """The sessions that have any of these turns waiting, or among their last ones."""
        waiting = (*self._pushed_out, *self._waiting)
        found = {one.exchange.session for one in waiting if one.exchange.source.id in platform_ids}
        recent = (one for turns in self._recent.values() for one in turns)
        return found | {one.session for one in recent if one.platform_id in platform_ids}

    async def forget(self, unit: Unit, session: SessionId, platform_ids: Sequence[str]) -> int:
        """Drop turns; what is being distilled of them comes to nothing, as the mark goes."""
        recent = self._recent.get(session, deque())
        left = [one for one in recent if one.platform_id not in platform_ids]
        turns = (len(recent) - len(left)) // 2
        recent.clear()
        recent.extend(left)
        dropped = [
            one
            for one in (*self._pushed_out, *self._waiting)
            if one.exchange.session == session and one.exchange.source.id in platform_ids
        ]
        for one in dropped:
            await queue_table.done(unit, one.mark)
        self._waiting = deque(one for one in self._waiting if one not in dropped)
        self._pushed_out = [one for one in self._pushed_out if one not in dropped]
        return max(turns, len(dropped))

    async def reset(self, unit: Unit, session: SessionId) -> None:
        """Drop the session's turns."""
        self._recent.pop(session, None)
        self._waiting = deque(one for one in self._waiting if one.exchange.session != session)
        self._pushed_out = [one for one in self._pushed_out if one.exchange.session != session]
        await queue_table.forget(unit, session)


def _exchange(turn: Turn) -> SourceTurn:
    if turn.entry.speaker is None:
        raise ValueError("only what a person said is distilled")
    identity = turn.entry.platform_id or str(turn.entry.sent_at_ns)
    return SourceTurn(
        session=turn.session,
        epoch=turn.epoch,
        speaker=turn.entry.speaker,
        text=turn.entry.text,
        reply=turn.reply.text,
        said_at_ns=turn.entry.sent_at_ns,
        source=Source(kind=SourceKind.TURN, id=identity),
        group=turn.group,
        shown=turn.shown.facts,
    )


def _message(turn: Turn, said: NewMessage) -> Message:
    """Both messages of a turn bear the id of the first: the reply goes with what it answers."""
    return Message(
        seq=NO_SEQ,
        session=turn.session,
        role=said.role,
        text=said.text,
        sent_at_ns=said.sent_at_ns,
        speaker=said.speaker,
        platform_id=turn.entry.platform_id,
    )
