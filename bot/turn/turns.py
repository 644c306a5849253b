"""The turn engine: one message in, one reply out, kept in one transaction.

Whatever goes wrong is said in the chat, and never stored as an answer.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import structlog

from bot.errors import TurnStopped
from bot.ports import ChatKind, Draft, Reply
from bot.texts.keys import Text
from bot.texts.language import Language
from bot.texts.tables import say
from bot.turn.interface import TurnContext
from bot.turn.talking import NO_TOOLING, Talker, Tooling, TurnAnswer
from memory.database.database import Unit
from memory.engine import Engine
from memory.errors import (
    KithError,
    ModelError,
    ModelMissing,
    ModelTimedOut,
    ModelUnreachable,
    PromptTooLong,
    SessionMoved,
    StoreError,
)
from memory.ports import ChatModel, Clock
from memory.values import NewMessage, Role, SessionId, Turn

log = structlog.get_logger()


Settle = Callable[[Unit, Reply], Awaitable[None]]
"""What else belongs into the transaction that ends a turn (outbox rows, the inbox's state)."""


async def _nothing_else(_unit: Unit, _reply: Reply) -> None:
    """Settle nothing: the console has neither inbox nor outbox."""


class Silent:
    """A draft that nobody watches."""

    async def show(self, text: str) -> None:
        """Show nothing."""

    async def status(self, text: str) -> None:
        """Show nothing."""


SILENT = Silent()


class TurnEngine:
    """Answers messages, one turn at a time in each session (the lanes see to that)."""

    def __init__(
        self, *, engine: Engine, chat: ChatModel, clock: Clock, tooling: Tooling = NO_TOOLING
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._talker = Talker(engine=engine, chat=chat, clock=clock, tooling=tooling)
        self._running: dict[SessionId, asyncio.Timeout] = {}

    def stop(self, session: SessionId) -> bool:
        """Stop the turn of a session while the model writes; nothing of it is kept."""
        scope = self._running.get(session)
        if scope is None:
            return False
        scope.reschedule(asyncio.get_running_loop().time())
        return True

    async def answer(
        self,
        context: TurnContext,
        entry: NewMessage,
        draft: Draft = SILENT,
        settle: Settle = _nothing_else,
    ) -> Reply:
        """Answer a message, and keep the turn: the turn boundary.

        Args:
            context: where it was said.
            entry: the message.
            draft: where the reply appears while it is written.
            settle: what else belongs into the transaction.

        Returns:
            The reply as it was settled; a failure is a reply too, which is not kept.

        Raises:
            StoreError: not even the failure could be settled.
        """
        began_ns = self._clock.now_ns()
        try:
            reply = await self._turn(context, entry, draft, settle)
        except KithError as error:
            log.warning("turn.failed", session=context.session, error=type(error).__name__)
            reply = await self._fail(_failure(error, context.language), settle)
        except Exception:
            log.exception("turn.broke", session=context.session)
            reply = await self._fail(say(Text.FAULT, context.language), settle)
        elapsed_ms = (self._clock.now_ns() - began_ns) // 1_000_000
        log.info("turn.ended", session=context.session, kept=reply.kept, elapsed_ms=elapsed_ms)
        return reply

    async def _fail(self, text: str, settle: Settle) -> Reply:
        reply = Reply(text=text, kept=False)
        async with self._engine.unit() as unit:
            await settle(unit, reply)
        return reply

    async def _turn(
        self, context: TurnContext, entry: NewMessage, draft: Draft, settle: Settle
    ) -> Reply:
        talking = self._talker.answer(context, entry, draft)
        talked = await self._stoppable(context.session, talking)
        text, composed = talked.text, talked.composed
        if not text:
            return await self._fail(say(Text.NO_ANSWER, context.language), settle)
        reply = Reply(text=text, kept=True)
        said = NewMessage(role=Role.ASSISTANT, text=text, sent_at_ns=self._clock.now_ns())
        turn = Turn(
            session=context.session,
            title=context.title,
            epoch=composed.epoch,
            entry=entry,
            reply=said,
            mode=context.mode,
            group=context.kind is ChatKind.GROUP,
            shown=composed.shown,
        )
        async with self._engine.unit() as unit:
            mark = await self._engine.observe(unit, turn)
            await self._talker.keep(unit, context, talked)
            await settle(unit, reply)
        self._engine.settled(turn, mark)
        return reply

    async def _stoppable(
        self, session: SessionId, work: Coroutine[Any, Any, TurnAnswer]
    ) -> TurnAnswer:
        try:
            async with asyncio.timeout(None) as scope:
                self._running[session] = scope
                return await work
        except TimeoutError:
            if not scope.expired():
                raise
            raise TurnStopped("stopped by a person") from None
        finally:
            del self._running[session]


_FAILURES: tuple[tuple[type[KithError], Text], ...] = (
    (ModelUnreachable, Text.MODEL_UNREACHABLE),
    (ModelMissing, Text.MODEL_MISSING),
    (ModelTimedOut, Text.MODEL_SILENT),
    (ModelError, Text.MODEL_FAILED),
    (SessionMoved, Text.WAS_RESET),
    (TurnStopped, Text.STOPPED),
    (StoreError, Text.STORAGE_FAILED),
)


def _failure(error: KithError, language: Language) -> str:
    """What the person reads; the operator finds the details in the log."""
    if isinstance(error, PromptTooLong):
        return say(Text.TOO_LONG, language, needed=error.needed_tokens, limit=error.limit_tokens)
    for kind, text in _FAILURES:
        if isinstance(error, kind):
            return say(text, language, reason=error)
    return say(Text.FAULT, language)
