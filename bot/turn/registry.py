"""The tools there are, and which of them are offered where."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from json import dumps

from bot.turn.arguments import schema_of
from bot.turn.interface import AnyTool, Offer, TurnContext
from memory.ports import ModelLimits, ToolSpec
from memory.prompt.wording import wording

RULES = wording("bot.turn", "tools").template
"""Rules of use, part of the system prompt wherever tools are offered."""

_LARGEST_SHARE = 0.4
"""Of the prompt: where the tools would take more than that, the conversation is worth more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTools:
    """What is offered in one turn."""

    tools: Mapping[str, AnyTool]
    specs: tuple[ToolSpec, ...]
    rules: str
    tokens: int
    """What rules and schemas take of the prompt; 0 without any."""


NO_TOOLS = OfferedTools(tools={}, specs=(), rules="", tokens=0)


class Toolbox:
    """All tools, in the order in which they are offered: a fixed one, for the prompt cache."""

    def __init__(self, tools: Sequence[AnyTool] = ()) -> None:
        self._offers = [Offer(tool=tool, schema=schema_of(tool.arguments)) for tool in tools]

    @property
    def names(self) -> tuple[str, ...]:
        """Every tool's name."""
        return tuple(offer.tool.name for offer in self._offers)

    def offered(
        self, context: TurnContext, limits: ModelLimits, count: Callable[[str], int]
    ) -> OfferedTools:
        """What this model is offered here; nothing to a model that cannot use tools."""
        available = [offer for offer in self._offers if offer.tool.available(context)]
        if not limits.tools or not available:
            return NO_TOOLS
        specs = tuple(
            ToolSpec(
                name=offer.tool.name,
                description=offer.tool.description,
                parameters=offer.schema,
            )
            for offer in available
        )
        offered = OfferedTools(
            tools={offer.tool.name: offer.tool for offer in available},
            specs=specs,
            rules=RULES,
            tokens=count(RULES) + sum(count(_format(spec)) for spec in specs),
        )
        return offered if offered.tokens <= limits.prompt_tokens * _LARGEST_SHARE else NO_TOOLS


def _format(spec: ToolSpec) -> str:
    """Roughly what a chat template makes of it."""
    return dumps([spec.name, spec.description, dict(spec.parameters)], ensure_ascii=False)
