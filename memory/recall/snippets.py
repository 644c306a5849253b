"""Recalled messages as the model reads them: by talk, in order of time, within a budget."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from memory.language.text import clip, estimate_tokens, one_line
from memory.language.times import format_minute
from memory.values import Message

LONGEST_SNIPPET_CHARS = 800
"""A longer message is cut here: a third of the usual budget at most."""

TALK_GAP_S = 3_600
"""After a longer silence the time is printed again; before, it would only cost tokens."""

_NS = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """A recalled message."""

    message: Message
    weight: float
    """Where room is short, the lightest goes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippets:
    """A slot of the prompt with recalled messages."""

    snippets: tuple[Snippet, ...] = ()
    """In order of time."""
    zone: tzinfo | None = None
    heading: str = "Recalled from earlier messages"

    def render(self) -> str:
        """Heading, times and lines; empty without snippets."""
        if not self.snippets:
            return ""
        return f"## {self.heading}\n{self.body()}"

    def body(self) -> str:
        """Times and lines alone."""
        lines: list[str] = []
        last_ns: int | None = None
        for snippet in self.snippets:
            message = snippet.message
            if last_ns is None or abs(message.sent_at_ns - last_ns) > TALK_GAP_S * _NS:
                lines.append(time_line(message.sent_at_ns, self.zone))
            lines.append(line(message))
            last_ns = message.sent_at_ns
        return "\n".join(lines)

    def shorter(self) -> "Snippets | None":
        """Without the lightest snippet."""
        if not self.snippets:
            return None
        lightest = min(self.snippets, key=lambda snippet: snippet.weight)
        rest = tuple(snippet for snippet in self.snippets if snippet is not lightest)
        return replace(self, snippets=rest)


def time_line(time_ns: int, zone: tzinfo | None) -> str:
    """`[2026-11-30 18:15]`, local."""
    return f"[{format_minute(time_ns, zone)}]"


def line(message: Message) -> str:
    """`Momo: …`, on one line."""
    name = one_line(message.speaker.name) if message.speaker else "you"
    return f"{name}: {clip(one_line(message.text), LONGEST_SNIPPET_CHARS)}"


def cost_tokens(messages: Sequence[Message], zone: tzinfo | None) -> int:
    """About how many tokens the messages take when they are printed together."""
    ordered = sorted(messages, key=lambda message: message.seq)
    printed = Snippets(
        snippets=tuple(Snippet(message=message, weight=0.0) for message in ordered), zone=zone
    )
    return estimate_tokens(printed.body())
