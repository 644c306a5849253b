"""What the decision model is asked: what is noise, what is superseded, what is relevant.

A judgement only ever leaves something out, and any failure leaves nothing out. The model answers
with ids; ids that were never given to it are ignored.
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from memory.errors import ModelError
from memory.language.loose_json import JsonObject, objects
from memory.language.text import clip, estimate_tokens
from memory.ports import ChatMessage, ChatModel, ChatRequest, ChatRole, JsonSchema, Priority
from memory.prompt.wording import wording

log = structlog.get_logger()

_Read = Callable[[JsonObject], frozenset[int] | None]

NOISE_CONFIDENCE = 0.7
"""From this confidence on noise is left out (seed 1)."""
PASS_LIMIT_S = 60.0
"""Longest wait for one judgement of a pass."""
REPLY_LIMIT_S = 5.0
"""Longest wait on the reply path, where a person waits too."""
PIECE_CHARS = 600
"""As much of a message as the model needs to judge it: its start, clipped."""

_ANSWER_TOKENS = 400
_SLACK_TOKENS = 64
_LEAST_BATCH_TOKENS = 200
_NOISE = wording("memory.summary", "noise").template
_SUPERSEDED = wording("memory.summary", "superseded").template
_RELEVANT = wording("memory.summary", "relevant").template
_ID_TOKENS = 6
_DIGITS = re.compile(r"\[?[0-9]{1,9}\]?")


def _ids_schema(*keys: str) -> JsonSchema:
    """An object with a list of ids under each key."""
    ids = {"type": "array", "items": {"type": "integer"}}
    return {"type": "object", "properties": dict.fromkeys(keys, ids), "required": list(keys)}


_NOISE_ENTRY = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "confidence": {"type": "number"}},
    "required": ["id", "confidence"],
}
_NOISE_SCHEMA: JsonSchema = {
    "type": "object",
    "properties": {"noise": {"type": "array", "items": _NOISE_ENTRY}},
    "required": ["noise"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    system: str
    text: str
    schema: JsonSchema
    priority: Priority = Priority.BACKGROUND
    limit_s: float = PASS_LIMIT_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something to judge, under an id that the model can repeat."""

    id: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the model pointed at."""

    ids: frozenset[int] = frozenset()
    calls: int = 0
    """How many model calls it took, failed ones included."""
    sound: bool = True
    """False when a call failed; then everything is kept."""


KEEP_ALL = Judgement(sound=False)


class Judge:
    """Asks the decision model; without one it points at nothing."""

    def __init__(self, model: ChatModel | None) -> None:
        self._model = model

    @property
    def present(self) -> bool:
        """Whether there is a decision model at all."""
        return self._model is not None

    async def noise(self, groups: Sequence[Item]) -> Judgement:
        """Groups that nobody will need again, with a confidence of at least 0.7."""
        return await self._over_batches(_NOISE, "", groups, _NOISE_SCHEMA, _noise_ids)

    async def superseded(self, entries: Sequence[Item], groups: Sequence[Item]) -> Judgement:
        """Entries of the summary that the newer conversations overturn or replace."""
        if not entries:
            return Judgement()
        notes = f"Notes:\n{_listed(entries)}\n\nMessages:\n"
        known = frozenset(entry.id for entry in entries)
        return await self._over_batches(
            _SUPERSEDED, notes, groups, _ids_schema("superseded"), _superseded_ids, known=known
        )

    async def relevant(self, request: str, entries: Sequence[Item]) -> Judgement:
        """Entries to show for a request; a person waits, so it is bounded to 5 s.

        Unlike the others it points at what to keep: when it is not `sound`, keep everything.
        """
        if self._model is None or not entries:
            return KEEP_ALL
        text = f"Notes:\n{_listed(entries)}\n\nRequest:\n{clip(request, PIECE_CHARS)}"
        known = frozenset(entry.id for entry in entries)
        ask = _Ask(
            system=_RELEVANT,
            text=text,
            schema=_ids_schema("general", "relevant"),
            priority=Priority.INTERACTIVE,
            limit_s=REPLY_LIMIT_S,
        )
        found = await self._ask(ask)
        ids = None if found is None else _ids(found, "general", "relevant")
        if ids is None or (ids and not ids & known):
            return Judgement(calls=1, sound=False)
        return Judgement(ids=ids & known, calls=1)

    async def _over_batches(
        self,
        system: str,
        head: str,
        items: Sequence[Item],
        schema: JsonSchema,
        read: _Read,
        *,
        known: frozenset[int] | None = None,
    ) -> Judgement:
        """One call for each batch that fits the model; all of them together, or nothing."""
        pointed: frozenset[int] = frozenset()
        calls = 0
        for batch in await self._batches(system + head, items):
            ask = _Ask(system=system, text=head + _listed(batch), schema=schema)
            found = await self._ask(ask)
            calls += 1
            ids = None if found is None else read(found)
            if ids is None:
                return Judgement(calls=calls, sound=False)
            pointed |= ids & (known or frozenset(item.id for item in batch))
        return Judgement(ids=pointed, calls=calls)

    async def _batches(self, fixed: str, items: Sequence[Item]) -> list[list[Item]]:
        """The items in runs that fit the decision model's context; none without a model."""
        if self._model is None:
            return []
        try:
            async with asyncio.timeout(PASS_LIMIT_S):
                limits = await self._model.limits()
        except (ModelError, TimeoutError) as error:
            log.warning("judgement.failed", error=type(error).__name__)
            return []
        whole = min(limits.prompt_tokens, limits.context_tokens - _ANSWER_TOKENS)
        budget = max(whole - estimate_tokens(fixed) - _SLACK_TOKENS, _LEAST_BATCH_TOKENS)
        return list(_runs(items, budget))

    async def _ask(self, ask: _Ask) -> JsonObject | None:
        """The model's answer; None for every kind of failure."""
        if self._model is None:
            return None
        request = ChatRequest(
            messages=(
                ChatMessage(role=ChatRole.SYSTEM, text=ask.system),
                ChatMessage(role=ChatRole.USER, text=ask.text),
            ),
            priority=ask.priority,
            schema=ask.schema,
            max_tokens=_ANSWER_TOKENS,
            temperature=0.0,
        )
        try:
            async with asyncio.timeout(ask.limit_s):
                answer = await self._model.complete(request)
            return _last_object(answer.text)
        except (ModelError, TimeoutError) as error:
            log.warning("judgement.failed", error=type(error).__name__)
            return None


