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
class RecallWeights:
    """The table `[memory.recall.weights]`: how the terms of a message's score count.

    Measured with `benchmarks/recall.py` on chats in English and Chinese, the same for all; the
    terms themselves stand in `memory/recall/ranking.py`.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    previous_share: Annotated[float, Interval(ge=0, le=1)] = 0.5
    """How much of the message before counts for this one. More than of the one after, since
    answers follow questions; it halves with each step."""
    next_share: Annotated[float, Interval(ge=0, le=1)] = 0.4
    """How much of the message after counts for this one."""
    context_steps: Annotated[int, Interval(ge=0, le=10)] = 3
    """How far context reaches; the fourth step would add a sixteenth."""
    context_mean: Annotated[float, Interval(ge=0, le=1)] = 0.7
    """Whether a message with its context means as much as all of it together (0) or as its mean
    (1). A sum alone favours the middle of a long talk over a message that stands by itself;
    measured, everything from .5 to 1 is better than 0."""
    hop_share: Annotated[float, Interval(ge=0, le=1)] = 0.3
    """How much the best messages count beside the question when meaning is searched once more: an
    answer's own words lead to other answers. 0: no second search. Measured: .5 loses as much as
    it wins."""
    hop_messages: Annotated[int, Interval(ge=1, le=20)] = 3
    """How many of the best; of more, too many are wrong."""
    talk_gap_s: Annotated[int, Interval(ge=0, le=1_000_000)] = 3_600
    """Messages further apart than this are of different talks and no context to each other."""
    named_speaker: Annotated[float, Interval(ge=1, le=10)] = 1.5
    """Factor for messages of a person whom the question names."""
    question: Annotated[float, Interval(ge=0, le=1)] = 0.8
    """Factor for messages that end in a question mark: evidence is a statement."""
    named_day: Annotated[float, Interval(ge=0, le=10)] = 1.0
    """Added for a day that the question names: as much as a perfect hit of words or meaning."""
    duplicate_cosine: Annotated[float, Interval(ge=0, le=1)] = 0.97
    """Two messages of one speaker that are this close say the same, unless their numbers differ.
    In diaries that repeat themselves nothing counts more (first ten .54 without, .85 with); .98
    would win a hundredth where each entry is of the same make, .96 loses two."""
    similar_cosine: Annotated[float, Interval(ge=0, le=1)] = 0.9
    """If they are only this close, they must also share their words."""
    similar_words: Annotated[float, Interval(ge=0, le=1)] = 0.7
    """Share of the words, of all that either has. Less would take "I live in Taipei now" and "I
    live in Kyoto now" for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallSettings:
    """The table `[memory.recall]`: how older messages are searched for."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    candidates: Annotated[int, Interval(ge=10, le=1_000)] = 100
    """Messages taken from each of the two searches before they are scored together."""
    terms: Annotated[int, Interval(ge=8, le=1_000)] = 256
    """Words of a question that are looked up, the rarest: a pasted page is no question."""
    floor_cosine: Annotated[float, Interval(ge=0, le=1)] = 0.015
    """A message must stand this far above what is typical, its talk included, or hold the words.
    Measured for multilingual-e5-small: small talk ("ok thanks", "lol") brings back a tenth of what
    a question does, no evidence within 500 tokens is lost; at .03 a third of it would be. Another
    embedding model wants another floor."""
    floor_words: Annotated[float, Interval(ge=0, le=1)] = 0.1
    """Or hold this share of what the question's words tell."""
    collapsed: Annotated[int, Interval(ge=10, le=1_000)] = 150
    """How many of the best are compared with each other to find near-duplicates."""
    embed_wait_s: Annotated[float, Interval(gt=0, le=60)] = 5.0
    """Longest wait for the question's embedding, in seconds; then words alone serve."""
    weights: RecallWeights = field(default_factory=RecallWeights)


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
    a quarter of the prompt. Measured: .83 of the evidence lies within the first 500, .87 within
    1,000."""

    reply_lang: str = "auto"
    """Language in which summaries are written: a name such as `English`, or `auto`, the language
    of the conversation. Chinese is Traditional Chinese of Taiwan in any case."""

    recall: RecallSettings = field(default_factory=RecallSettings)
    pools: PoolSettings = field(default_factory=PoolSettings)
