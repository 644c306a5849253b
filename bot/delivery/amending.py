"""Edits and deletions that platforms report, carried out wherever the message is by then.

It may be in the archive, in the inbox, or in a turn that is being answered. What is being answered
is kept only at its end, so the correction is made once more in the lane, behind that turn.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import structlog

from bot.delivery import inbox
from bot.delivery.inbox import InboxState
from bot.errors import LaneFull
from bot.ports import ChatRef, Inbound
from memory.database.database import Database
from memory.ports import Clock
from memory.values import SessionId

log = structlog.get_logger()


class Corrections(Protocol):
    """What memory offers: `memory.keeping.corrections.Corrector`."""

    async def edited(self, session: SessionId, platform_id: str, text: str) -> bool:
        """Let a message say something else."""
        ...

    async def deleted(self, session: SessionId, platform_ids: Sequence[str]) -> int:
        """Forget messages of a session."""
        ...

    async def deleted_there(self, patterns: Sequence[str], platform_ids: Sequence[str]) -> int:
        """Forget messages of all sessions whose id fits."""
        ...


Deliver = Callable[[SessionId, Callable[[], Awaitable[None]]], None]
"""Puts a job at the end of a session's lane; may raise `LaneFull`."""


class Amending:
    """Carries corrections out."""

    def __init__(
        self, *, database: Database, corrections: Corrections, deliver: Deliver, clock: Clock
    ) -> None:
        self._database = database
        self._corrections = corrections
        self._deliver = deliver
        self._clock = clock

    async def edited(self, session: SessionId, inbound: Inbound) -> None:
        """Let what is kept of a message follow its edit.

        Raises:
            StoreError: nothing was changed.
        """
        message, text = inbound.message, inbound.text
        async with self._database.unit() as unit:
            waiting = await inbox.open_there(unit, inbound.chat, [message])
            await inbox.reword(unit, inbound.chat, message, text, now_ns=self._clock.now_ns())
        await self._corrections.edited(session, message, text)

        async def again() -> None:
            await self._corrections.edited(session, message, text)

        if waiting:
            self._behind(session, again)

    async def deleted(
        self,
        chat: ChatRef,
        messages: Sequence[str],
        patterns: Sequence[str],
        session_of: Callable[[Inbound], SessionId],
    ) -> None:
        """Forget messages; those that nobody began to answer are not answered any more.

        Raises:
            StoreError: something was not forgotten; asking again is safe.
        """
        async with self._database.unit() as unit:
            waiting = await inbox.open_there(unit, chat, messages)
            for one in waiting:
                if not one.begun:
                    now_ns = self._clock.now_ns()
                    await inbox.close(unit, one.row, InboxState.REFUSED, now_ns=now_ns)
        await self._corrections.deleted_there(patterns, messages)
        for one in waiting:
            if one.begun:
                self._forget_behind(session_of(one.inbound), one.inbound.message)

    def _forget_behind(self, session: SessionId, message: str) -> None:
        async def again() -> None:
            await self._corrections.deleted(session, [message])

        self._behind(session, again)

    def _behind(self, session: SessionId, job: Callable[[], Awaitable[None]]) -> None:
        try:
            self._deliver(session, job)
        except LaneFull:
            log.warning("correction.dropped", session=session)
