"""Agenvoy's `history.json`: a JSON array or JSON Lines of records, read and written.

A record is `{role, content, sendAt, sender}`: spec, seed 1, "stores and layout". Kith adds
`person` and `messageId`, which other readers pass over.
"""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any

from memory.language.text import one_line, scrub
from memory.transfer.interface import BadValue, Problems, Record, imported_speaker
from memory.transfer.json_values import values
from memory.transfer.times import LATEST_NS, from_local
from memory.values import Message, NewMessage, Role

_PASSED_OVER = ("system", "tool", "developer", "function")
"""Roles that the old program never kept on purpose."""

# What early versions put before the text instead of `sendAt`: one line, or a block of up to four
# fields between dashes. Both are matched narrowly: text between two rules of dashes is text.
_LINE_HEADER = re.compile(
    r"sendAt:[ ]?(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:,[ ]?sender:[ ]?(?P<sender>[^\n]{0,200}))?"
    r"(?:\n|\Z)"
)
_BLOCK_HEADER = re.compile(
    r"---\n(?:當前時間|sendAt|time):[ ]?(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\n"
    r"(?:[^\n:：]{1,20}[:：][^\n]{0,500}\n){0,3}---(?:\n|\Z)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFile:
    """A file of records, for one session."""

    path: Path
    zone: tzinfo | None

    async def records(self, problems: Problems) -> AsyncIterator[Record]:
        """The messages in the file's order; blank ones and tool traffic are passed over."""
        for line, value in values(self.path, problems):
            try:
                record = record_of(value, line, self.zone)
            except BadValue as error:
                problems.add(self.path, line, str(error))
            else:
                if record is not None:
                    yield record


def record_of(value: Any, line: int, zone: tzinfo | None) -> Record | None:  # noqa: ANN401 - JSON
    """A message from a JSON value; None for what is not to be kept.

    Raises:
        BadValue: it is no record.
    """
    if not isinstance(value, dict):
        raise BadValue("is not a record (an object with role and content)")
    role = value.get("role")
    if role in _PASSED_OVER:
        return None
    if role not in (Role.USER, Role.ASSISTANT):
        raise BadValue("has no role (user or assistant)")
    text = scrub(_plain(value.get("content")))
    sent_at_ns = _time(value.get("sendAt"))
    sender = _optional(value, "sender")
    if sent_at_ns is None:
        text, sent_at_ns, found = _without_header(text, zone)
        sender = sender or found
    if not text.strip():
        return None
    return Record(
        line=line,
        role=Role(role),
        text=text,
        sent_at_ns=sent_at_ns,
        speaker=imported_speaker(sender, _optional(value, "person")) if role == Role.USER else None,
        platform_id=_optional(value, "messageId") or None,
    )


def to_line(message: Message | NewMessage) -> str:
    """A message as a record, on one line. `messages.record_bytes` counts exactly this form."""
    record: dict[str, object] = {
        "role": message.role,
        "content": message.text,
        "sendAt": message.sent_at_ns,
    }
    if message.speaker:
        record |= {"sender": message.speaker.name, "person": message.speaker.person}
    if message.platform_id is not None:
        record["messageId"] = message.platform_id
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def _plain(content: Any) -> str:  # noqa: ANN401 - JSON
    """The text of a content: a text, or the text parts of a list, a line each."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise BadValue("has a content that is neither text nor a list of parts")
    return "\n".join(_part(part) for part in content if _is_text(part))


def _is_text(part: Any) -> bool:  # noqa: ANN401 - JSON
    if not isinstance(part, dict):
        raise BadValue("has a part that is not an object")
    return bool(part.get("type", "text") == "text")


def _part(part: dict[str, Any]) -> str:
    text = part.get("text")
    if not isinstance(text, str):
        raise BadValue("has a text part without text")
    return text


def _time(value: Any) -> int | None:  # noqa: ANN401 - JSON
    """Nanoseconds; None where there are none (absent or 0)."""
    if value is None or value == 0:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= LATEST_NS:
        raise BadValue("has a sendAt that is not a time in nanoseconds")
    return value


def _optional(value: dict[str, Any], key: str) -> str:
    found = value.get(key)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise BadValue(f"has a {key} that is not text")
    return one_line(scrub(found))


def _without_header(text: str, zone: tzinfo | None) -> tuple[str, int | None, str]:
    """Text without the header of early versions, with the time and the sender that it gave."""
    found = _LINE_HEADER.match(text) or _BLOCK_HEADER.match(text)
    if not found:
        return text, None, ""
    sender = found.groupdict().get("sender") or ""
    return text[found.end() :], from_local(found["at"], zone), sender.strip()
