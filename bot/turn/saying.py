"""Whether a text repeats what people said: by runs of words they share, and by names."""

import re
from collections.abc import Iterable, Sequence

from memory.language.text import CJK_RANGES

SHARED_WORDS = 4
"""So many words in a row are a quotation, not a coincidence."""
SHARED_CJK = 6
"""The same in characters, for scripts without spaces."""
_SHORTEST_NAME = 2

_UNIT = re.compile(rf"[{CJK_RANGES}]|(?:(?![{CJK_RANGES}])\w)+")
_METADATA = re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d (?P<name>[^\]\n]{1,200})\]", re.MULTILINE)
_EXCERPT = re.compile(
    r"^\[[^\]\n]{1,60} · (?:user|assistant)\] (?:(?P<name>[^:\n]{1,40}): )?.*", re.MULTILINE
)
"""A line of `chat_history`; among several people it names who spoke."""
_ADDRESS = re.compile(r"\b(?:https?|ftp)://|\bwww\.", re.IGNORECASE)
"""Whoever could put an address into what every session reads would use it for that."""


def names_in(said: Iterable[str]) -> set[str]:
    """Names that stand in the metadata lines of messages, or in lines of `chat_history`."""
    lines = (
        found["name"]
        for text in said
        for pattern in (_METADATA, _EXCERPT)
        for found in pattern.finditer(text)
    )
    return {name for name in lines if name}


def excerpts_in(results: Iterable[str]) -> list[str]:
    """The lines in results of tools that repeat messages: what people said, looked up."""
    return [found[0] for result in results for found in _EXCERPT.finditer(result)]


def repeats(
    text: str, said: Sequence[str], names: Iterable[str], person_ids: re.Pattern[str]
) -> bool:
    """Whether a text quotes something that was said, or holds a name, an id or an address."""
    if person_ids.search(text) or _ADDRESS.search(text):
        return True
    if any(_names(text, name) for name in names):
        return True
    runs = {run for one in said for run in _runs(_METADATA.sub("", one))}
    return any(run in runs for run in _runs(text))


def _names(text: str, name: str) -> bool:
    if len(name.strip()) < _SHORTEST_NAME:
        return False
    spaced = r"(?<!\w){}(?!\w)" if name.isascii() else "{}"
    return re.search(spaced.format(re.escape(name.strip())), text, re.IGNORECASE) is not None


def _runs(text: str) -> Iterable[tuple[str, ...]]:
    """Every run of units that is long enough to be a quotation."""
    units = [unit.casefold() for unit in _UNIT.findall(text)]
    for start in range(len(units)):
        length = SHARED_CJK if _is_cjk(units[start]) else SHARED_WORDS
        run = tuple(units[start : start + length])
        if len(run) == length:
            yield run


def _is_cjk(unit: str) -> bool:
    return len(unit) == 1 and not unit.isascii()
