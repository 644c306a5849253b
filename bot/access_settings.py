"""What the operator wrote about who may speak where, as plain values.

It stands below the configuration, which nests it, and decides nothing: `bot.access` does.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from memory.values import Mode

EVERYBODY = "*"
"""In a list: every id there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdLists:
    """Ids of people and places. An empty list names nobody, `"*"` names everybody."""

    users: tuple[str, ...] = ()
    """People, by the platform's id (`456`) or in full (`telegram:456`)."""
    roles: tuple[str, ...] = ()
    """Discord: everybody who has the role, in the server that the role belongs to."""
    guilds: tuple[str, ...] = ()
    """Discord: every channel of a server."""
    channels: tuple[str, ...] = ()
    """Discord: a channel with its threads and forum posts, or one thread."""
    chats: tuple[str, ...] = ()
    """Telegram: a group with its topics. `channels` and `chats` are two words for one list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessSettings:
    """Who may speak on one platform. The default lets nobody in."""

    allow: IdLists = field(default_factory=IdLists)
    """Who or what is let in; each id only ever adds."""
    deny: IdLists = field(default_factory=IdLists)
    """Who or what is kept out, whatever else says otherwise; each id only ever takes away."""
    admins: tuple[str, ...] = ()
    """People as `platform:id`, never names: names are changed and reused. `"*"` is not accepted."""
    mode: Mode = Mode.FULL
    """Memory mode where nothing nearer says otherwise. Full: it is what the bot is for."""
    direct_mode: Mode | None = None
    """Memory mode of direct chats; None is `mode`."""
    modes: Mapping[str, Mode] = field(default_factory=dict)
    """Memory mode by place: the id of a chat, channel, thread or server. The nearest counts."""
    person_sessions: tuple[str, ...] = ()
    """Places where each person has a session of their own instead of one for all. None: in a
    group, people talk with each other."""
