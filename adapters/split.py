"""Cutting a long reply into parts that a platform takes.

Pure. A part ends, by preference, at a blank line, a line end, a sentence end, a clause, a space;
only a run without any of these is cut between two visible characters. A code fence that is open
at a cut is closed there and opened again in the next part, inside the limit.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memory.language.text import visible_boundary

SMALLEST_LIMIT = 128
"""Below this a fence and its language would leave no space for code."""

_FENCE_LINE = re.compile(r"^ {0,3}(?P<mark>`{3,8}|~{3,8})(?P<info>[^`\n]{0,40})$", re.MULTILINE)
_SPACES = re.compile(r"[ \t\u3000]+")
_BLANK_LINES = re.compile(r"(?:[ \t]*\n)+")
_BLANK = re.compile(r"\n[ \t]*(?=\n)")
_NEWLINE = re.compile(r"(?=\n)")
_SENTENCE = re.compile(r"(?:[。！？]|[.!?…](?=\s))[」』）”’]*")
_CLAUSE = re.compile(r"[，、；：]")
_SPACE = re.compile(r"(?=[ \t\u3000])")
_PROSE_CUTS = (_BLANK, _NEWLINE, _SENTENCE, _CLAUSE, _SPACE)
_CODE_CUTS = (_NEWLINE, _SPACE)
_MIN_SHARE = 3
_LONGEST_CLUSTER_CHARS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fence:
    """A code block: where its two fence lines stand in the whole text."""

    open_start: int
    open_end: int
    close_start: int
    close_end: int
    opener: str
    closer: str


def utf16_units(text: str) -> int:
    """Length in UTF-16 code units, which is what Telegram counts (Bot API, "MessageEntity")."""
    return len(text) + sum(char > "\uffff" for char in text)


def split(text: str, *, limit: int, length: Callable[[str], int] = len) -> list[str]:
    """The parts of a text, each at most `limit` long by `length`, in order, none blank.

    White space at a cut is dropped, nothing else is. A blank text has no parts. `length` must add
    up: the length of a text is the sum of the lengths of its characters, each at least 1.

    Raises:
        ValueError: `limit` is smaller than `SMALLEST_LIMIT`.
    """
    if limit < SMALLEST_LIMIT:
        raise ValueError(f"a limit of {limit} is too small to split by")
    whole = text.rstrip()
    whole = whole[_after_blank_lines(whole, 0) :]
    if length(whole) <= limit:
        return [whole] if whole else []
    return list(_parts(whole, limit, length))


def _parts(text: str, limit: int, length: Callable[[str], int]) -> Iterator[str]:
    fences = list(_fences(text))
    at = 0
    while at < len(text):
        inside = _fence_at(fences, at)
        prefix = f"{inside.opener}\n" if inside else ""
        space = limit - length(prefix) - _closing_length(fences, at, limit, length)
        cut = _cut(text, at, _reach(text, at, space, length), fences)
        body, following = text[at:cut].rstrip(), _next_start(text, cut)
        fence = _fence_at(fences, cut)
        suffix = ""
        if fence:
            suffix = f"\n{fence.closer}"
            if not text[cut : fence.close_start].strip():
                following = _next_start(text, fence.close_end)
        if body.strip():
            yield prefix + body + suffix
        at = following


def _fences(text: str) -> Iterator[_Fence]:
    """The code blocks of a text, in order; one that is never closed reaches beyond the text."""
    opened: re.Match[str] | None = None
    for line in _FENCE_LINE.finditer(text):
        if opened is None:
            opened = line
        elif _closes(opened, line):
            yield _fence(opened, line.start(), line.end())
            opened = None
    if opened is not None:
        yield _fence(opened, len(text) + 1, len(text) + 1)


def _closes(opened: re.Match[str], line: re.Match[str]) -> bool:
    return line["mark"].startswith(opened["mark"]) and not line["info"].strip()


def _fence(opened: re.Match[str], close_start: int, close_end: int) -> _Fence:
    return _Fence(
        open_start=opened.start(),
        open_end=opened.end(),
        close_start=close_start,
        close_end=close_end,
        opener=opened.group().strip(),
        closer=opened["mark"],
    )


def _fence_at(fences: list[_Fence], at: int) -> _Fence | None:
    """The code block in whose code this position lies."""
    return next((f for f in fences if f.open_end < at < f.close_end), None)


def _closing_length(fences: list[_Fence], at: int, limit: int, length: Callable[[str], int]) -> int:
    """What must stay free for a closing fence: none if no code block is within reach."""
    reachable = [f.closer for f in fences if f.open_start < at + limit and f.close_end > at]
    return max((1 + length(closer) for closer in reachable), default=0)


def _reach(text: str, at: int, space: int, length: Callable[[str], int]) -> int:
    """The furthest position up to which the text fits into the space."""
    furthest = min(len(text), at + space)
    return at + bisect_right(
        range(1, furthest - at + 1), space, key=lambda count: length(text[at : at + count])
    )


def _cut(text: str, at: int, end: int, fences: list[_Fence]) -> int:
    """Where the part that starts at `at` and may reach to `end` ends; always beyond `at`."""
    if end >= len(text):
        return end
    inside = _fence_at(fences, end)
    first = inside.open_end + 1 if inside and inside.open_start == at else at
    cut = _preferred(text, first, end, _CODE_CUTS if inside else _PROSE_CUTS)
    for fence in fences:
        if at < fence.open_start < cut and not text[fence.open_end : cut].strip():
            return fence.open_start
    return cut


def _preferred(text: str, at: int, end: int, cuts: tuple[re.Pattern[str], ...]) -> int:
    for least in (at + (end - at) // _MIN_SHARE, at):
        for pattern in cuts:
            found = [m.end() for m in pattern.finditer(text, least, end + 1) if m.end() <= end]
            if found and text[at : found[-1]].strip():
                return found[-1]
    return _visible_boundary(text, at, end)


def _visible_boundary(text: str, at: int, end: int) -> int:
    """The last boundary between two visible characters, unless one is absurdly long."""
    cut = at + visible_boundary(text[at : end + 1], end - at)
    return cut if cut > max(at, end - _LONGEST_CLUSTER_CHARS) else end


def _next_start(text: str, cut: int) -> int:
    """Where the next part starts: blank lines go, an indented line keeps its indent."""
    line = _after_blank_lines(text, cut)
    if line > cut:
        return line
    spaces = _SPACES.match(text, cut)
    return spaces.end() if spaces else cut


def _after_blank_lines(text: str, at: int) -> int:
    found = _BLANK_LINES.match(text, at)
    return found.end() if found else at
