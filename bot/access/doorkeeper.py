"""Who asks, and in which conversation: the access rules joined with what is known of the place."""

from dataclasses import dataclass, replace

from bot.access.access import Access, ModeOf, Verdict, as_configured
from bot.access.positions import Moves
from bot.access.sessions import session_of
from bot.errors import Problem
from bot.ports import Author, ChatRef, Platform
from memory.values import SessionId

_AT_THE_CONSOLE = Verdict(allowed=True, admin=True)
"""Whoever sits there can read the database anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What somebody may do here, and the conversation that they are in."""

    verdict: Verdict
    session: SessionId


class Doorkeeper:
    """Answers for each place and person."""

    def __init__(self, access: Access, moves: Moves, mode_of: ModeOf = as_configured) -> None:
        self._access = access
        self._moves = moves
        self._mode_of = mode_of

    def place(self, chat: ChatRef, author: Author) -> Place:
        """The verdict and the session; a place that got a new id is still the one it was."""
        if chat.platform is Platform.CONSOLE:
            return self._placed(_AT_THE_CONSOLE, session_of(chat, author))
        verdict = self._access.decide(chat, author, former=self._moves.former(chat))
        first = replace(chat, chat=self._moves.first(chat))
        session = session_of(first, author, own=verdict.person_session)
        return self._placed(verdict, session)

    def _placed(self, verdict: Verdict, session: SessionId) -> Place:
        mode = self._mode_of(session, verdict.mode)
        return Place(verdict=replace(verdict, mode=mode), session=session)

    def admit_by(self, access: Access) -> None:
        """Decide by other settings from now on."""
        self._access = access

    def warnings(self) -> list[Problem]:
        """What the operator should know about the settings, by dotted key."""
        return self._access.warnings()
