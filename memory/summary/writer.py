"""What the summary model is asked: the notes so far with new messages in, the whole new notes out."""

from dataclasses import dataclass

from memory.errors import ModelAnswerInvalid
from memory.language.text import estimate_tokens
from memory.ports import (
    ChatMessage,
    ChatModel,
    ChatRequest,
    ChatRole,
    JsonSchema,
    ModelLimits,
    Priority,
)
from memory.prompt.wording import wording
from memory.summary.chunks import Capacity, Chunk
from memory.summary.value import (
    MOST_DECISIONS,
    MOST_TOPICS,
    Summary,
    in_taiwan_chinese,
    read_summary,
    summary_schema,
    to_json,
    without_least,
)

AUTO = "auto"
"""The language of the conversation."""
GROWTH_TOKENS = 2_500
"""Kept free for what the new notes may be longer than the old ones, up to half of the context."""

_TIGHT_TEXT_CHARS = 120
_TIGHT_NEW_DECISIONS = 3
_TIGHT_NEW_TOPICS = 2
_SLACK_TOKENS = 48
_LEAST_CHUNK_SHARE = 4
_LEAST_CHUNK_TOKENS = 100
_PROMPT = wording("memory.summary", "summarise")
_NEW = wording("memory.summary", "summarise_new")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A call that only lacks its messages."""

    notes: Summary
    """The notes so far, shortened where they would leave the messages no capacity."""
    system: str
    capacity: Capacity
    """For the messages."""
    reply_tokens: int
    schema: JsonSchema


class SummaryWriter:
    """Asks the summary model."""

    def __init__(self, model: ChatModel, *, language: str = AUTO) -> None:
        """`language` names the one to write in; `auto` follows the conversation."""
        self._model = model
        self._language = _language_rule(language)

    async def plan(self, notes: Summary) -> Plan:
        """How much the model can read beside the notes so far.

        Notes that leave less than a quarter of the prompt lose their least important entries: a
        model that small cannot carry them on.

        Raises:
            ModelError: the model cannot be asked for its limits.
        """
        limits = await self._model.limits()
        least = max(limits.prompt_tokens // _LEAST_CHUNK_SHARE, _LEAST_CHUNK_TOKENS)
        plan = self._planned(notes, limits)
        while plan.capacity.tokens < least and (shorter := without_least(plan.notes)) is not None:
            plan = self._planned(shorter, limits)
        return plan

    def _planned(self, notes: Summary, limits: ModelLimits) -> Plan:
        written = to_json(notes)
        system = _PROMPT.substitute(language=self._language, summary=written)
        reply = min(estimate_tokens(written) + GROWTH_TOKENS, limits.context_tokens // 2)
        prompt = min(limits.prompt_tokens, limits.context_tokens - reply)
        free = prompt - estimate_tokens(system + _NEW.template) - _SLACK_TOKENS
        capacity = Capacity(tokens=max(free, _LEAST_CHUNK_TOKENS))
        schema = _schema(notes, reply)
        return Plan(
            notes=notes, system=system, capacity=capacity, reply_tokens=reply, schema=schema
        )

    async def write(self, plan: Plan, chunk: Chunk) -> Summary:
        """The new notes: one call.

        An answer without any entry leaves the notes as they were: there was nothing to note, and
        a model that forgets everything at once is not believed.

        Raises:
            ModelError: it could not be asked, or (`ModelAnswerInvalid`) gave no sound summary.
        """
        request = ChatRequest(
            messages=(
                ChatMessage(role=ChatRole.SYSTEM, text=plan.system),
                ChatMessage(role=ChatRole.USER, text=_NEW.substitute(messages=chunk.text())),
            ),
            priority=Priority.BACKGROUND,
            schema=plan.schema,
            max_tokens=plan.reply_tokens,
            temperature=0.0,
        )
        answer = await self._model.complete(request)
        written = read_summary(answer.text)
        if written is None:
            raise ModelAnswerInvalid("the summary model gave no sound summary")
        return in_taiwan_chinese(written) or plan.notes


def _schema(notes: Summary, reply_tokens: int) -> JsonSchema:
    """Where the reply is short, so are its texts, and a chunk adds a few entries only.

    Models that small tend to fill every list to its end: cut off, their answer would be lost.
    """
    if reply_tokens >= GROWTH_TOKENS:
        return summary_schema()
    return summary_schema(
        decisions=min(len(notes.key_decisions) + _TIGHT_NEW_DECISIONS, MOST_DECISIONS),
        topics=min(len(notes.past_discussions) + _TIGHT_NEW_TOPICS, MOST_TOPICS),
        text_chars=_TIGHT_TEXT_CHARS,
    )


def _language_rule(language: str) -> str:
    target = "the language of the messages" if language == AUTO else language
    return f"Write the texts in {target}; Chinese always as Traditional Chinese of Taiwan."
