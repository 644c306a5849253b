"""What `kith memory` changes, in the running service through its control socket or without one.

Everything is said in JSON: the arguments that come in, the entry that goes out.
"""

from collections.abc import Mapping
from datetime import UTC

from bot.errors import UsageError
from bot.service.control import Arguments, Verb
from memory.language.times import format_rfc3339
from memory.pools.entry import Entry
from memory.pools.service import EntryView, PoolService, Viewer
from memory.values import SessionId


def memory_verbs(pools: PoolService) -> Mapping[str, Verb]:
    """`memory.add`, `memory.edit`, `memory.delete`; each answers with the entry."""

    async def add(arguments: Arguments) -> object:
        return entry_object(await pools.add(_viewer(arguments), str(arguments.get("text", ""))))

    async def edit(arguments: Arguments) -> object:
        number = _number(arguments)
        entry = await pools.edit(_viewer(arguments), number, str(arguments.get("text", "")))
        if entry is None:
            raise UsageError(f"there is no entry {number} in that conversation")
        return entry_object(entry)

    async def delete(arguments: Arguments) -> object:
        number = _number(arguments)
        if not await pools.delete(_viewer(arguments), number):
            raise UsageError(f"there is no entry {number} in that conversation")
        return {"id": number}

    return {"memory.add": add, "memory.edit": edit, "memory.delete": delete}


def entry_object(entry: Entry) -> dict[str, object]:
    """An entry for a program to read; its first three keys are the seeds' format."""
    speaker = entry.speaker
    return {
        "content": entry.content,
        "tag": entry.tag.value,
        "timestamp": format_rfc3339(entry.said_at_ns, UTC),
        "id": entry.id,
        "pool": entry.pool.value,
        "scope": entry.scope.value,
        "person": speaker.person if speaker else None,
        "name": speaker.name if speaker else None,
        "superseded_by": entry.superseded_by,
        "sources": [{"kind": one.kind.value, "id": one.id} for one in entry.sources],
    }


def view_object(view: EntryView) -> dict[str, object]:
    """An entry with what it superseded, the newest first."""
    return {**entry_object(view.entry), "before": [entry_object(one) for one in view.before]}


def _viewer(arguments: Arguments) -> Viewer:
    return Viewer(session=SessionId(str(arguments.get("session", ""))))


def _number(arguments: Arguments) -> int:
    given = arguments.get("id")
    if not isinstance(given, int):
        raise UsageError("an entry is named by its number")
    return given
