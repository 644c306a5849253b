"""A pool entry: one distilled sentence, with whose it is and where it came from."""

from dataclasses import dataclass
from enum import StrEnum

from memory.values import PersonId, SessionId, Speaker

CONTENT_CHARS = 120
"""Longest entry, in characters: what the prompt shows of one, and what refining reads of one."""


class Pool(StrEnum):
    """Where an entry lives."""

    SHORT = "short"
    """Recent: from single turns, waiting to be refined."""
    LONG = "long"
    """Lasting: what refining found worth keeping."""


class Tag(StrEnum):
    """How an entry came about."""

    EVENT = "event"
    """Distilled from a turn."""
    REFINED = "refined"
    """Made of several short entries."""
    FACT = "fact"
    """Put in by a person."""
    IMPORTED = "imported"
    """Taken from a summary or a file."""


class Scope(StrEnum):
    """Whom an entry is about."""

    PERSON = "person"
    GROUP = "group"


class SourceKind(StrEnum):
    """What an entry came from."""

    MESSAGE = "message"
    """A row of the archive: its `seq`."""
    TURN = "turn"
    """A turn that is not in the archive (pools mode): the platform's message id."""
    ENTRY = "entry"
    """A pool entry that was refined away: its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One thing that an entry came from."""

    kind: SourceKind
    id: str


Owner = PersonId | None
"""Whose entries these are within a session: a person's, or the group's (None)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """An entry that has no row yet."""

    content: str
    pool: Pool
    tag: Tag
    said_at_ns: int
    """When the turn was that it came from; of several, the newest."""
    scope: Scope = Scope.PERSON
    speaker: Speaker | None = None
    """Who said it. What is about a person always has one."""
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry as it is stored."""

    id: int
    session: SessionId
    content: str
    pool: Pool
    tag: Tag
    scope: Scope
    speaker: Speaker | None
    said_at_ns: int
    superseded_by: int | None
    """The entry that took its place; None while it holds."""
    vector: bytes | None
    """float32, little endian, L2-normalised; None until it is embedded."""
    vector_model: str | None
    sources: tuple[Source, ...] = ()

    @property
    def live(self) -> bool:
        """Whether it still holds."""
        return self.superseded_by is None

    @property
    def owner(self) -> Owner:
        """Whose it is."""
        return self.speaker.person if self.scope is Scope.PERSON and self.speaker else None
