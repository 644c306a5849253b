"""The values of a JSON array or of JSON Lines, one by one, with their lines, however big the file.

Files are hostile: a value that is not JSON, too long, too deep or not UTF-8 is a problem with its
line. In JSON Lines the next line goes on; a broken array cannot be read past its first fault.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from memory.transfer.interface import BadValue, Problems

LONGEST_VALUE_CHARS = 16 * 2**20
"""One value: four times what the old program kept of a whole session."""
_CHUNK_CHARS = 2**20

_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_SPACE = re.compile(r"[ \t\n\r]*")


def _refuse(constant: str) -> float:
    raise ValueError(constant)


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def values(path: Path, problems: Problems) -> Iterator[tuple[int, Any]]:
    """Line and value of each entry, in order."""
    try:
        # What is not UTF-8 comes out as lone surrogates, which `_decoded` finds with their line.
        with path.open(encoding="utf-8-sig", errors="surrogateescape") as file:
            if _begins_array(file):
                yield from _Array(file, path, problems).values()
            else:
                yield from _lines(file, path, problems)
    except OSError as error:
        problems.add(path, None, f"cannot be read: {error.strerror}")


def whole(path: Path) -> str:
    """The text of a small file.

    Raises:
        BadValue: it cannot be read, is not UTF-8, or is too long.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(LONGEST_VALUE_CHARS + 1)
    except UnicodeDecodeError as error:
        raise BadValue("is not UTF-8 text") from error
    except OSError as error:
        raise BadValue(f"cannot be read: {error.strerror}") from error
    if len(text) > LONGEST_VALUE_CHARS:
        raise BadValue("is too long")
    return text


def _begins_array(file: IO[str]) -> bool:
    """Whether the first visible character opens an array; the file is at its start again."""
    while (char := file.read(1)) and char.isspace():
        pass
    file.seek(0)
    return char == "["


def _lines(file: IO[str], path: Path, problems: Problems) -> Iterator[tuple[int, Any]]:
    number = 0
    while text := file.readline(LONGEST_VALUE_CHARS):
        number += 1
        if len(text) == LONGEST_VALUE_CHARS and not text.endswith("\n"):
            problems.add(path, number, "the line is too long")
            while text and not text.endswith("\n"):
                text = file.readline(LONGEST_VALUE_CHARS)
            continue
        if text.isspace():
            continue
        try:
            value = _alone(text)
        except BadValue as error:
            problems.add(path, number, str(error))
        else:
            yield number, value


def _alone(line: str) -> Any:  # noqa: ANN401 - JSON
    text = line.strip()
    value, end = _decoded(text, 0)
    if end < len(text):
        raise BadValue("more follows on the line than one JSON value")
    return value


def _decoded(text: str, start: int) -> tuple[Any, int]:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise BadValue(f"is not JSON ({error.msg})") from error
    except ValueError as error:
        raise BadValue("holds a number that JSON does not have") from error
    except RecursionError as error:
        raise BadValue("is nested too deep") from error
    if _NOT_UTF8.search(text, start, end):
        raise BadValue("is not UTF-8 text")
    return value, end


class _Array:
    """Reads an array value by value; only what is being looked at is in memory."""

    def __init__(self, file: IO[str], path: Path, problems: Problems) -> None:
        self._file = file
        self._path = path
        self._problems = problems
        self._text = ""
        self._at = 0
        self._line = 1
        self._ended = False

    def values(self) -> Iterator[tuple[int, Any]]:
        """Line and value of each entry."""
        try:
            self._expect("[")
            more = self._peek() != "]"
            while more:
                self._peek()
                line = self._line
                yield line, self._value()
                more = self._peek() == ","
                if more:
                    self._expect(",")
            self._expect("]")
            self._expect("")
        except BadValue as error:
            self._problems.add(self._path, self._line, f"{error}; the rest was not read")

    def _value(self) -> Any:  # noqa: ANN401 - JSON
        while True:
            try:
                value, end = _decoded(self._text, self._at)
            except BadValue:
                # It may only be that the rest is still to be read.
                if self._ended or len(self._text) - self._at > LONGEST_VALUE_CHARS:
                    raise
            else:
                if end < len(self._text) or self._ended:
                    self._advance(end)
                    return value
            self._read(max(_CHUNK_CHARS, len(self._text) - self._at))

    def _peek(self) -> str:
        """The next visible character, now the current one; empty at the end."""
        while True:
            found = _SPACE.match(self._text, self._at)
            self._advance(found.end() if found else self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._read(_CHUNK_CHARS)

    def _expect(self, char: str) -> None:
        """Pass a character; an empty one is the end."""
        if self._peek() != char:
            missing = f"'{char}' is missing" if char else "more follows behind the array"
            raise BadValue(f"is not JSON ({missing})")
        self._advance(self._at + len(char))

    def _advance(self, end: int) -> None:
        self._line += self._text.count("\n", self._at, end)
        self._at = end

    def _read(self, chars: int) -> None:
        piece = self._file.read(chars)
        self._ended = not piece
        self._text = self._text[self._at :] + piece
        self._at = 0
