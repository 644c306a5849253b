"""Pending messages cut into what one summary call reads. Pure: no table, no model."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory.language.text import estimate_tokens
from memory.values import Message, Role, Seq

CHUNK_CHARS = 32_000
"""Most characters in a chunk (seed 1: `SUMMARY_RUNES`)."""

_BETWEEN = "\n\n"
_MARGIN_TOKENS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingMessage:
    """A message as the summary model reads it."""

    seq: Seq
    role: Role
    head: str
    """Its time and sender, one line."""
    text: str
    """What of it is still to be read."""
    read_chars: int = 0
    """How many characters of the message were read before."""

    def block(self) -> str:
        """Head and text."""
        return f"{self.head}\n{self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """How much a chunk may hold."""

    tokens: int
    """What the model's context leaves free: never exceeded."""
    chars: int = CHUNK_CHARS
    """Exceeded only to reach past a user message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """What one call reads, and what is left for later ones."""

    messages: tuple[PendingMessage, ...]
    rest: tuple[PendingMessage, ...]

    def text(self) -> str:
        """The messages one after the other."""
        return _BETWEEN.join(record.block() for record in self.messages)


def next_chunk(records: Sequence[PendingMessage], capacity: Capacity) -> Chunk:
    """The first messages that fit, at least one or a part of one.

    A chunk does not end on a user message while anything follows: it is extended over consecutive
    user messages to the reply as far as the model can take it, else it ends at the last reply
    before them. A message that does not fit by itself is split; then, and where nothing but user
    messages fits, there is no reply to end on.
    """
    count = _how_many(records, capacity)
    if count == 0:
        return _split(records, capacity)
    if count < len(records) and records[count - 1].role is Role.USER:
        count = _past_user_messages(records, count, capacity)
    return Chunk(messages=tuple(records[:count]), rest=tuple(records[count:]))


def _how_many(records: Sequence[PendingMessage], capacity: Capacity) -> int:
    chars = tokens = 0
    for count, record in enumerate(records):
        chars += len(record.block()) + len(_BETWEEN)
        tokens += _tokens(record)
        if chars - len(_BETWEEN) > capacity.chars or tokens > capacity.tokens:
            return count
    return len(records)


def _past_user_messages(records: Sequence[PendingMessage], count: int, capacity: Capacity) -> int:
    """Where a chunk that would end on a user message ends instead."""
    end, tokens = count, sum(_tokens(record) for record in records[:count])
    while end < len(records) and records[end - 1].role is Role.USER:
        tokens += _tokens(records[end])
        if tokens > capacity.tokens:
            return _last_reply(records[:count]) or count
        end += 1
    return end


def _last_reply(records: Sequence[PendingMessage]) -> int:
    """How many messages there are up to the last that is not a user's; 0 without one."""
    replies = [n for n, record in enumerate(records, 1) if record.role is not Role.USER]
    return replies[-1] if replies else 0


def _split(records: Sequence[PendingMessage], capacity: Capacity) -> Chunk:
    """As much of the first message as fits, at least one character."""
    first = records[0]
    whole = min(len(first.text), max(capacity.chars - len(first.head) - 1, 1))
    too_long = bisect_right(
        range(1, whole + 1),
        capacity.tokens,
        key=lambda chars: _tokens(replace(first, text=first.text[:chars])),
    )
    chars = max(too_long, 1)
    head = replace(first, text=first.text[:chars])
    tail = replace(first, text=first.text[chars:], read_chars=first.read_chars + chars)
    return Chunk(messages=(head,), rest=(tail, *records[1:]) if tail.text else tuple(records[1:]))


def _tokens(record: PendingMessage) -> int:
    return estimate_tokens(record.block()) + _MARGIN_TOKENS


def conversations(messages: Sequence[Message]) -> list[list[Message]]:
    """The messages in groups of one user message with the replies after it, in order."""
    groups: list[list[Message]] = []
    for message in messages:
        if message.role is Role.USER or not groups:
            groups.append([])
        groups[-1].append(message)
    return groups
