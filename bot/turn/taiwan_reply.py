"""A reply's slips into Simplified Chinese, put right as it streams, a sentence at a time.

Small models slip however they are asked. A whole sentence, because its words decide how each
character is written: 干 is 乾 in 乾淨 and 幹 in 幹活.
"""

import re

from memory.language.taiwan import has_simplified, is_japanese, to_taiwan
from memory.language.text import has_cjk

_END = re.compile(r"(?<=[。！？!?\n])")
_LONGEST_CHARS = 200
"""What has no end by then is shown all the same: code, a table, a list without full stops."""

_ASKED_FOR_SIMPLIFIED = ("簡體", "簡化字")


def wants_taiwan(text: str) -> bool:
    """Whether who wrote this reads Chinese as it is written in Taiwan.

    Chinese without a character that only Simplified uses counts as that; other languages do not.
    """
    if not has_cjk(text) or is_japanese(text) or has_simplified(text):
        return False
    return not any(name in text for name in _ASKED_FOR_SIMPLIFIED)


class TaiwanSentences:
    """Converts a stream: text without Chinese passes at once, a Chinese sentence when it is whole."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """Take a piece; what can be shown by now."""
        *whole, self._held = _END.split(self._held + piece)
        if not has_cjk(self._held) or len(self._held) > _LONGEST_CHARS:
            whole, self._held = [*whole, self._held], ""
        return "".join(map(to_taiwan, whole))

    def finish(self) -> str:
        """It is over; what was still held back."""
        rest, self._held = self._held, ""
        return to_taiwan(rest)
