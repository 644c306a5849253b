"""Gets the model's answer to a message: its prompt, the tools it is offered, the loop round both."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bot.ports import Draft
from bot.turn.interface import TRANSCRIPT_MODES, TurnContext
from bot.turn.loop import Outcome, ToolLoop
from bot.turn.registry import NO_TOOLS, OfferedTools, Toolbox
from bot.turn.running import Advise, Finished, Runner, no_advice
from memory.database.database import Unit
from memory.engine import Composed, Engine
from memory.errors import PromptTooLong
from memory.ports import ChatModel, ChatRole, Clock
from memory.tool_errors.runs_table import ToolRun
from memory.values import NewMessage, SessionId

Keep = Callable[[Unit, SessionId, Sequence[ToolRun]], Awaitable[None]]
"""Keeps the finished runs of a turn, within the transaction that ends it."""


async def keep_nothing(_unit: Unit, _session: SessionId, _runs: Sequence[ToolRun]) -> None:
    """Keep no run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tooling:
    """What the model may use besides words."""

    toolbox: Toolbox
    advise: Advise = no_advice
    keep: Keep = keep_nothing


NO_TOOLING = Tooling(toolbox=Toolbox())


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAnswer:
    """The model's answer, with what is needed to keep the turn."""

    text: str
    composed: Composed
    runs: tuple[Finished, ...]
    """The tools that ran for it, in order."""


class Talker:
    """Gets answers."""

    def __init__(self, *, engine: Engine, chat: ChatModel, clock: Clock, tooling: Tooling) -> None:
        self._engine = engine
        self._chat = chat
        self._toolbox = tooling.toolbox
        self._keep = tooling.keep
        runner = Runner(clock=clock, advise=tooling.advise)
        self._loop = ToolLoop(chat=chat, runner=runner, count=engine.count_tokens)

    async def answer(self, context: TurnContext, entry: NewMessage, draft: Draft) -> TurnAnswer:
        """The model's answer to a message, shown in the draft as it is written.

        Raises:
            PromptTooLong: the message does not fit the model by itself.
            ModelError: the model gave no answer.
        """
        composed, offered = await self._compose(context, entry)
        seen = _seen(context, composed)
        outcome = await self._loop.reply(composed.prompt, offered, seen, draft)
        self._learn(composed, offered, outcome)
        return TurnAnswer(text=outcome.text, composed=composed, runs=outcome.runs)

    async def keep(self, unit: Unit, context: TurnContext, talked: TurnAnswer) -> None:
        """Keep which tools ran, as part of the caller's transaction; nothing in pools mode."""
        if context.mode in TRANSCRIPT_MODES:
            await self._keep(unit, context.session, [_run(one) for one in talked.runs])

    async def _compose(
        self, context: TurnContext, entry: NewMessage
    ) -> tuple[Composed, OfferedTools]:
        """The prompt with the tools on offer; without any where the message needs the whole budget."""
        compose = partial(self._engine.compose, context.session, entry, mode=context.mode)
        limits = await self._chat.limits()
        offered = self._toolbox.offered(context, limits, self._engine.count_tokens)
        try:
            composed = await compose(reserved_tokens=offered.tokens)
        except PromptTooLong:
            if offered is NO_TOOLS:
                raise
            offered, composed = NO_TOOLS, await compose()
        return composed, offered

    def _learn(self, composed: Composed, offered: OfferedTools, outcome: Outcome) -> None:
        """Correct the token estimate by the one call whose prompt was just this."""
        reported = outcome.first.prompt_tokens if outcome.first else None
        if reported is not None:
            self._engine.learn_tokens(composed.prompt, reported - offered.tokens)


def _run(finished: Finished) -> ToolRun:
    return ToolRun(
        tool=finished.call.name,
        arguments=finished.arguments,
        result=finished.text,
        failed=finished.failed,
        ran_at_ns=finished.ran_at_ns,
        elapsed_ms=finished.elapsed_ms,
    )


def _seen(context: TurnContext, composed: Composed) -> TurnContext:
    """The context with what the model sees of the past."""
    prompt = composed.prompt
    # The bot's own replies retell what people said, so only the rules are nobody's words.
    said = tuple(one.text for one in prompt.messages if one.role is not ChatRole.SYSTEM)
    return replace(context, shown_from=prompt.window_from, said=said)
