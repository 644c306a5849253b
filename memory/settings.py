"""What an operator can set about memory; under each: its meaning, its unit, why the default.

Plain dataclasses: the bounds stand in the types, and `bot.config` reports what breaks them.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from annotated_types import Interval

STRICT: dict[str, Any] = {"extra": "forbid"}
"""An unknown key is an error, not a silent nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """The table `[memory]`."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    window_messages: Annotated[int, Interval(ge=2, le=200)] = 16
    """How many of the last messages the model sees word for word (records, not turns). The seed's
    figure: most follow-ups are about the last few exchanges."""

    backdrop_chars: Annotated[int, Interval(ge=200, le=100_000)] = 4_000
    """Longest `SOUL.md` or `MEMORY.md`, in characters; what is past it is left out, with a
    warning. About 1,200 tokens of English each: a quarter of a 4k context."""

    reply_lang: str = "auto"
    """Language in which summaries are written: a name such as `English`, or `auto`, the language
    of the conversation. Chinese is Traditional Chinese of Taiwan in any case."""
