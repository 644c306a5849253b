"""What the operator wrote about who may speak where, as plain values.

It stands below the configuration, which nests it, and decides nothing: `bot.access` does.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator

from memory.settings import STRICT
from memory.values import Mode

EVERYBODY = "*"
"""In a list: every id there is."""


def _as_text(written: object) -> object:
    return str(written) if isinstance(written, int) and not isinstance(written, bool) else written


Id = Annotated[str, BeforeValidator(_as_text)]
"""An id as the platforms give it; it may be written as a number and is text from there on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdLists:
    """Ids of people and places. An empty list names nobody, `"*"` names everybody."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    users: tuple[Id, ...] = ()
    """People, by the platform's id (`456`) or in full (`telegram:456`)."""
    roles: tuple[Id, ...] = ()
    """Discord: everybody who has the role, in the server that the role belongs to."""
    guilds: tuple[Id, ...] = ()
    """Discord: every channel of a server."""
    channels: tuple[Id, ...] = ()
    """Discord: a channel with its threads and forum posts, or one thread."""
    chats: tuple[Id, ...] = ()
    """Telegram: a group with its topics. `channels` and `chats` are two words for one list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessSettings:
    """Who may speak on one platform. The default lets nobody in."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    allow: IdLists = field(default_factory=IdLists)
    """Who or what is let in; each id only ever adds."""
    deny: IdLists = field(default_factory=IdLists)
    """Who or what is kept out, whatever else says otherwise; each id only ever takes away."""
    admins: tuple[Id, ...] = ()
    """People as `platform:id`, never names: names are changed and reused. `"*"` is not accepted."""
    mode: Mode = Mode.FULL
    """Memory mode where nothing nearer says otherwise. Full: it is what the bot is for."""
    direct_mode: Mode | None = None
    """Memory mode of direct chats; None is `mode`."""
    modes: Mapping[str, Mode] = field(default_factory=dict)
    """Memory mode by place: the id of a chat, channel, thread or server. The nearest counts."""
    person_sessions: tuple[Id, ...] = ()
    """Places where each person has a session of their own instead of one for all. None: in a
    group, people talk with each other."""
