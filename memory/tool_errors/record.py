"""An error record: a tool's failure, its cause, and what was done about it; the tool's side only."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from memory.language.text import clip, one_line, scrub

LIFETIME_NS = 7_776_000 * 1_000_000_000
"""90 days (seed 1), renewed each time that a record is found above the threshold."""
FIELD_CHARS = 600
KEYWORDS_MOST = 12
KEYWORD_CHARS = 64
CLASS_PREFIX = "error_type:"
"""The keyword by which a record's class is found (seed 1's form)."""


class ErrorClass(StrEnum):
    """What kind of failure a text is about."""

    TOOL_NOT_EXIST = "tool_not_exist"
    REQUIRED_PARAM = "required_param"
    INVALID_PARAM = "invalid_param"
    TIMEOUT = "timeout"
    PERMISSION = "permission"
    NO_RESULT = "no_result"
    OTHER = "other"
    UNKNOWN = "unknown"
    """Nothing was said."""


class ActionOutcome(StrEnum):
    """What came of what was done about it."""

    RESOLVED = "resolved"
    FAILED = "failed"
    ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewErrorRecord:
    """A record that has no id yet."""

    tool: str
    keywords: tuple[str, ...]
    symptom: str
    action: str
    outcome: ActionOutcome
    cause: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRecord:
    """A record as it is kept."""

    id: str
    """64 hex digits; a short unique beginning names it as well."""
    tool: str
    error_class: ErrorClass
    keywords: tuple[str, ...]
    """Lower case, none twice; the last one is the class."""
    symptom: str
    cause: str | None
    action: str
    outcome: ActionOutcome
    written_at_ns: int
    expires_at_ns: int

    @property
    def meaning(self) -> str:
        """What its vector is made of."""
        return f"{self.symptom}\n{self.cause}" if self.cause else self.symptom

    @property
    def searched(self) -> str:
        """What keyword search looks through."""
        own = (word for word in self.keywords if not word.startswith(CLASS_PREFIX))
        return "\n".join([self.tool, self.symptom, self.cause or "", *own])


# First match wins; the words are those of common error texts, in English and Chinese.
_NO_TOOL = (
    r"no (?:such )?tool|unknown tool|tool .{0,40}(?:not (?:exist|found)|does not exist)"
    r"|(?:沒有|找不到|不存在).{0,6}工具|工具.{0,6}不存在"
)
_CLASSES: tuple[tuple[ErrorClass, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (ErrorClass.TOOL_NOT_EXIST, _NO_TOOL),
        (ErrorClass.REQUIRED_PARAM, r"required|missing|缺少|必填|未提供"),
        (ErrorClass.INVALID_PARAM, r"invalid|malformed|not (?:a )?valid|無效|不合法|格式"),
        (ErrorClass.TIMEOUT, r"time(?:d)?[ -]?out|deadline|逾時|超時"),
        (
            ErrorClass.PERMISSION,
            r"permission|denied|forbidden|unauthori[sz]ed|\b40[13]\b|權限|拒絕存取|未授權",
        ),
        (
            ErrorClass.NO_RESULT,
            r"no (?:data|results?|match(?:es)?)|not found|nothing|\b404\b|empty|沒有(?:結果|資料)|找不到|查無",
        ),
    )
)


def classify(text: str) -> ErrorClass:
    """The class of an error text."""
    if not text.strip():
        return ErrorClass.UNKNOWN
    return next((kind for kind, words in _CLASSES if words.search(text)), ErrorClass.OTHER)


def finished(new: NewErrorRecord, *, id_: str, now_ns: int) -> ErrorRecord:
    """The record with everything that is derived: class, tidy keywords, its end."""
    kind = classify(new.symptom)
    return ErrorRecord(
        id=id_,
        tool=tidy(new.tool, KEYWORD_CHARS),
        error_class=kind,
        keywords=(*tidy_keywords(new.keywords), f"{CLASS_PREFIX}{kind}"),
        symptom=tidy(new.symptom, FIELD_CHARS),
        cause=tidy(new.cause, FIELD_CHARS) if new.cause else None,
        action=tidy(new.action, FIELD_CHARS),
        outcome=new.outcome,
        written_at_ns=now_ns,
        expires_at_ns=now_ns + LIFETIME_NS,
    )


def tidy(text: str, limit_chars: int) -> str:
    """One line of bounded length."""
    return clip(one_line(scrub(text)), limit_chars)


def tidy_keywords(words: Iterable[str]) -> tuple[str, ...]:
    """Lower case, trimmed, none empty, none twice, none that poses as a class."""
    tidied = (tidy(word, KEYWORD_CHARS).lower() for word in words)
    kept = dict.fromkeys(w for w in tidied if w and not w.startswith(CLASS_PREFIX))
    return tuple(kept)[:KEYWORDS_MOST]
