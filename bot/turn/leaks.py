"""Finds where a model begins to print the memory that it was given, instead of answering from it."""

from enum import Enum, auto

_SIGNS = (
    '{"key_decisions"',
    '{"past_discussions"',
    '{"current_discussion"',
    "[summary]",
    "##priorsummary",
    "#notesforthisturn",
)
"""How such a print begins, without white space: a prompt's headings, a summary's JSON."""

STARTS = "{[#"
"""Characters that one of them begins with."""


class Leak(Enum):
    """What the start of a text may be."""

    NO = auto()
    MAYBE = auto()
    """More has to come before it is known."""
    YES = auto()


def leak(text: str) -> Leak:
    """Whether a text begins with printed memory."""
    if not text or text[0] not in STARTS:
        return Leak.NO
    squeezed = "".join(text.split()).casefold()
    if squeezed.startswith(_SIGNS):
        return Leak.YES
    return Leak.MAYBE if any(sign.startswith(squeezed) for sign in _SIGNS) else Leak.NO
