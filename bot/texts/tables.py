"""A text of Kith's own, taken from the table of its language."""

from bot.texts.chinese import CHINESE
from bot.texts.english import ENGLISH
from bot.texts.keys import Text
from bot.texts.language import Language

TABLES = {Language.ENGLISH: ENGLISH, Language.CHINESE: CHINESE}


def say(text: Text, language: Language, /, **blanks: object) -> str:
    """The text in a language, with its blanks filled."""
    return TABLES[language][text].format(**blanks)


def yes_or_no(yes: bool, language: Language) -> str:
    """The one word or the other, in a language."""
    return say(Text.YES if yes else Text.NO, language)


def describe(text: Text) -> dict[str, str]:
    """The text in every language, by its tag, as a platform's own interface wants it."""
    return {language.value: table[text] for language, table in TABLES.items()}
