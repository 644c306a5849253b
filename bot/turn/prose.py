"""Tool calls that a model prints as text instead of making them; small models do.

Only an object that names an offered tool is one, and only where it is what the answer is about: a
long explanation that shows such an object is an explanation.
"""

import json
import re
from collections.abc import Container, Mapping
from typing import Any

from memory.language.loose_json import objects, without_thinking
from memory.ports import ToolCall

_LONGEST_REST_CHARS = 300
"""Text beside the objects; more than that is an answer that quotes one."""
_NAME_KEYS = ("name", "tool", "tool_name", "function", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "action_input")
_DECIDED_CHARS = 60
"""By then it shows whether what looked like the start of a call is one."""
_START = re.compile(
    r"(?:```(?:json|tool_call)?\s*|<tool_calls?>\s*|\[\s*)*\{\s*\"(?:name|tool|tool_name|function"
    r"|action|type|arguments|parameters|tool_calls?)\"\s*:"
)
_STARTS_WITH = "`<[{"


def calls_in(text: str, offered: Container[str]) -> tuple[ToolCall, ...]:
    """The calls that a text holds; empty when it is an answer."""
    found = objects(text)
    calls = [call for one in found if (call := _call(one, offered)) is not None]
    size = sum(len(json.dumps(one, ensure_ascii=False)) for one in found)
    if len(without_thinking(text).strip()) - size > _LONGEST_REST_CHARS:
        return ()
    return tuple(calls)


def _call(found: Mapping[str, Any], offered: Container[str]) -> ToolCall | None:
    inner = found.get("function")
    if isinstance(inner, Mapping):
        return _call(inner, offered)
    name = next((found[key] for key in _NAME_KEYS if isinstance(found.get(key), str)), None)
    if name is None or name not in offered:
        return None
    given: Any = next((found[key] for key in _ARGUMENT_KEYS if key in found), {})
    if isinstance(given, str):
        given = next(iter(objects(given)), None)
    return ToolCall(name=name, arguments=given) if isinstance(given, dict) else None


class ProseCallFilter:
    """Passes a streamed reply on, except for what may turn out to be a tool call in prose."""

    def __init__(self, *, watching: bool) -> None:
        self._watching = watching
        self._held = ""
        self._is_call = False

    def feed(self, piece: str) -> str:
        """Take a piece; return what can be shown by now."""
        if not self._watching:
            return piece
        self._held += piece
        return "" if self._is_call else self._release()

    def finish(self) -> str:
        """What was held back to the end."""
        held, self._held = self._held, ""
        return held

    def _release(self) -> str:
        shown = ""
        while self._held and not self._is_call:
            at = next((i for i, char in enumerate(self._held) if char in _STARTS_WITH), None)
            if at is None:
                at = len(self._held)
            shown, self._held = shown + self._held[:at], self._held[at:]
            if _START.match(self._held):
                self._is_call = True
            elif len(self._held) >= _DECIDED_CHARS:
                shown, self._held = shown + self._held[0], self._held[1:]
            else:
                break
        return shown
