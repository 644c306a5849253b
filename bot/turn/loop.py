"""The tool loop: the model talks, tools run, and whatever the model does it ends in an answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import structlog

from bot.ports import Draft
from bot.turn.exchanges import FULL_SHARE, Count, Exchange, exchange_of, fitted, tokens_of, within
from bot.turn.interface import TurnContext
from bot.turn.registry import NO_TOOLS, OfferedTools
from bot.turn.replies import Cleaner, cleaner_for
from bot.turn.running import Finished, Runner, format_arguments
from bot.turn.saying import excerpts_in
from bot.turn.speaking import ModelOutput, speak
from memory.errors import ModelAnswerInvalid, ModelRefused
from memory.ports import ChatMessage, ChatModel, ChatRequest, ChatRole, Completion, ModelLimits
from memory.prompt.prompt import Prompt

log = structlog.get_logger()

MOST_ROUNDS = 8
"""Of tools in one turn; then the model has to answer with what it has."""
_MOST_STALE_ROUNDS = 2
"""Rounds in which nothing new was asked for."""
_LEAST_RESULT_TOKENS = 64
_ANSWER_NOW = (
    "(No more tools can be used for this message. Answer it now, in its language, with what is"
    " known; say so if something could not be found.)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a turn's talking came to."""

    text: str
    runs: tuple[Finished, ...] = ()
    first: Completion | None = None
    """The first call's: the only one whose prompt was the composed one."""


@dataclass(slots=True, kw_only=True)
class _Turn:
    """One turn under way."""

    prompt: Prompt
    offered: OfferedTools
    context: TurnContext
    draft: Draft
    limits: ModelLimits
    exchanges: list[Exchange] = field(default_factory=list)
    runs: list[Finished] = field(default_factory=list)
    calls_made: set[tuple[str, str]] = field(default_factory=set)
    stale_rounds: int = 0
    first: Completion | None = None

    def cleaner(self) -> Cleaner:
        """For one reply: what the person wrote decides which one, not what tools say."""
        return cleaner_for(ChatRequest(messages=self.prompt.messages))

    @property
    def fixed_tokens(self) -> int:
        """What stands in the prompt in any case."""
        return self.prompt.tokens + self.offered.tokens

    @property
    def budget(self) -> int:
        """Tokens for prompt and exchanges together."""
        return self.limits.context_tokens - self.limits.reply_tokens


