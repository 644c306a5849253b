"""What an operator can set about memory; under each: its meaning, its unit, why the default.

Plain dataclasses: the bounds stand in the types, and `bot.config` reports what breaks them.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from annotated_types import Interval

STRICT: dict[str, Any] = {"extra": "forbid"}
"""An unknown key is an error, not a silent nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings:
    """The table `[memory.pools]`."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    long: Annotated[int, Interval(ge=0, le=50)] = 3
    """How many lasting facts a prompt shows (seed 2)."""
    short: Annotated[int, Interval(ge=0, le=50)] = 2
    """How many recent facts a prompt shows (seed 2)."""
    entry_chars: Annotated[int, Interval(ge=20, le=500)] = 120
    """As much of a fact as a prompt shows, in characters (seed 2)."""
    refine_entries: Annotated[int, Interval(ge=2, le=1_000)] = 20
    """From this many recent facts of one person on they are refined into lasting ones (seed 2)."""
    refine_batch: Annotated[int, Interval(ge=2, le=50)] = 15
    """How many of the oldest are refined at once: more of them confuse a small model (seed 2)."""
    refine_turns: Annotated[int, Interval(ge=0, le=100_000)] = 0
    """Refine also after this many messages of a person; 0: never. The seed's option."""
    refine_idle_minutes: Annotated[int, Interval(ge=0, le=100_000)] = 0
    """Refine also when nobody has written for this long, in minutes; 0: never. The seed's
    option."""
    recent_turns: Annotated[int, Interval(ge=0, le=20)] = 0
    """Mode `pools`: how many of the last turns the model sees word for word. They are kept in
    memory, never on disk. 0: none, which is what the mode promises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """The table `[memory]`."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    window_messages: Annotated[int, Interval(ge=2, le=200)] = 16
    """How many of the last messages the model sees word for word (records, not turns). The seed's
    figure: most follow-ups are about the last few exchanges."""

    max_history_bytes: Annotated[int, Interval(ge=10_000, le=2**40)] = 4 * 2**20
    """As much of a session is hot, in UTF-8 bytes of its exported records; over it the oldest leave
    for the archive until 80 % are left, and nothing is deleted. The seed's figure."""

    backdrop_chars: Annotated[int, Interval(ge=200, le=100_000)] = 4_000
    """Longest `SOUL.md` or `MEMORY.md`, in characters; what is past it is left out, with a
    warning. About 1,200 tokens of English each: a quarter of a 4k context."""

    recall_tokens: Annotated[int, Interval(ge=0, le=100_000)] = 500
    """Most tokens of a prompt for older messages that are found again, 0 for none; never more than
    a quarter of the prompt. Measured: .80 of the evidence lies within the first 500, .85 within
    1,000."""

    reply_lang: str = "auto"
    """Language in which summaries are written: a name such as `English`, or `auto`, the language
    of the conversation. Chinese is Traditional Chinese of Taiwan in any case."""

    pools: PoolSettings = field(default_factory=PoolSettings)
