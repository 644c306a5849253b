"""A summary as numbered entries, for a model to point at, and what is left of it after that."""

import re
from collections.abc import Collection
from dataclasses import replace

from memory.summary.value import Current, Summary, Topic

_GENERAL = re.compile(
    r"\b(?:languages?|format|markdown|tone|style|brief|concise|emojis?|tables?|bullets?|units?"
    r"|answer in|reply in|write in|english|chinese|japanese|step by step|always|never)\b"
    r"|語言|语言|格式|語氣|语气|口吻|簡短|简短|簡潔|简洁|表格|條列|条列|表情符號|表情符号|單位|单位"
    r"|繁體|繁体|簡體|中文|英文|日文|一律|總是|总是|永遠|永远|先問|先问|步驟|步骤|流程"
    r"|言語|日本語|英語|敬語|口調|簡潔に|箇条書き|絵文字|必ず|常に|手順",
    re.IGNORECASE,
)


def decisions_and_topics(summary: Summary) -> dict[int, str]:
    """The entries that a later talk may overturn, by number from 1: decisions, then topics."""
    texts = [*summary.key_decisions, *map(_topic_text, summary.past_discussions)]
    return dict(enumerate(texts, 1))


def all_entries(summary: Summary) -> dict[int, str]:
    """The same with what is being talked about as the last one."""
    entries = decisions_and_topics(summary)
    current = summary.current_discussion
    if current != Current():
        parts = (current.topic, current.description, current.perspectives, current.direction)
        entries[len(entries) + 1] = "Now: " + " ".join(filter(None, parts))
    return entries


def general_rules(summary: Summary) -> frozenset[int]:
    """Numbers of the decisions that bear on every answer: language, format, way of working.

    The decision model is asked for them too; the words found here are only those that a rule of
    the kind can hardly do without, so that a rule does not hang on a small model's mood.
    """
    decisions = enumerate(summary.key_decisions, 1)
    return frozenset(number for number, text in decisions if _GENERAL.search(text))


def only(summary: Summary, numbers: Collection[int]) -> Summary:
    """The summary with these entries alone, numbered as in `all_entries`."""
    count = len(summary.key_decisions)
    total = count + len(summary.past_discussions)
    return Summary(
        key_decisions=tuple(
            text for number, text in enumerate(summary.key_decisions, 1) if number in numbers
        ),
        past_discussions=tuple(
            topic
            for number, topic in enumerate(summary.past_discussions, count + 1)
            if number in numbers
        ),
        current_discussion=summary.current_discussion if total + 1 in numbers else Current(),
    )


def without(summary: Summary, numbers: Collection[int]) -> Summary:
    """The summary without these decisions and topics; what is being talked about stays."""
    kept = decisions_and_topics(summary).keys() - set(numbers)
    return replace(only(summary, kept), current_discussion=summary.current_discussion)


def _topic_text(topic: Topic) -> str:
    parts = (f"{topic.topic}:", topic.description, topic.direction)
    return " ".join(filter(None, parts))
