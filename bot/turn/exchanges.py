"""The tool exchanges of a turn, made shorter, oldest first, when they fill the prompt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bot.turn.running import Finished, format_arguments
from memory.ports import ChatMessage, ChatRole, ToolCall
from memory.prompt.tokens import MESSAGE_OVERHEAD_TOKENS

FULL_SHARE = 0.8
"""Of the prompt's budget: from there on exchanges are condensed."""
FEWEST = 3
"""Exchanges; of fewer none is condensed."""
_LEAST = 2
"""Exchanges condensed at a time: one by one would spoil the prompt cache in every round."""
_EDGE_LINES = 2
_LINE_CHARS = 160
_SHORT_CHARS = 700

Count = Callable[[str], int]
"""Estimated tokens of a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request of the model for tools, with every result."""

    text: str
    """What the model said beside it."""
    calls: tuple[ToolCall, ...]
    results: tuple[str, ...]
    """One for each call."""
    condensed: bool = False

    def messages(self) -> tuple[ChatMessage, ...]:
        """As the model reads it again."""
        request = ChatMessage(role=ChatRole.ASSISTANT, text=self.text, tool_calls=self.calls)
        results = (
            ChatMessage(role=ChatRole.TOOL, text=result, tool_name=call.name)
            for call, result in zip(self.calls, self.results, strict=True)
        )
        return (request, *results)


def exchange_of(text: str, finished: Sequence[Finished]) -> Exchange:
    """The exchange that a round of tools was."""
    return Exchange(
        text=text,
        calls=tuple(one.call for one in finished),
        results=tuple(one.text for one in finished),
    )


def tokens_of(exchanges: Sequence[Exchange], count: Count) -> int:
    """Estimated tokens of all of them in the prompt."""
    return sum(_tokens(one, count) for one in exchanges)


def _tokens(exchange: Exchange, count: Count) -> int:
    texts = [exchange.text, *exchange.results]
    texts += [call.name + format_arguments(call.arguments) for call in exchange.calls]
    return sum(count(text) + MESSAGE_OVERHEAD_TOKENS for text in texts)


def fitted(exchanges: Sequence[Exchange], *, budget: int, count: Count) -> list[Exchange]:
    """The exchanges, the oldest condensed until all take at most `budget` tokens; never the last.

    Fewer than three are left as they are.
    """
    kept = list(exchanges)
    if len(kept) < FEWEST or tokens_of(kept, count) <= budget:
        return kept
    done = 0
    for index, one in enumerate(kept[:-1]):
        if done >= _LEAST and tokens_of(kept, count) <= budget:
            break
        if not one.condensed:
            kept[index] = condensed(one)
            done += 1
    return kept


def condensed(exchange: Exchange) -> Exchange:
    """The same with only the edges of its results."""
    results = tuple(_edges(result) for result in exchange.results)
    return replace(exchange, results=results, condensed=True)


def _edges(text: str) -> str:
    """First and last lines of a result, with a note of how much is left out."""
    if len(text) <= _SHORT_CHARS:
        return text
    lines = [line for line in text.splitlines() if line.strip()]
    head = [_cut(line) for line in lines[: _EDGE_LINES + 1]]
    tail = [_cut(line) for line in lines[_EDGE_LINES + 1 :][-_EDGE_LINES:]]
    short = "\n".join([*head, "(…)", *tail])
    return f"{short}\n(condensed to make room: {len(text) - len(short)} characters left out)"


def _cut(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]}…"


def within(text: str, tokens: int, count: Count) -> str:
    """A result cut to a number of tokens, with a note."""
    size = count(text)
    if size <= tokens:
        return text
    kept = text[: max(int(len(text) * tokens / size), 0)]
    return f"{kept}…\n(cut: there is no room for more)"
