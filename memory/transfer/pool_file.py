"""Pool files, read and written: Chatmery's `archival.jsonl`, Kith's `short_term.json`, `long_term.json`.

An entry is `{content, tag, timestamp}`: spec, seed 2, "entry format". Kith adds whose it is and
what it superseded, which other readers pass over.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import Any

from memory.language.text import clip, one_line, scrub
from memory.pools.entry import CONTENT_CHARS, Entry, Scope, Tag
from memory.transfer.interface import BadValue, PoolRecord, Problems, imported_speaker
from memory.transfer.json_values import values
from memory.transfer.times import from_rfc3339, to_rfc3339

_TAGS = frozenset(Tag)
_SCOPES = frozenset(Scope)


def entries_in(path: Path, zone: tzinfo | None, problems: Problems) -> Iterator[PoolRecord]:
    """The entries of a file, in order; blank ones are passed over."""
    for line, value in values(path, problems):
        try:
            record = _record(value, line, zone)
        except BadValue as error:
            problems.add(path, line, str(error))
        else:
            if record.content:
                yield record


def to_json(entries: Sequence[Entry]) -> str:
    """Entries as a JSON array, one a line."""
    lines = (json.dumps(_value(entry), ensure_ascii=False) for entry in entries)
    return "[" + ",\n".join(lines) + "]\n"


def _value(entry: Entry) -> dict[str, object]:
    value: dict[str, object] = {
        "content": entry.content,
        "tag": entry.tag,
        "timestamp": to_rfc3339(entry.said_at_ns),
        "scope": entry.scope,
        "id": entry.id,
    }
    if entry.speaker:
        value |= {"sender": entry.speaker.name, "person": entry.speaker.person}
    if entry.superseded_by is not None:
        value["superseded_by"] = entry.superseded_by
    return value


def _record(value: Any, line: int, zone: tzinfo | None) -> PoolRecord:  # noqa: ANN401 - JSON
    if not isinstance(value, dict) or not isinstance(value.get("content"), str):
        raise BadValue("is not a pool entry (an object with content, tag and timestamp)")
    sender, person = _text(value, "sender"), _text(value, "person")
    scope = _text(value, "scope")
    named = bool(sender or person)
    return PoolRecord(
        line=line,
        content=clip(one_line(scrub(value["content"])), CONTENT_CHARS),
        tag=Tag(tag) if (tag := _text(value, "tag")) in _TAGS else Tag.IMPORTED,
        # A fact without a person can only be the conversation's.
        scope=Scope(scope) if named and scope in _SCOPES else Scope.GROUP,
        said_at_ns=_time(value.get("timestamp"), zone),
        speaker=imported_speaker(sender, person) if named else None,
        number=_number(value, "id"),
        superseded_by=_number(value, "superseded_by"),
    )


def _time(value: Any, zone: tzinfo | None) -> int | None:  # noqa: ANN401 - JSON
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise BadValue("has a timestamp that is not text")
    return from_rfc3339(value, zone)


def _text(value: dict[str, Any], key: str) -> str:
    found = value.get(key)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise BadValue(f"has a {key} that is not text")
    return one_line(scrub(found))


def _number(value: dict[str, Any], key: str) -> int | None:
    found = value.get(key)
    if found is not None and (isinstance(found, bool) or not isinstance(found, int)):
        raise BadValue(f"has a {key} that is not a number")
    return found
