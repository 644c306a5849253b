"""What a mode decides: what goes into the prompt beside the persona, and what is kept of a turn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memory.database.database import Unit
from memory.prompt.prompt import Prompt, Slots
from memory.values import Message, Moment, NewMessage, Session, SessionId, Shown, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What a mode brings to a prompt."""

    window: tuple[Message, ...] = ()
    """Oldest first."""
    slots: Slots
    shown: Shown
    """What of memory stands in the slots, by id."""


class MemoryMode(Protocol):
    """One memory. Implementations: `memory.modes.full`, `window`, `pools`."""

    @property
    def in_memory(self) -> list[SessionId]:
        """Sessions with turns that the end of the process would lose, who waits longest first."""
        ...

    async def gather(self, session: Session, entry: NewMessage) -> Gathered:
        """What the prompt that answers `entry` shows of the past. Reads only.

        Raises:
            StoreError: the database could not be read.
        """
        ...

    def composed(self, session: Session, gathered: Gathered, prompt: Prompt) -> None:
        """Take note of what the budget left of it."""
        ...

    async def keep(self, unit: Unit, number: int, turn: Turn) -> int | None:
        """Keep a turn, as part of the caller's transaction.

        Args:
            unit: the transaction that ends the turn.
            number: the session's row.
            turn: what was said.

        Returns:
            The mark under which it waits to be distilled; None when there is nothing to distil.
        """
        ...

    def settled(self, turn: Turn, mark: int | None) -> None:
        """The turn's transaction is through: only now did it happen."""
        ...

    async def afterwards(self, session: SessionId, moment: Moment) -> None:
        """Do what was left for after the send, as far as the moment is right for it.

        Raises:
            ModelError: a model could not be asked; what is left waits for another try.
            StoreError: the database could not do it.
        """
        ...

    def holders(self, platform_ids: Sequence[str]) -> set[SessionId]:
        """The sessions that this mode alone keeps any of these messages of, in memory."""
        ...

    async def forget(self, unit: Unit, session: SessionId, platform_ids: Sequence[str]) -> int:
        """Drop messages that this mode alone keeps, in memory; how many turns that were."""
        ...

    async def reset(self, unit: Unit, session: SessionId) -> None:
        """Clear what this mode alone keeps in memory of a session."""
        ...
