"""The languages of Kith's own texts, one of which is chosen for each person."""

from enum import StrEnum

from memory.language.text import has_cjk


class Language(StrEnum):
    """A language that has a table of texts, by its tag."""

    ENGLISH = "en"
    CHINESE = "zh-TW"


def language_of(text: str, hint: str | None = None) -> Language:
    """The language to answer in: that of the text, else of the person's client."""
    if has_cjk(text) or (not text.strip(" /") and (hint or "").lower().startswith("zh")):
        return Language.CHINESE
    return Language.ENGLISH