class ToolLoop:
    """Lets the model talk and use tools until it has answered."""

    def __init__(self, *, chat: ChatModel, runner: Runner, count: Count) -> None:
        self._chat = chat
        self._runner = runner
        self._count = count

    async def reply(
        self, prompt: Prompt, offered: OfferedTools, context: TurnContext, draft: Draft
    ) -> Outcome:
        """The model's answer. Tools run on the way; their failures are reported to the model.

        Text that the model says before a tool runs is shown, and is no part of the answer.

        Raises:
            ModelError: the model gave no answer.
        """
        limits = await self._chat.limits()
        turn = _Turn(prompt=prompt, offered=offered, context=context, draft=draft, limits=limits)
        spoken = await self._rounds(turn)
        if spoken is None or (not spoken.text and turn.exchanges):
            spoken = await self._last_word(turn)
        return Outcome(text=spoken.text, runs=tuple(turn.runs), first=turn.first)

    async def _rounds(self, turn: _Turn) -> ModelOutput | None:
        """The first answer without a call; None when the model has to be made to answer."""
        for _ in range(MOST_ROUNDS):
            spoken = await self._speak(turn)
            if spoken is None or not spoken.calls:
                return spoken
            await self._run(turn, spoken)
            if turn.stale_rounds >= _MOST_STALE_ROUNDS or self._left(turn) <= 0:
                break
        log.info("tools.ended", rounds=len(turn.exchanges), stale=turn.stale_rounds)
        return None

    async def _speak(self, turn: _Turn) -> ModelOutput | None:
        """One call of the model; None when it trips over its tools."""
        request = self._request(turn)
        try:
            spoken = await self._say(request, turn)
        except (ModelRefused, ModelAnswerInvalid):
            # Ollama refuses when it cannot parse the call that the model wrote: without tools the
            # same model answers.
            if not request.tools:
                raise
            return None
        turn.first = turn.first or spoken.done
        return spoken

    async def _last_word(self, turn: _Turn) -> ModelOutput:
        """The answer without tools; a call that comes now is dropped."""
        request = self._request(turn)
        now = ChatMessage(role=ChatRole.USER, text=_ANSWER_NOW)
        messages = (*request.messages, now) if turn.exchanges else request.messages
        request = replace(request, messages=messages, tools=())
        return await self._say(request, turn)

    async def _say(self, request: ChatRequest, turn: _Turn) -> ModelOutput:
        return await speak(
            self._chat, request, turn.draft, cleaner=turn.cleaner(), tools=turn.offered.tools
        )

    def _request(self, turn: _Turn) -> ChatRequest:
        budget = int(turn.budget * FULL_SHARE) - turn.fixed_tokens
        turn.exchanges = fitted(turn.exchanges, budget=budget, count=self._count)
        messages = [_with_rules(turn.prompt.messages[0], turn.offered), *turn.prompt.messages[1:]]
        for exchange in turn.exchanges:
            messages += exchange.messages()
        return ChatRequest(
            messages=tuple(messages),
            tools=turn.offered.specs,
            max_tokens=turn.limits.reply_tokens,
            watch=turn.context.watch,
        )

    async def _run(self, turn: _Turn, spoken: ModelOutput) -> None:
        """Run what was asked for, and keep the exchange."""
        names = dict.fromkeys((*turn.context.tried, *(call.name for call in spoken.calls)))
        turn.context = replace(turn.context, tried=tuple(names))
        keys = [(call.name, format_arguments(call.arguments)) for call in spoken.calls]
        new = [
            call
            for index, (call, key) in enumerate(zip(spoken.calls, keys, strict=True))
            if key not in turn.calls_made and key not in keys[:index]
        ]
        await self._show(turn, [call.name for call in new])
        done = await self._runner.run(new, turn.offered.tools, turn.context)
        found = excerpts_in(one.text for one in done)
        turn.context = replace(turn.context, said=(*turn.context.said, *found))
        waiting = iter(done)
        finished = [
            next(waiting) if any(call is one for one in new) else self._runner.repeated(call)
            for call in spoken.calls
        ]
        turn.calls_made.update(keys)
        turn.stale_rounds = 0 if new else turn.stale_rounds + 1
        turn.runs += done
        turn.exchanges.append(self._cut(turn, exchange_of(spoken.text, finished)))

    async def _show(self, turn: _Turn, names: Sequence[str]) -> None:
        """Show in the chat what runs."""
        for name in dict.fromkeys(names):
            if tool := turn.offered.tools.get(name):
                await turn.draft.status(tool.labels[turn.context.language])

    def _cut(self, turn: _Turn, exchange: Exchange) -> Exchange:
        """The exchange with its results cut to the budget that there is."""
        share = self._left(turn) // len(exchange.results)
        tokens = max(share, _LEAST_RESULT_TOKENS)
        results = tuple(within(result, tokens, self._count) for result in exchange.results)
        return replace(exchange, results=results)

    def _left(self, turn: _Turn) -> int:
        """Tokens that results may still take, the oldest condensed; a tenth is kept for the end."""
        budget = int(turn.budget * (1 + FULL_SHARE) / 2) - turn.fixed_tokens
        shorter = fitted(turn.exchanges, budget=0, count=self._count)
        return budget - tokens_of(shorter, self._count)


def _with_rules(system: ChatMessage, offered: OfferedTools) -> ChatMessage:
    return (
        replace(system, text=f"{system.text}\n\n{offered.rules}")
        if offered is not NO_TOOLS
        else system
    )
