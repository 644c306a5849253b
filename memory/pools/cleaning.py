"""What a model wrote as a fact, made into a sound entry or into nothing."""

import re

from memory.language.likeness import shares_words
from memory.language.segments import segments
from memory.language.taiwan import is_japanese, to_taiwan
from memory.language.text import clip, has_cjk, one_line, scrub
from memory.pools.entry import CONTENT_CHARS

LEAST_CHARS = 5
"""Shorter facts say nothing (seed 2)."""
LEAST_CJK_CHARS = 3
"""A Chinese or Japanese sentence can be that short: 他吃素."""

_BULLET = re.compile(r"^(?:[-*•‧·・]|\(?\d{1,2}[.)、:：](?!\d)|[（(]\d{1,2}[)）])\s*")
_QUOTES = "「」『』“”\"'` "
_USER = re.compile(
    r"\b(?:the|this) (?:user|person|speaker)\b|^user\b|使用者|用戶|該用户|用户|ユーザー",
    re.IGNORECASE,
)
_I = re.compile(r"^(?:我|私は|僕は|俺は)(?!們)")
_WROTE = re.compile(
    r"^(?:\S+ )?(?:wrote|writes|said|says)\s*[:：,]\s*|^\S{0,20}(?:寫道|說)[:：]\s*"
)
_MY = re.compile(r"^my ", re.IGNORECASE)
_FILLER = re.compile(
    r"(?:no(?:ne|thing)?(?: \w+){0,4}|n/?a|null|empty|unknown|not (?:applicable|mentioned|available)"
    r"|there (?:is|are) (?:no|nothing).*|.{0,20}(?:said|says) (?:hello|hi|thanks|thank you)"
    r"|無|沒有|没有|無事實|無內容|無相關.{0,6}|沒有(?:任何|值得).{0,8}|なし|特になし|fact|facts|string|text|\.{2,}|…+)[.。!！]?",
    re.IGNORECASE,
)
_NONE = re.compile(r"(?:無|沒有|没有|none|nothing|なし|n/a)", re.IGNORECASE)
_AROUND = " \t\r\n.。!！「」『』\"'`[]"


def is_none(answer: str) -> bool:
    """Whether a model said in plain words that there is nothing: 無, 「無。」, none."""
    return _NONE.fullmatch(answer.strip(_AROUND)) is not None


def cleaned(written: str, *, name: str = "") -> str | None:
    """A fact as it may be stored, at most 120 characters; None for what says nothing.

    Bullets, numbers and quotation marks round it go. `name` is put where the model wrote of "the
    user". Chinese becomes Traditional Chinese of Taiwan.
    """
    text = one_line(scrub(written))
    text = _BULLET.sub("", text).strip(_QUOTES).rstrip(",，、;；: ")
    if name:
        text = _WROTE.sub("", text.removeprefix(name).lstrip()) if _WROTE.search(text) else text
        text = _MY.sub(lambda _found: f"{name}'s ", text)
        text = _I.sub(lambda _found: name, _USER.sub(lambda _found: name, text))
    if not _says_something(text):
        return None
    return clip(to_taiwan(text), CONTENT_CHARS)


def _says_something(text: str) -> bool:
    least = LEAST_CJK_CHARS if has_cjk(text) else LEAST_CHARS
    if _FILLER.fullmatch(text) or "\ufffd" in text or text.startswith(("{", "[", "<")):
        return False
    return sum(char.isalnum() for char in text) >= least and len(segments(text)) > 1


def rests_on(fact: str, text: str, *, name: str = "") -> bool:
    """Whether a fact has anything to do with a text: what shares no word with it was made up."""
    return shares_words(fact, text, besides=name)


def in_language_of(fact: str, text: str, *, name: str = "") -> bool:
    """Whether a fact is in the language of a text, as far as scripts show.

    A text without any script (a number, an emoji) allows every language.
    """
    if not segments(text):
        return True
    fact_text, message_text = fact.replace(name, " ") if name else fact, text.replace(name, " ")
    if has_cjk(message_text):
        return has_cjk(fact_text) and (is_japanese(message_text) or not is_japanese(fact_text))
    return not has_cjk(fact_text)
