"""A message that was taken over, on its way through the lanes."""

from dataclasses import dataclass

from bot.access.places import Place
from bot.ports import CommandCall, Inbound
from memory.values import Mode, SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A message with all that answering it needs to know."""

    row: int
    """In the inbox."""
    inbound: Inbound
    place: Place
    call: CommandCall | None = None
    """The command that it gives; None for anything else."""
    attempts: int = 0
    """As `bot.delivery.inbox.Waiting.attempts`, of earlier processes too."""

    @property
    def on_disk(self) -> bool:
        """Whether what is said here may be written to disk."""
        return self.place.mode is not Mode.POOLS

    @property
    def lane(self) -> SessionId:
        """The lane that it waits in."""
        return lane_of(self.place.session, self.call)


def lane_of(session: SessionId, call: CommandCall | None) -> SessionId:
    """The lane for a message of a session: an urgent command does not wait for its turns."""
    return SessionId(f"{session}!") if call and call.urgent else session
