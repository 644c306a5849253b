"""Which session a message belongs to, decided by its place alone.

| where | session |
|---|---|
| a direct chat, a group, a channel | `PREFIX-<bot>-<chat>` |
| a topic of a group | `PREFIX-<bot>-<chat>-<topic>` |
| a direct chat whose id does not say whose it is | `PREFIX-<bot>-u<person>` |
| any group, each person for themselves | the above, then `-u<person>` |
| this machine's terminal | `PREFIX-<name>` |

The prefix is the platform manifest's (`tg`, `dc`, `cli`). An id is stable: it holds platform ids
only, never a name or a title. Two bots in one place are two conversations.
"""

from bot.manifests import PlatformManifest
from bot.ports import Author, ChatKind, ChatRef
from memory.values import SessionId


def session_of(
    platform: PlatformManifest, chat: ChatRef, author: Author, *, own: bool = False
) -> SessionId:
    """The session of what the author writes in this chat; `own`: the person's, not the group's.

    For a group that became a supergroup, `chat.chat` must be the id that it had first
    (`bot.access.positions` knows it): the conversation stays the same one.
    """
    if platform.connector is None:
        return SessionId(f"{platform.prefix}-{chat.chat}")
    person = author.person.partition(":")[2]
    prefix = f"{platform.prefix}-{chat.bot}"
    if chat.kind is ChatKind.DIRECT and platform.direct_by_person:
        return SessionId(f"{prefix}-u{person}")
    parts = [prefix, chat.chat]
    if chat.topic is not None:
        parts.append(chat.topic)
    if own and chat.kind is ChatKind.GROUP:
        parts.append(f"u{person}")
    return SessionId("-".join(parts))


def patterns_of(platform: PlatformManifest, chat: ChatRef) -> tuple[str, ...]:
    """Patterns (SQLite's GLOB) that every session of a place fits, whoever wrote there.

    A direct chat whose id does not say whose it is: all of the bot's fit.
    """
    prefix = f"{platform.prefix}-{chat.bot}"
    if chat.kind is ChatKind.DIRECT and platform.direct_by_person:
        return (f"{prefix}-u*",)
    return (f"{prefix}-{chat.chat}", f"{prefix}-{chat.chat}-*")
