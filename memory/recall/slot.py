"""The slot of the prompt for recalled messages: what the budget holds of them, as they are printed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from memory.language.text import clip, estimate_tokens, one_line
from memory.language.times import format_minute
from memory.ports import ChatModel
from memory.recall import ranking
from memory.recall.query import Query
from memory.recall.recall import Ranked, Recall
from memory.values import Message, NewMessage, Seq, Session

HEADING = "Recalled from earlier messages"
LARGEST_SHARE = 4
"""Recall gets at most one part in so many of the prompt."""
WINDOW_SHARE = 2
"""Of the window, what fits into one part in so many of the prompt counts as shown. It may be more;
then a recalled message stands there twice, which costs a few tokens. Were it less, a message that
the budget cuts off could be in neither."""
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
    """Where the budget is short, the lightest goes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippets:
    """A slot of the prompt with recalled messages."""

    snippets: tuple[Snippet, ...] = ()
    """In order of time."""
    zone: tzinfo | None = None

    def render(self) -> str:
        """Heading, times and lines; empty without snippets."""
        if not self.snippets:
            return ""
        return f"## {HEADING}\n{self.body()}"

    def body(self) -> str:
        """Times and lines alone."""
        lines: list[str] = []
        last_ns: int | None = None
        for snippet in self.snippets:
            message = snippet.message
            if last_ns is None or abs(message.sent_at_ns - last_ns) > TALK_GAP_S * _NS:
                lines.append(f"[{format_minute(message.sent_at_ns, self.zone)}]")
            lines.append(_line(message))
            last_ns = message.sent_at_ns
        return "\n".join(lines)

    def shorter(self) -> "Snippets | None":
        """Without the lightest snippet."""
        if not self.snippets:
            return None
        lightest = min(self.snippets, key=lambda snippet: snippet.weight)
        rest = tuple(snippet for snippet in self.snippets if snippet is not lightest)
        return replace(self, snippets=rest)


class RecallSlot:
    """Automatic recall: small local models call tools badly, so nobody has to ask for it."""

    def __init__(
        self, *, recall: Recall, chat: ChatModel, most_tokens: int, zone: tzinfo | None
    ) -> None:
        self._recall = recall
        self._chat = chat
        self._most_tokens = most_tokens
        self._zone = zone

    async def gather(
        self, session: Session, entry: NewMessage, window: Sequence[Message]
    ) -> Snippets:
        """What bears on `entry` of all that stands before the window.

        Raises:
            ModelError: the chat model cannot be asked for its limits.
            StoreError: the database could not be read.
        """
        limits = await self._chat.limits()
        budget = min(self._most_tokens, limits.prompt_tokens // LARGEST_SHARE)
        before = _first_shown(window, limits.prompt_tokens // WINDOW_SHARE)
        if budget == 0:
            return Snippets()
        query = Query(
            session=session.id,
            text=entry.text,
            now_ns=entry.sent_at_ns,
            before=before,
            whole=False,
        )
        return pack(await self._recall.rank(query), budget_tokens=budget, zone=self._zone)


def pack(ranked: Ranked, *, budget_tokens: int, zone: tzinfo | None) -> Snippets:
    """The best messages that fit together, in order of time, each with its score as weight."""
    chosen = ranking.pack(
        range(len(ranked.messages)),
        lambda places: cost_tokens([ranked.messages[place] for place in places], zone),
        budget_tokens=budget_tokens,
    )
    snippets = tuple(
        Snippet(message=ranked.messages[place], weight=ranked.scores[place])
        for place in sorted(chosen, key=lambda place: ranked.messages[place].seq)
    )
    return Snippets(snippets=snippets, zone=zone)


def _first_shown(window: Sequence[Message], room_tokens: int) -> Seq | None:
    """The oldest message that surely fits, the newest always; None, no limit, without a window."""
    first: Seq | None = None
    for message in reversed(window):
        room_tokens -= estimate_tokens(message.text)
        if first is not None and room_tokens < 0:
            break
        first = message.seq
    return first


def _line(message: Message) -> str:
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
