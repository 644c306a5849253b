"""Who may speak, decided from ids alone, before anything that was said is looked at.

The rule, in the order in which it is applied:

1. A platform without settings lets nobody in.
2. **Deny wins.** Whoever is on a deny list, by user, role, chat, channel or server, is out,
   administrators included.
3. An administrator may speak everywhere else.
4. **An allowed user** may speak everywhere else: in direct chats and in groups.
5. **An allowed place** (chat, channel, server) lets everyone speak who is in it. It is a group's
   rule: it says nothing about direct chats.
6. **An allowed role** lets its holders speak in the server that the role belongs to.
7. Everybody else is a stranger. An empty list names nobody.

So an id on an allow list only ever lets more people in, and an id on a deny list only ever
keeps more people out. A thread or forum post is in its channel, a topic in its group, and a
group that became a supergroup is still the group that it was: `former` holds its older ids.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from bot.config.access_settings import EVERYBODY, AccessSettings, IdLists
from bot.errors import Problem
from bot.ports import Author, ChatKind, ChatRef, Platform
from memory.values import Mode, PersonId, SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one person may do in one place."""

    allowed: bool
    admin: bool = False
    mode: Mode = Mode.FULL
    """Which memory the place uses."""
    person_session: bool = False
    """Whether each person has a session of their own here."""


ModeOf = Callable[[SessionId, Mode], Mode]
"""The memory of a session, given the one that the configuration says for its place."""


def as_configured(_session: SessionId, mode: Mode) -> Mode:
    """Nobody chose another."""
    return mode


STRANGER = Verdict(allowed=False)


class Access:
    """The settings of every platform, ready to be asked. It does no I/O and keeps no state."""

    def __init__(
        self, settings: Mapping[Platform, AccessSettings], *, known: Collection[Platform] = ()
    ) -> None:
        """Over the settings of each platform; `known` names those that have none, too."""
        self._settings = dict(settings)
        self._known = frozenset((*settings, *known))
        listed = (admin for one in settings.values() for admin in one.admins)
        self._admins = frozenset(admin for admin in listed if self._is_person(admin))

    def decide(self, chat: ChatRef, author: Author, *, former: Iterable[str] = ()) -> Verdict:
        """What the author may do in this chat; `former` are ids that the chat had before."""
        settings = self._settings.get(chat.platform)
        if settings is None:
            return STRANGER
        places = _places(chat, former)
        admin = self.is_admin(author.person)
        if _names(settings.deny, chat, author, places) or not (
            admin or _admits(settings.allow, chat, author, places)
        ):
            return STRANGER
        return Verdict(
            allowed=True,
            admin=admin,
            mode=_mode(settings, chat, places),
            person_session=chat.kind is ChatKind.GROUP
            and _any(settings.person_sessions, (*places, chat.guild)),
        )

    def is_admin(self, person: PersonId) -> bool:
        """Whether the configuration names this person as an administrator."""
        return person in self._admins

    def warnings(self) -> list[Problem]:
        """What the operator should know about these settings, by dotted key."""
        return [
            Problem(key=f"{platform}.{key}", what=what)
            for platform, settings in self._settings.items()
            for key, what in (*_open_to_everybody(settings), *self._odd_admins(settings))
        ]

    def _odd_admins(self, settings: AccessSettings) -> list[tuple[str, str]]:
        what = "is nobody: write an administrator as platform:id (discord:123)"
        odd = [admin for admin in settings.admins if not self._is_person(admin)]
        return [("admins", f"{admin!r} {what}") for admin in odd]

    def _is_person(self, admin: str) -> bool:
        platform, colon, user = admin.partition(":")
        return bool(colon and user) and user != EVERYBODY and platform in self._known


def _places(chat: ChatRef, former: Iterable[str]) -> tuple[str, ...]:
    """The chat's own ids, then its channel's: nearest first."""
    return tuple(place for place in (chat.chat, *former, chat.parent) if place is not None)


def _names(lists: IdLists, chat: ChatRef, author: Author, places: tuple[str, ...]) -> bool:
    return (
        _any(lists.users, _user(author))
        or _any(lists.roles, author.roles)
        or _any((*lists.chats, *lists.channels), places)
        or _any(lists.guilds, (chat.guild,))
    )


def _admits(lists: IdLists, chat: ChatRef, author: Author, places: tuple[str, ...]) -> bool:
    if chat.kind is ChatKind.DIRECT:
        return _any(lists.users, _user(author))
    return _names(lists, chat, author, places)


def _user(author: Author) -> tuple[str, str]:
    return (author.person, author.person.partition(":")[2])


def _any(listed: Iterable[str], ids: Iterable[str | None]) -> bool:
    """Whether one of the ids is listed. `"*"` is every id, but not the absence of one."""
    present = {found for found in ids if found}
    names = set(listed)
    return bool(present) and (EVERYBODY in names or not names.isdisjoint(present))


def _mode(settings: AccessSettings, chat: ChatRef, places: tuple[str, ...]) -> Mode:
    for place in (*places, chat.guild):
        if place is not None and place in settings.modes:
            return settings.modes[place]
    if chat.kind is ChatKind.DIRECT and settings.direct_mode is not None:
        return settings.direct_mode
    return settings.mode


def _open_to_everybody(settings: AccessSettings) -> list[tuple[str, str]]:
    meanings = {
        "users": "everybody may speak to the bot, in direct chats and in groups",
        "roles": "everybody with any role may speak in any server",
        "guilds": "everybody in any server may speak, also where strangers invite the bot",
        "channels": "everybody in any channel may speak, also where strangers invite the bot",
        "chats": "everybody in any group may speak, also where strangers add the bot",
    }
    return [
        (f"allow.{name}", f'"*" lets everybody in: {what}')
        for name, what in meanings.items()
        if EVERYBODY in getattr(settings.allow, name)
    ]
