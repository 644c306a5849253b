"""Chinese text brought to Taiwan Traditional; Japanese, English and Traditional text stay as they are."""

import re
from functools import cache

import opencc

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")

JAPANESE_SHARE = 0.15
"""Kana among kana and ideographs from which on a text is Japanese. Running Japanese has about a
half; a Chinese sentence that quotes a Japanese name stays below."""


def is_japanese(text: str) -> bool:
    """Whether a text with ideographs is Japanese rather than Chinese."""
    kana = len(_KANA.findall(text))
    return kana > 0 and kana / (kana + len(_HAN.findall(text))) >= JAPANESE_SHARE


def has_simplified(text: str) -> bool:
    """Whether an ideograph stands in it that only Simplified Chinese uses.

    Those are in GB 2312, which mainland China encodes, and not in Big5, which Taiwan does. Ones
    that both have (后, 里, 台) are no sign.
    """
    return any(_only_simplified(char) for char in set(_HAN.findall(text)))


def to_taiwan(text: str) -> str:
    """The same text in Taiwan Traditional, wording included, if it is Simplified Chinese.

    Traditional text is not converted once more: that would turn 程序 (procedure) into 程式.
    """
    if is_japanese(text) or not has_simplified(text):
        return text
    return str(_converter().convert(text))


def load() -> None:
    """Read the dictionaries now. Blocking, up to 0.2 s: no reply should have to wait for it."""
    _converter()


@cache
def _converter() -> opencc.OpenCC:
    """OpenCC's `s2twp`: Simplified to Traditional of Taiwan with its phrases."""
    return opencc.OpenCC("s2twp")


@cache
def _only_simplified(char: str) -> bool:
    return _encodes(char, "gb2312") and not _encodes(char, "big5")


def _encodes(char: str, encoding: str) -> bool:
    try:
        char.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
