"""What a tool is: a name, typed arguments, where it may be used, how long it may take."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from bot.ports import ChatKind
from bot.texts.language import Language
from memory.ports import CallWatch, JsonSchema
from memory.values import Mode, Seq, SessionId, Speaker

EVERYWHERE = frozenset(ChatKind)
ALL_MODES = frozenset(Mode)
TRANSCRIPT_MODES = frozenset({Mode.FULL, Mode.WINDOW})
"""The modes that keep what was said; the third keeps no transcript that a tool could read."""

A = TypeVar("A")


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnContext:
    """Where a turn takes place. It comes from the platform, never from the model."""

    session: SessionId
    title: str = ""
    mode: Mode = Mode.FULL
    """The memory that the session uses."""
    kind: ChatKind = ChatKind.DIRECT
    speaker: Speaker | None = None
    language: Language = Language.ENGLISH
    """For what Kith itself has to say."""
    shown_from: Seq | None = None
    """First message that the model sees anyway; None when it sees none."""
    said: tuple[str, ...] = ()
    """What stands in the prompt from people, word for word or rephrased, looked up included."""
    tried: tuple[str, ...] = ()
    """The names of the tools that were asked for in this turn, invented ones too."""
    watch: CallWatch | None = field(default=None, compare=False, repr=False)
    """Follows each call of the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[A]):
    """Something that the model may ask for."""

    name: str
    description: str
    """For the model."""
    arguments: type[A]
    """A dataclass; the model's arguments are validated into it, unknown ones are left out."""
    run: Callable[[TurnContext, A], Awaitable[str | bytes]]
    """What it finds. `ToolFailed` is reported to the model; a result may be anything, of any size."""
    labels: Mapping[str, str]
    """Shown in the chat while it runs; by language tag."""
    modes: frozenset[Mode] = ALL_MODES
    places: frozenset[ChatKind] = EVERYWHERE
    time_limit_s: float = 10.0
    output_chars: int = 8_000
    """Longest result that the model is given; a third of a context of 8,192 tokens at most."""
    parallel: bool = False
    """Whether it only reads, so that several may run at once."""

    def available(self, context: TurnContext) -> bool:
        """Whether it may be used there."""
        return context.mode in self.modes and context.kind in self.places


AnyTool = Tool[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A tool as it was made ready once: with its schema."""

    tool: AnyTool
    schema: JsonSchema
