"""Pure text work: scrubbing, clipping, counting. Chinese, Japanese and English are equals here."""

import re

import regex

CJK_RANGES = (
    "\u2e80-\u2fdf"  # radicals
    "\u3005\u3007"  # 々 〇
    "\u3040-\u30ff"  # kana
    "\u3100-\u312f\u31a0-\u31bf"  # bopomofo
    "\u31f0-\u31ff"  # small katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # ideographs
    "\uac00-\ud7af\u1100-\u11ff"  # hangul
    "\uff66-\uff9f"  # half-width katakana
    "\U00020000-\U0003ffff"  # ideographs of the higher planes
)
"""Scripts written without spaces between words, as a character class body."""

_CJK = re.compile(f"[{CJK_RANGES}]")
_UNWANTED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SPACE = re.compile(r"\s+")
_BOUNDARY = regex.compile(r"\X*(?=\X)")
"""Visible characters as UAX #29 has them (extended grapheme clusters), but for the last."""

# Tokens a character, measured with byte-pair vocabularies of current small models; the estimate
# is corrected by what the model itself reports, so it only has to be near.
_CJK_TOKENS = 0.75
_LATIN_TOKENS = 0.28
_OTHER_TOKENS = 1.0


def scrub(text: str) -> str:
    r"""The same text without what no store or platform can hold: lone surrogates, control bytes.

    Line breaks become `\n`; letters stay as they were written (no normalisation).
    """
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _UNWANTED.sub("", whole.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str) -> str:
    """Every run of white space as one space, none at the ends."""
    return _SPACE.sub(" ", text).strip()


def clip(text: str, limit_chars: int) -> str:
    """At most `limit_chars` characters, the last one an ellipsis where something was cut.

    A combining mark or a joined emoji is never separated from what it belongs to.
    """
    if len(text) <= limit_chars:
        return text
    end = visible_boundary(text, max(limit_chars - 1, 0))
    return text[:end] + "…"


def visible_boundary(text: str, at: int) -> int:
    """The last boundary between two visible characters at or before `at`, a position inside."""
    found = _BOUNDARY.match(text, endpos=at + 1)
    return found.end() if found else 0


def estimate_tokens(text: str) -> int:
    """About how many tokens a model makes of a text, by script; at least 1 for any text."""
    ascii_chars = len(text.encode("ascii", "ignore"))
    cjk = len(_CJK.findall(text)) if ascii_chars < len(text) else 0
    other = len(text) - cjk - ascii_chars
    return int(cjk * _CJK_TOKENS + ascii_chars * _LATIN_TOKENS + other * _OTHER_TOKENS) + 1


def has_cjk(text: str) -> bool:
    """Whether any Chinese, Japanese or Korean character stands in it."""
    return _CJK.search(text) is not None
