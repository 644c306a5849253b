"""Which session a message belongs to, told from its place alone.

| where | session |
|---|---|
| Telegram direct chat, group | `tg-<bot>-<chat>` (a direct chat's id is the person's) |
| Telegram topic | `tg-<bot>-<chat>-<topic>` |
| Discord direct chat | `dc-<bot>-u<person>` |
| Discord channel, thread, forum post | `dc-<bot>-<channel>` |
| either, each person for themselves | the above, then `-u<person>` |
| console | `cli-<name>` |

An id is stable: it holds platform ids only, never a name or a title. Two bots in one place are
two conversations.
"""

from bot.ports import Author, ChatKind, ChatRef, Platform
from memory.values import SessionId

_PREFIX = {Platform.TELEGRAM: "tg", Platform.DISCORD: "dc"}


def prefix_of(platform: Platform) -> str:
    """What the ids of a platform's sessions begin with, before the first dash."""
    return _PREFIX.get(platform, "cli")


def session_of(chat: ChatRef, author: Author, *, own: bool = False) -> SessionId:
    """The session of what the author writes in this chat; `own`: the person's, not the group's.

    For a group that became a supergroup, `chat.chat` must be the id that it had first
    (`bot.access.positions` knows it): the conversation stays the same one.
    """
    person = author.person.partition(":")[2]
    if chat.platform is Platform.CONSOLE:
        return SessionId(f"cli-{chat.chat}")
    prefix = f"{_PREFIX[chat.platform]}-{chat.bot}"
    if chat.platform is Platform.DISCORD and chat.kind is ChatKind.DIRECT:
        return SessionId(f"{prefix}-u{person}")
    parts = [prefix, chat.chat]
    if chat.topic is not None:
        parts.append(chat.topic)
    if own and chat.kind is ChatKind.GROUP:
        parts.append(f"u{person}")
    return SessionId("-".join(parts))


def patterns_of(chat: ChatRef) -> tuple[str, ...]:
    """Patterns (SQLite's GLOB) that every session of a place fits, whoever wrote there.

    A direct chat of Discord does not tell whose it is: all of the bot's fit.
    """
    prefix = f"{prefix_of(chat.platform)}-{chat.bot}"
    if chat.platform is Platform.DISCORD and chat.kind is ChatKind.DIRECT:
        return (f"{prefix}-u*",)
    return (f"{prefix}-{chat.chat}", f"{prefix}-{chat.chat}-*")
