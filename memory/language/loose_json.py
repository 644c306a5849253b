"""JSON objects found in what a model wrote: in fences, in prose, in tags, behind its thinking.

It repairs nothing: an object that was cut off is no object, so that half an answer never passes
for a whole one. What the objects mean is for the caller to judge.
"""

import json
import re
from typing import Any, NoReturn

JsonObject = dict[str, Any]

LONGEST_CHARS = 200_000
"""More than any answer of ours can need; what stands behind it is not read."""

MOST_STARTS = 400
"""How many opening braces are tried: bounds the work on a hostile answer."""

_THINKING = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THINKING_WITHOUT_START = re.compile(r"\A.*?</(?:think|thinking)>", re.DOTALL | re.IGNORECASE)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


# Without `strict`, a raw line break inside a string passes: small models write them.
_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse)


def objects(text: str) -> list[JsonObject]:
    """Every complete JSON object in a model's answer, outermost ones only, in order.

    Where an outer object was cut off, the complete ones inside it are found instead. A text that is
    one object and nothing else is taken as it stands: tags inside its texts are no thinking.
    """
    text = text[:LONGEST_CHARS].strip()
    whole, end = _decoded(text, 0)
    if whole is not None and end == len(text):
        return [whole]
    text = without_thinking(text)
    found: list[JsonObject] = []
    at = text.find("{")
    for _ in range(MOST_STARTS):
        if at < 0:
            break
        decoded, end = _decoded(text, at)
        if decoded is not None:
            found.append(decoded)
        at = text.find("{", end)
    return found


def without_thinking(text: str) -> str:
    """The answer without think blocks: whole ones, unclosed ones, and one whose start is missing."""
    return _THINKING_WITHOUT_START.sub("", _THINKING.sub("", text), count=1)


def _decoded(text: str, at: int) -> tuple[JsonObject | None, int]:
    """The object that starts at `at`, with the place behind it; None when there is none."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at + 1
    return (value, end) if isinstance(value, dict) else (None, at + 1)
