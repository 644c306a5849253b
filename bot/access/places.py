"""Where somebody writes: the access rules joined with what is known of the place."""

from dataclasses import dataclass, replace

from bot.access.access import Access, ModeOf, as_configured
from bot.access.positions import Moves
from bot.access.sessions import session_of
from bot.errors import Problem
from bot.ports import Author, ChatRef
from memory.values import Mode, SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A conversation, with what one person may do in it: decided once and carried from there."""

    session: SessionId
    allowed: bool
    admin: bool = False
    mode: Mode = Mode.FULL
    """Which memory the conversation uses: an administrator's choice, else the configuration's."""


class Places:
    """Answers for each place and person."""

    def __init__(self, access: Access, moves: Moves, mode_of: ModeOf = as_configured) -> None:
        self._access = access
        self._moves = moves
        self._mode_of = mode_of

    def place(self, chat: ChatRef, author: Author) -> Place:
        """Where the author is, and what they may do; a place with a new id is the one it was."""
        verdict = self._access.decide(chat, author, former=self._moves.former(chat))
        first = replace(chat, chat=self._moves.first(chat))
        session = session_of(first, author, own=verdict.person_session)
        return Place(
            session=session,
            allowed=verdict.allowed,
            admin=verdict.admin,
            mode=self._mode_of(session, verdict.mode),
        )

    def warnings(self) -> list[Problem]:
        """What the operator should know about the settings, by dotted key."""
        return self._access.warnings()