def _listed(items: Sequence[Item]) -> str:
    return "\n".join(f"[{item.id}] {item.text}" for item in items)


def _runs(items: Sequence[Item], room_tokens: int) -> Iterator[list[Item]]:
    """Consecutive items, each run within the budget; an item larger than that stands alone."""
    run: list[Item] = []
    used = 0
    for item in items:
        cost = estimate_tokens(item.text) + _ID_TOKENS
        if run and used + cost > room_tokens:
            yield run
            run, used = [], 0
        run.append(item)
        used += cost
    if run:
        yield run


def _last_object(answer: str) -> JsonObject | None:
    found = objects(answer)
    return found[-1] if found else None


def _noise_ids(found: JsonObject) -> frozenset[int] | None:
    entries = found.get("noise")
    if not isinstance(entries, list):
        return None
    return frozenset(
        number
        for entry in entries
        if isinstance(entry, dict)
        and (number := _id(entry.get("id"))) is not None
        and _confidence(entry.get("confidence")) >= NOISE_CONFIDENCE
    )


def _confidence(value: Any) -> float:  # noqa: ANN401 - untrusted JSON
    """A number from 0 to 1; 0 for everything else, so that the group is kept."""
    sound = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return float(value) if sound else 0.0


def _superseded_ids(found: JsonObject) -> frozenset[int] | None:
    return _ids(found, "superseded")


def _ids(found: JsonObject, *keys: str) -> frozenset[int] | None:
    """The ids under all keys; None when there is no such list at all."""
    lists = [found[key] for key in keys if isinstance(found.get(key), list)]
    if not lists:
        return None
    return frozenset(n for ids in lists for value in ids if (n := _id(value)) is not None)


def _id(value: Any) -> int | None:  # noqa: ANN401 - untrusted JSON
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return int(value.strip("[]"))
    return None
