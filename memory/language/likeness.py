"""Whether two facts say the same, and whether one changes the other; pure, for Chinese and English.

It judges by words alone. It must rather miss a change than invent one: two facts that stand side by
side do little harm, a fact that was wrongly put away is not used any more.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from memory.language.segments import keywords, segments
from memory.language.text import has_cjk

_PARTICLES = re.compile("[了的吧呢啊呀囉喔嘛很]|已經")
_NUMBER = re.compile(r"\d+(?:[.:/]\d+)*")
_NOT = re.compile(
    r"\b(?:not|no longer|never|don't|doesn't|isn't|won't|can't|stopped|quit)\b|不|沒|別|無法|ない|やめ",
    re.IGNORECASE,
)
_SAME_SHARE = 0.8

CHANGE = re.compile(
    r"\b(?:now|no longer|any ?more|instead|changed?|switch(?:ed)?|moved?|became|these days"
    r"|from now on|actually|new|renamed|rescheduled|postponed|stopped|quit)\b"
    r"|改|換|現在|不再|搬|變|其實|新的|從此|以後|延到|延後|提前|戒|今は|変|やめ|引っ越",
    re.IGNORECASE,
)
"""Words by which a fact itself says that it changes something."""

# What a person has one of at a time. A fact is about such a thing when one of its words is there.
_SINGLE: dict[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "home": r"\b(?:lives?|living|moved? (?:back |over )?(?:to|into|from)|resides?|home(?:town)?|address)\b|住|搬|居住|地址|引っ越",
        "job": r"\b(?:works? (?:at|for|as|in)|job|employer|employed|occupation|profession)\b"
        r"|工作|上班|任職|職業|働|勤め",
        "name": r"\b(?:called|named?|nickname)\b|名字|叫做|叫|名叫|綽號|改名|名前",
        "age": r"\b(?:years? old|aged?)\b|歲|年齡|歳",
        "number": r"\b(?:phone|number|e-?mail|password|code|size|weight|height)\b"
        r"|電話|號碼|信箱|密碼|尺寸|體重|身高",
        "partner": r"\b(?:single|married|engaged|divorced|girlfriend|boyfriend|partner)\b"
        r"|單身|結婚|訂婚|離婚|女友|男友|女朋友|男朋友",
        "favourite": r"\b(?:favou?rite|prefers?|best)\b|最喜歡|最愛|偏好|一番好き",
        "time": r"\b(?:meeting|appointment|flight|deadline|exam|interview|birthday|departs?|leaves?"
        r"|starts?|begins?|wakes?|bedtime)\b"
        r"|會議|開會|約|航班|班機|截止|考試|面試|生日|出發|開始|起床|睡覺",
        "state": r"\b(?:learning|studying|reading|playing|drives?|uses?|drinks?|diet|vegetarian|vegan)\b"
        r"|(?<=[在改])[學練讀]|正在|學習|開的車|使用|每天喝|吃素|素食",
    }.items()
}
_LIKES = re.compile(r"\b(?:likes?|loves?|enjoys?|hates?)\b|喜歡|愛|討厭|好き", re.IGNORECASE)
_SAME_WORD = frozenset({"number", "time", "state"})
"""Attributes that are several: a phone number is no password, so the word itself must agree."""
_PLACE = re.compile("[在到去於]")
"""Chinese names the place before the verb (在台北工作): it is the value, not the subject."""
_OF_WHAT = re.compile(r"favou?rite ([a-z]+)|最(?:喜歡|愛)的?(.{1,4}?)(?:是|為|叫)", re.IGNORECASE)
_WITH_WHOM = re.compile(
    r"\bwith (?:the |her |his )?(\w+)|[跟和與](.{1,4}?)(?:的|在|開|約|吃)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Words:
    """What a fact is made of."""

    all: frozenset[str]
    numbers: tuple[str, ...]
    negated: bool


@lru_cache(maxsize=8_192)
def _words(text: str) -> _Words:
    plain = _PARTICLES.sub("", text) if has_cjk(text) else text
    found = keywords(plain) or segments(plain)
    return _Words(frozenset(found), tuple(_NUMBER.findall(text)), _NOT.search(text) is not None)


def same(one: str, other: str) -> bool:
    """Whether two facts say the same: one adds no word to the other that could matter."""
    a, b = _words(one), _words(other)
    if a.numbers != b.numbers or a.negated != b.negated:
        return False
    smaller, larger = sorted((len(a.all), len(b.all)))
    return len(a.all & b.all) == smaller and smaller >= larger * _SAME_SHARE


def shares_words(fact: str, text: str, *, besides: str = "") -> bool:
    """Whether a fact has a word in common with a text, names in `besides` not counted."""
    ignored = set(segments(besides))
    return bool((_words(fact).all & set(segments(text))) - ignored)


def touches(fact: str, text: str, *, besides: str = "") -> bool:
    """Whether a text may be about what a fact says: a word in common, or a character that means one."""
    if shares_words(fact, text, besides=besides):
        return True
    return bool((characters(fact) & characters(text)) - characters(besides))


@lru_cache(maxsize=8_192)
def characters(text: str) -> frozenset[str]:
    """The Chinese and Japanese characters of a text that carry meaning: many are words."""
    return frozenset(word for char in set(text) if has_cjk(char) for word in keywords(char))


def changes(new: str, old: str, *, name: str = "") -> bool:
    """Whether a new fact of the same person, `name`, takes the place of an old one."""
    if same(new, old):
        return False
    new, old = _without(name, new), _without(name, old)
    said = CHANGE.search(new) is not None
    if (attribute := _attribute(new, old)) is not None:
        return _same_subject(new, old, attribute, said_change=said)
    before = _words(old).all
    negated = _words(new).negated != _words(old).negated
    # "no longer likes tea": the value itself is what both are about.
    return said and negated and len(_words(new).all & before) * 2 >= len(before) > 0


def about_others(new: str, old: str, *, name: str = "") -> bool:
    """Whether two facts are about the same kind of thing of different people or things.

    A sister's home is not one's own: small models take the one for a change of the other.
    """
    new, old = _without(name, new), _without(name, old)
    attribute = _attribute(new, old)
    if attribute is None:
        return False
    here, there = _SINGLE[attribute].search(new), _SINGLE[attribute].search(old)
    if here is None or there is None:
        return False
    return _subject(new[: here.start()]) != _subject(old[: there.start()])


def _without(name: str, text: str) -> str:
    return text.replace(name, " ").replace(" 's ", " ").strip() if name else text


def _attribute(new: str, old: str) -> str | None:
    """What both facts are about, if it is something that one has one of."""
    if _LIKES.search(new) and not _SINGLE["favourite"].search(new):
        return None
    return next((key for key, one in _SINGLE.items() if one.search(new) and one.search(old)), None)


def _same_subject(new: str, old: str, attribute: str, *, said_change: bool) -> bool:
    """Whether both mean the same one: a cat's name is not a dog's, nor a brother's home one's own."""
    pattern = _SINGLE[attribute]
    here, there = pattern.search(new), pattern.search(old)
    if here is None or there is None or (attribute == "state" and not said_change):
        return False
    if attribute in _SAME_WORD and not _words(here[0]).all & _words(there[0]).all:
        return False
    if _subject(new[: here.start()]) != _subject(old[: there.start()]):
        return False
    return all(_agree(one, new, old) for one in (_OF_WHAT, _WITH_WHOM))


def _subject(text: str) -> frozenset[str]:
    """Who or what a fact is about, from the words before its attribute."""
    plain = _PLACE.split(_NUMBER.sub(" ", CHANGE.sub(" ", text)), maxsplit=1)[0]
    return frozenset(keywords(_PARTICLES.sub(" ", plain)))


def _agree(pattern: re.Pattern[str], new: str, old: str) -> bool:
    """Whether what the pattern takes out of both is the same, where both have it."""
    here, there = pattern.search(new), pattern.search(old)
    return here is None or there is None or _words(here[0]).all == _words(there[0]).all


def first_like(text: str, others: Iterable[str]) -> int | None:
    """Index of the first of several facts that says the same as a text."""
    return next((index for index, other in enumerate(others) if same(text, other)), None)
