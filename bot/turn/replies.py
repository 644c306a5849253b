"""What a model wrote, made fit to be shown: no thoughts, no imitated metadata, no leaked memory.

It works on a stream: what may turn out to be a tag or a metadata line is held back until it is
known, everything else is passed on at once.
"""

import re
from enum import Enum, auto
from typing import Protocol

from bot.turn.leaks import Leak, leak
from bot.turn.taiwan_reply import TaiwanSentences, wants_taiwan
from memory.ports import ChatRequest, ChatRole

HIDDEN_TAGS = ("think", "thinking", "summary")
"""Blocks that are never shown: a model's thoughts, and the memory it was given."""

_METADATA = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d( [^\]\n]{1,200})?\][ \t]*")
_METADATA_START = re.compile(
    r"\[(\d{0,4}|\d{4}-\d{0,2}|\d{4}-\d\d-\d{0,2}|\d{4}-\d\d-\d\d \d{0,2}"
    r"|\d{4}-\d\d-\d\d \d\d:\d?|\d{4}-\d\d-\d\d \d\d:\d\d( [^\]\n]{0,200})?(\][ \t]*)?)$"
)
_OPENING = re.compile(rf"<({'|'.join(HIDDEN_TAGS)})>", re.IGNORECASE)
_LONGEST_TAG = max(len(tag) for tag in HIDDEN_TAGS) + len("</>")


class _Line(Enum):
    """What the start of a line turned out to be."""

    TEXT = auto()
    METADATA = auto()
    UNDECIDED = auto()


class ReplyCleaner:
    """Cleans one reply as it comes."""

    def __init__(self) -> None:
        self._held = ""
        self._hidden: str | None = None
        self._at_line_start = True
        self._shown_any = False
        self._ended = False

    def feed(self, piece: str) -> str:
        """Take a piece of the reply; return what can be shown by now."""
        self._held += piece
        return self._emit(final=False)

    def finish(self) -> str:
        """The reply is over; return what was still held back and can be shown."""
        return (
            self._emit(final=True).rstrip() if self._shown_any else self._emit(final=True).strip()
        )

    def _emit(self, *, final: bool) -> str:
        shown = ""
        while self._held and not self._ended:
            step = self._skip_hidden(final) if self._hidden else self._take_visible(final)
            if step is None:
                break
            shown += step
        if self._ended or (final and self._hidden):
            self._held = ""
        return shown

    def _skip_hidden(self, final: bool) -> str | None:
        """Drop up to the closing tag; None when it has not come yet."""
        closing = f"</{self._hidden}>"
        end = self._held.lower().find(closing)
        if end < 0:
            self._held = "" if final else self._held[-len(closing) :]
            return None
        self._held = self._held[end + len(closing) :]
        self._hidden = None
        return ""

    def _take_visible(self, final: bool) -> str | None:
        """Pass on what is surely part of the reply; None when more has to come first."""
        if not self._shown_any:
            self._held = self._held.lstrip()
            if not self._held:
                return ""
        if self._at_line_start and (kind := self._line_kind(final)) is not _Line.TEXT:
            return None if kind is _Line.UNDECIDED else self._drop_metadata()
        if opening := _OPENING.match(self._held):
            self._hidden = opening.group(1).lower()
            self._held = self._held[opening.end() :]
            return ""
        if self._held.startswith("<") and not final and self._may_open():
            return None
        printed = leak(self._held)
        self._ended = printed is Leak.YES
        if self._ended or (printed is Leak.MAYBE and not final):
            return None
        return self._pass_on()

    def _line_kind(self, final: bool) -> _Line:
        line, newline, _ = self._held.partition("\n")
        if not newline and not final and _METADATA_START.fullmatch(line):
            return _Line.UNDECIDED
        # Before any text it also goes where the text follows in the same line.
        found = _METADATA.fullmatch(line) if self._shown_any else _METADATA.match(line)
        return _Line.METADATA if found else _Line.TEXT

    def _drop_metadata(self) -> str:
        """Drop it; behind text it ends the reply, as what follows is made up."""
        self._ended = self._shown_any
        self._held = _METADATA.sub("", self._held, count=1)
        return ""

    def _may_open(self) -> bool:
        """Whether a hidden tag may still come of what is held."""
        head = self._held[:_LONGEST_TAG].lower()
        return any(f"<{tag}>".startswith(head) for tag in HIDDEN_TAGS)

    def _pass_on(self) -> str:
        """Everything up to the next line or the next possible tag."""
        ends = [self._held.find(mark, 1) for mark in ("<", "{", "[")]
        ends.append(self._held.find("\n") + 1)
        end = min((at for at in ends if at > 0), default=len(self._held))
        shown, self._held = self._held[:end], self._held[end:]
        self._at_line_start = shown.endswith("\n")
        self._shown_any = True
        return shown


class Cleaner(Protocol):
    """Cleans one reply as it comes."""

    def feed(self, piece: str) -> str:
        """Take a piece of the reply; return what can be shown by now."""
        ...

    def finish(self) -> str:
        """The reply is over; return what was still held back and can be shown."""
        ...


class TaiwanCleaner:
    """A cleaner that also puts slips into Simplified Chinese right."""

    def __init__(self) -> None:
        self._cleaner = ReplyCleaner()
        self._sentences = TaiwanSentences()

    def feed(self, piece: str) -> str:
        """As `Cleaner.feed`."""
        return self._sentences.feed(self._cleaner.feed(piece))

    def finish(self) -> str:
        """As `Cleaner.finish`."""
        return (self._sentences.feed(self._cleaner.finish()) + self._sentences.finish()).rstrip()


def cleaner_for(request: ChatRequest) -> Cleaner:
    """The cleaner for the reply to a request, whose last user message is what a person wrote."""
    from_person = [message.text for message in request.messages if message.role is ChatRole.USER]
    text = _METADATA.sub("", from_person[-1], count=1) if from_person else ""
    return TaiwanCleaner() if wants_taiwan(text) else ReplyCleaner()
