"""Where somebody writes: the access rules joined with what is known of the place."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bot.access.access import Access, ModeOf, as_configured
from bot.access.positions import Moves
from bot.access.sessions import patterns_of, session_of
from bot.errors import Problem
from bot.manifests import PlatformManifest
from bot.ports import Author, ChatRef, Platform
from memory.values import Mode, SessionId

NOWHERE = SessionId("")
"""No conversation at all."""


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

    def __init__(
        self,
        access: Access,
        moves: Moves,
        platforms: Mapping[Platform, PlatformManifest],
        mode_of: ModeOf = as_configured,
    ) -> None:
        self._access = access
        self._moves = moves
        self._platforms = platforms
        self._mode_of = mode_of

    def place(self, chat: ChatRef, author: Author) -> Place:
        """Where the author is, and what they may do; a place with a new id is the one it was."""
        platform = self._platforms.get(chat.platform)
        if platform is None:  # what is left of one that is no longer there
            return Place(session=NOWHERE, allowed=False)
        verdict = self._access.decide(chat, author, former=self._moves.former(chat))
        first = replace(chat, chat=self._moves.first(chat))
        session = session_of(platform, first, author, own=verdict.person_session)
        return Place(
            session=session,
            allowed=verdict.allowed,
            admin=verdict.admin,
            mode=self._mode_of(session, verdict.mode),
        )

    def patterns(self, chat: ChatRef) -> tuple[str, ...]:
        """As `bot.access.sessions.patterns_of`, under the id that the chat had first."""
        first = replace(chat, chat=self._moves.first(chat))
        return patterns_of(self._platforms[chat.platform], first)

    def warnings(self) -> list[Problem]:
        """What the operator should know about the settings, by dotted key."""
        return self._access.warnings()
