"""The frozen values that memory speaks in; ids are strings and times are UTC nanoseconds.

It imports nothing of ours, and no value here knows a platform, a table or a model server.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

SessionId = NewType("SessionId", str)
"""One conversation. Stable for its life; never derived from a name that a person can change."""

TEMPORARY = "temp-"
"""What the id of a session that is swept soon begins with: it is neither distilled nor
summarised."""

PersonId = NewType("PersonId", str)
"""`platform:id`, for example `telegram:456`. Never a user name: names are changed and reused."""

Seq = NewType("Seq", int)
"""Row number of a message in the archive: it only grows, over all sessions, and is never reused."""

NO_SEQ = Seq(0)
"""Lower than every real row number."""


class Role(StrEnum):
    """Who uttered a message."""

    USER = "user"
    ASSISTANT = "assistant"


class Mode(StrEnum):
    """Which memory a session uses: both seeds, the first alone, or the second alone."""

    FULL = "full"
    WINDOW = "window"
    POOLS = "pools"


class Moment(StrEnum):
    """When work is done for a session."""

    TURN = "turn"
    """Right after a turn; the next may come at once."""
    QUIET = "quiet"
    """Nobody has written for a short while."""
    IDLE = "idle"
    """Nobody has written for as long as refining waits for, where that is set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """A person, by the id that never changes and the name shown at the time."""

    person: PersonId
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """An utterance that has no row yet."""

    role: Role
    text: str
    sent_at_ns: int
    speaker: Speaker | None = None
    """None for the bot itself."""
    platform_id: str | None = None
    """The platform's own id of the message, by which an edit or a delete finds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """An utterance as the archive holds it."""

    seq: Seq
    session: SessionId
    role: Role
    text: str
    sent_at_ns: int
    speaker: Speaker | None = None
    platform_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation: the unit of order, of memory and of reset."""

    id: SessionId
    title: str
    """Shown to people in lists; carries no meaning."""
    epoch: int
    """Grows with every reset. A turn or pass saves only if the epoch it started with stands."""
    start_seq: Seq
    """First row that is still hot history; older ones are archive only (compaction)."""
    window_seq: Seq
    """First row that the window may show; `/new` moves it and deletes nothing."""
    created_at_ns: int
    active_at_ns: int
    """Time of the last stored message, or of creation."""
    mode: Mode | None = None
    """The memory that an admin chose for it; None: what the configuration says for the place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What of memory a prompt shows besides the window, by id."""

    entries: tuple[int, ...] = ()
    """Pool entries, in the order shown."""
    facts: tuple[str, ...] = ()
    """What those entries say."""
    snippets: tuple[Seq, ...] = ()
    """Recalled messages, in the order shown."""
    covered: Seq = NO_SEQ
    """The last message that the summary covers."""


NOTHING_SHOWN = Shown()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A user message and its reply."""

    session: SessionId
    title: str
    epoch: int
    """As it stood when the prompt was composed."""
    entry: NewMessage
    reply: NewMessage
    mode: Mode = Mode.FULL
    """The memory that the prompt was composed from."""
    group: bool = False
    """Whether others took part."""
    shown: Shown = NOTHING_SHOWN
