"""Text cut into the words that keyword search indexes, beside the queries that find them.

Both sides are cut here by the same rules, so a query can never ask for something that the index
spells otherwise. The index is SQLite's FTS5 with every visible character as a token character
(`FTS5_TOKENIZE`): all cutting is done here, FTS5 only splits at the spaces between segments.

- Chinese, Japanese and Korean runs become overlapping pairs, and the last character alone:
  綠茶好 is 綠茶, 茶好, 好. A pair finds words of two characters; a single character is found as
  the beginning of a pair. Simplified characters are folded to Traditional.
- Other words are folded (width, case, accents) and lightly stemmed as English.
- Each segment in the index carries a scope, the number of its session (`12:tea`): a query cannot
  find, and does not even read, what belongs to another.
- A word with `+` or `#` behind it is kept both ways (`c`, `c++`); emoji stand alone.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

import opencc

from memory.language.text import CJK_RANGES

FTS5_TOKENIZE = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* C*'"
"""The `tokenize` option of every FTS5 table that holds segments (sqlite.org/fts5.html, 4.3.1)."""

_PIECE = re.compile(
    rf"(?P<run>[{CJK_RANGES}]+)"
    rf"|(?P<word>(?:(?![{CJK_RANGES}])[^\W_])+(?:'(?:(?![{CJK_RANGES}])[^\W_])+)*)(?P<sign>[+#]+)?"
    r"|(?P<symbol>[^\w\s\x00-\x7f])"
)
_RUN = re.compile(f"[{CJK_RANGES}]")
_SYMBOL_CATEGORIES = frozenset({"So", "Sc", "Sm"})
_LONGEST_WORD_CHARS = 64
_VOWELS = frozenset("aeiouy")


def load() -> None:
    """Read the dictionary now. Blocking, up to 0.1 s: no reply should have to wait for it."""
    _to_traditional()


def segments(text: str) -> list[str]:
    """Every segment of a text in reading order, as the index holds them; may be empty."""
    found: list[str] = []
    for piece in _pieces(text):
        found += piece
        if _is_pair(piece[-1]):
            found.append(piece[-1][1])
    return found


def phrase(text: str) -> tuple[str, ...]:
    """The segments of a text that must stand together to find exactly it."""
    found = segments(text)
    return tuple(found[:-1] if len(found) > 1 and _is_pair(found[-2]) else found)


def terms(text: str) -> list[tuple[str, ...]]:
    """A typed query in words, each a phrase of one or more segments (`memory:safe` is two)."""
    found = (phrase(word) for word in text.split())
    return list(dict.fromkeys(term for term in found if term))


def keywords(text: str) -> list[str]:
    """What carries meaning in a question: no stop words, none twice.

    Pairs of CJK characters and the characters themselves: 茶葉 and 喝茶 share no pair.
    """
    words: list[str] = []
    for piece in _pieces(text):
        words += piece[-1:] if piece[0].isascii() else piece
    words += [char for word in words if _is_pair(word) for char in word]
    return [word for word in dict.fromkeys(words) if not _is_stop_word(word)]


def indexed(scope: int, text: str) -> str:
    """A text as the index holds it: segments that carry their scope, with spaces between."""
    return " ".join(f"{scope}:{word}" for word in segments(text))


def match_all(phrases: Iterable[tuple[str, ...]], *, scope: int) -> str:
    """An FTS5 query that only all of the phrases together answer, in any order; may be empty."""
    return " AND ".join(_quoted(words, scope) for words in phrases if words)


def _quoted(words: tuple[str, ...], scope: int) -> str:
    """One FTS5 string; a lone CJK character may be the beginning of a pair, so it is a prefix."""
    body = " ".join(f"{scope}:{word}" for word in words)
    alone = len(words[-1]) == 1 and _RUN.match(words[-1]) is not None
    return f'"{body}"*' if alone else f'"{body}"'


def _is_stop_word(word: str) -> bool:
    return word in _STOP_WORDS or (not word.isascii() and _STOP_CHARACTERS.issuperset(word))


def _is_pair(word: str) -> bool:
    return len(word) == 2 and _RUN.match(word) is not None  # noqa: PLR2004 - a pair is two


def _pieces(text: str) -> Iterator[list[str]]:
    """One list of segments for each run, word or symbol."""
    for found in _PIECE.finditer(_folded(text)):
        run, word, sign, symbol = found.group("run", "word", "sign", "symbol")
        if run:
            yield [run[at : at + 2] for at in range(len(run) - 1)] or [run]
        elif word:
            word = word[:_LONGEST_WORD_CHARS]
            yield [_stem(word), word + sign] if sign else [_stem(word)]
        elif unicodedata.category(symbol) in _SYMBOL_CATEGORIES:
            yield [symbol]


def _folded(text: str) -> str:
    """Compatibility forms, letter case, curly apostrophes and Simplified characters made equal."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return folded if folded.isascii() else _to_traditional().convert(folded)


@cache
def _to_traditional() -> opencc.OpenCC:
    return opencc.OpenCC("s2t")


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """A word without accents and without its English ending, the same for all its forms.

    Only the endings that make forms of one word (plural, -ing, -ed, -ly) go: stronger stemming
    finds a hundredth more and joins words that have nothing to do with each other.
    """
    word = word.removesuffix("'s").replace("'", "")
    if not word.isascii():
        word = _without_accents(word)
    if len(word) < 4 or not (word.isascii() and word.isalpha()):  # noqa: PLR2004 - shorter words have no ending to lose
        return word
    word = _without_verb_ending(_singular(word))
    if len(word) > 5 and word.endswith("ly"):  # noqa: PLR2004
        word = word[:-2]
    if len(word) > 3 and word[-1] == "e":  # noqa: PLR2004
        return word[:-1]
    if len(word) > 3 and word[-1] == "y" and word[-2] not in _VOWELS:  # noqa: PLR2004
        return word[:-1] + "i"
    return word


def _without_accents(word: str) -> str:
    bare = "".join(mark for mark in unicodedata.normalize("NFD", word) if ord(mark) not in _ACCENTS)
    return unicodedata.normalize("NFC", bare)


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_verb_ending(word: str) -> str:
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2 and not _VOWELS.isdisjoint(stem):  # noqa: PLR2004
            doubled = len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz"  # noqa: PLR2004
            return stem[:-1] if doubled else stem
    return word


_ACCENTS = range(0x300, 0x370)
# Words that questions are made of: on the asking side alone, so nothing said is ever lost to them.
_STOP_WORDS = frozenset(
    _stem(word)
    for word in (  # noqa: SIM905 - a list of words reads better than a column of strings
        "a all also am an and any are as at be been being both but by can could did didn't do does"
        " doesn't doing don't for from had has have having he her him his how i i'd i'll i'm i've if"
        " in into is isn't it its just me might must my no nor not of on or our shall she should so"
        " some such t than that the their them then there these they this those to too us very was"
        " wasn't we were what what's when where which who whom whose why will with won't would you"
        " your you're"
    ).split()
) | frozenset(("什麼", "甚麼", "是否", "曾經", "記得"))
_STOP_CHARACTERS = frozenset(
    "的了是在我你您他她它們和與也都就嗎呢吧啊呀哪什麼甚這那個有不過曾還得說給嘛啦喔哦はがのにでともへかをてるたですま"
)
