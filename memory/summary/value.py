"""The rolling summary as a value: read from a model's answer or an old file, clamped, written as JSON.

Shape and limits: spec, seed 1, "rolling summary". A summary that cannot be read is None, so that a
broken answer never replaces a good one.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memory.language.loose_json import JsonObject, objects
from memory.language.taiwan import is_japanese, to_taiwan
from memory.language.text import clip, one_line, scrub
from memory.ports import JsonSchema

MOST_DECISIONS = 8
MOST_TOPICS = 8
TOPIC_CHARS = 80
TEXT_CHARS = 300
"""Longest description, direction or decision: one to three sentences."""
MINUTE = "%Y-%m-%d %H:%M"
"""How `last_discussed` is written, in the operator's time zone."""

DO = "Do: "
DONT = "Don't: "

_KEYS = ("key_decisions", "past_discussions", "current_discussion")
_OLD_KEYS = ("core_discussion", "discussion_log", "confirmed_needs", "current_conclusion")
_ENOUGH_KEYS = 2
_MARKER = re.compile(
    r"\s*(?:(?P<dont>don[’'`]?t|do not|不要|しない|勿)|(?P<do>do|要|する))\s*[:：]\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """Something that was talked about before."""

    topic: str
    description: str = ""
    direction: str = ""
    """The conclusion if there was one, else where it leaned."""
    last_discussed: str = ""
    """`YYYY-MM-DD HH:MM`, or empty when the model gave no such time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Current:
    """What is being talked about; empty strings when nothing is."""

    topic: str = ""
    description: str = ""
    perspectives: str = ""
    direction: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The rolling digest of what the window no longer shows."""

    key_decisions: tuple[str, ...] = ()
    """At most 8, each starting with `Do: ` or `Don't: ` in every language; oldest first."""
    past_discussions: tuple[Topic, ...] = ()
    """At most 8, each topic once."""
    current_discussion: Current = Current()

    def __bool__(self) -> bool:
        """Whether anything stands in it."""
        return self != Summary()


def _strings(**limits_chars: int) -> dict[str, Any]:
    fields = {name: {"type": "string", "maxLength": n} for name, n in limits_chars.items()}
    return {"type": "object", "properties": fields, "required": list(fields)}


def summary_schema(
    *, decisions: int = MOST_DECISIONS, topics: int = MOST_TOPICS, text_chars: int = TEXT_CHARS
) -> JsonSchema:
    """What a summary model must answer, with so many entries and texts so long at most.

    A model held to it cannot run on until its reply is cut off; read answers are clamped anyway.
    """
    text = {"type": "string", "maxLength": text_chars}
    return {
        "type": "object",
        "properties": {
            "key_decisions": {"type": "array", "maxItems": decisions, "items": text},
            "past_discussions": {
                "type": "array",
                "maxItems": topics,
                "items": _strings(
                    topic=TOPIC_CHARS // 2,
                    description=text_chars,
                    direction=text_chars,
                    last_discussed=len("2024-01-31 09:30"),
                ),
            },
            "current_discussion": _strings(
                topic=TOPIC_CHARS // 2,
                description=text_chars,
                perspectives=text_chars,
                direction=text_chars,
            ),
        },
        "required": list(_KEYS),
    }


def read_summary(text: str) -> Summary | None:
    """The last summary in a model's answer or a file, validated and clamped; None without one."""
    for found in reversed(objects(text)):
        summary = _of_object(found)
        if summary is not None:
            return summary
    return None


def to_json(summary: Summary) -> str:
    """The summary as the seeds' JSON: all fields present, one line, letters as they are."""
    return json.dumps(as_object(summary), ensure_ascii=False)


def as_object(summary: Summary) -> JsonObject:
    """The summary as plain data."""
    current = summary.current_discussion
    return {
        "key_decisions": list(summary.key_decisions),
        "past_discussions": [
            {
                "topic": topic.topic,
                "description": topic.description,
                "direction": topic.direction,
                "last_discussed": topic.last_discussed,
            }
            for topic in summary.past_discussions
        ],
        "current_discussion": {
            "topic": current.topic,
            "description": current.description,
            "perspectives": current.perspectives,
            "direction": current.direction,
        },
    }


def without_least(summary: Summary) -> Summary | None:
    """The summary with one entry less, its least important one; None when it has none.

    Topics go first, the longest ago before the others, then what is being talked about, then
    decisions, the oldest before the others: decisions bind, the rest is background.
    """
    if summary.past_discussions:
        oldest = min(summary.past_discussions, key=lambda topic: topic.last_discussed)
        left = tuple(topic for topic in summary.past_discussions if topic is not oldest)
        return replace(summary, past_discussions=left)
    if summary.current_discussion != Current():
        return replace(summary, current_discussion=Current())
    if summary.key_decisions:
        return replace(summary, key_decisions=summary.key_decisions[1:])
    return None


def in_taiwan_chinese(summary: Summary) -> Summary:
    """The same summary with its Chinese in Taiwan Traditional; a Japanese one stays as it is."""
    if is_japanese(to_json(summary)):
        return summary
    return _of_object(_mapped(as_object(summary), to_taiwan)) or summary


def _mapped(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401 - plain JSON data
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    return {key: _mapped(item, change) for key, item in value.items()}


class _WrongType(Exception):
    """A field is not what a summary has there."""


def _of_object(found: JsonObject) -> Summary | None:
    for keys, read in ((_KEYS, _current_form), (_OLD_KEYS, _old_form)):
        if sum(key in found for key in keys) >= _ENOUGH_KEYS:
            try:
                return read(found)
            except _WrongType:
                return None
    return None


def _current_form(found: JsonObject) -> Summary:
    current = _typed(found.get("current_discussion", {}), dict)
    return Summary(
        key_decisions=_decisions(_typed(found.get("key_decisions", []), list)),
        past_discussions=_topics(_typed(found.get("past_discussions", []), list)),
        current_discussion=Current(
            topic=_text(current, "topic", limit_chars=TOPIC_CHARS),
            description=_text(current, "description"),
            perspectives=_text(current, "perspectives"),
            direction=_text(current, "direction"),
        ),
    )


def _old_form(found: JsonObject) -> Summary:
    """A summary with the four keys of early versions."""
    log = [
        entry if isinstance(entry, dict) else {"topic": _joined(entry)}
        for entry in _listed(found.get("discussion_log", []))
    ]
    renamed = [
        {
            "topic": _joined(entry.get("topic", "")),
            "description": _joined(entry.get("description", entry.get("content", ""))),
            "direction": _joined(entry.get("direction", entry.get("conclusion", ""))),
            "last_discussed": _joined(entry.get("last_discussed", entry.get("time", ""))),
        }
        for entry in log
    ]
    return Summary(
        key_decisions=_decisions([_joined(n) for n in _listed(found.get("confirmed_needs", []))]),
        past_discussions=_topics(renamed),
        current_discussion=Current(
            topic=_clean(_joined(found.get("core_discussion", "")), TOPIC_CHARS),
            direction=_clean(_joined(found.get("current_conclusion", "")), TEXT_CHARS),
        ),
    )


def _typed(value: Any, kind: type) -> Any:  # noqa: ANN401 - untrusted JSON
    if not isinstance(value, kind):
        raise _WrongType
    return value


def _listed(value: Any) -> list[Any]:  # noqa: ANN401 - untrusted JSON
    return value if isinstance(value, list) else [value] if value else []


def _joined(value: Any) -> str:  # noqa: ANN401 - untrusted JSON
    """A text from a text, or from what early versions put in its place."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "; ".join(filter(None, (_joined(item) for item in value)))
    if isinstance(value, dict):
        return "; ".join(filter(None, (_joined(item) for item in value.values())))
    raise _WrongType


def _text(found: JsonObject, key: str, *, limit_chars: int = TEXT_CHARS) -> str:
    value = found.get(key, "")
    if isinstance(value, list):  # a list of views is as good as a text
        value = _joined(value)
    return _clean(_typed(value, str), limit_chars)


def _clean(text: str, limit_chars: int) -> str:
    return clip(one_line(scrub(text)), limit_chars)


def _decisions(found: Iterable[Any]) -> tuple[str, ...]:
    """Marked, each once in its newest place, the newest 8."""
    unique: dict[str, str] = {}
    for entry in found:
        decision = _marked(_clean(_typed(entry, str), TEXT_CHARS))
        if decision:
            unique.pop(decision.casefold(), None)
            unique[decision.casefold()] = decision
    return tuple(unique.values())[-MOST_DECISIONS:]


def _marked(text: str) -> str:
    """The decision with its English marker in place of whatever marker it had."""
    found = _MARKER.match(text)
    body = text[found.end() :] if found else text
    marker = DONT if found and found["dont"] else DO
    return marker + clip(body, TEXT_CHARS - len(marker)) if body else ""


def _topics(found: Iterable[Any]) -> tuple[Topic, ...]:
    """Each topic once as it was last given; the 8 last discussed, in the order given."""
    unique: dict[str, Topic] = {}
    for entry in found:
        topic = _topic(_typed(entry, dict))
        if topic.topic or topic.description:
            name = (topic.topic or topic.description).casefold()
            unique.pop(name, None)
            unique[name] = topic
    topics = list(unique.values())
    while len(topics) > MOST_TOPICS:
        topics.remove(min(topics, key=lambda topic: topic.last_discussed))
    return tuple(topics)


def _topic(entry: JsonObject) -> Topic:
    return Topic(
        topic=_text(entry, "topic", limit_chars=TOPIC_CHARS),
        description=_text(entry, "description"),
        direction=_text(entry, "direction"),
        last_discussed=_minute(_text(entry, "last_discussed")),
    )


def _minute(text: str) -> str:
    """A time as we write it; empty for anything else, which thereby counts as the oldest."""
    try:
        return datetime.strptime(text[:16].replace("T", " "), MINUTE).strftime(MINUTE)  # noqa: DTZ007
    except ValueError:
        return ""
