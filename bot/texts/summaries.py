"""A conversation's summary as people read it: prose and lists, never its JSON."""

from datetime import tzinfo

from bot.texts.keys import Text
from bot.texts.language import Language
from bot.texts.tables import say
from memory.language.times import format_second
from memory.summary.run import Ended, SummaryRun
from memory.summary.value import Current, Summary
from memory.summary.view import SummaryView

_ENDED = {
    Ended.FAILED: Text.SUMMARY_FAILED,
    Ended.NO_MODEL: Text.SUMMARY_WITHOUT_MODEL,
    Ended.MOVED: Text.SUMMARY_MOVED,
}
"""Any other end: it is up to date."""


def format_summary(view: SummaryView, language: Language, zone: tzinfo | None) -> str:
    """A summary with the time that it reaches up to; a sentence when there is none."""
    if not view.summary:
        return say(Text.NO_SUMMARY, language)
    head = say(Text.SUMMARY_IS, language)
    if view.covered_until_ns is not None:
        head = say(Text.SUMMARY_UNTIL, language, time=format_second(view.covered_until_ns, zone))
    return "\n".join([head, *_sections(view.summary, language)])


def format_run(run: SummaryRun, language: Language) -> str:
    """How bringing it up to date went."""
    text = _ENDED.get(run.ended, Text.SUMMARY_UP_TO_DATE)
    return say(text, language, messages=run.messages + run.noise)


def _sections(summary: Summary, language: Language) -> list[str]:
    lines: list[str] = []
    if summary.key_decisions:
        head = say(Text.SUMMARY_DECISIONS, language)
        lines += ["", f"{head}:", *(f"- {text}" for text in summary.key_decisions)]
    if summary.past_discussions:
        lines += ["", f"{say(Text.SUMMARY_EARLIER, language)}:"]
        for topic in summary.past_discussions:
            when = f" ({topic.last_discussed})" if topic.last_discussed else ""
            rest = _joined(topic.description, topic.direction)
            lines.append(f"- {topic.topic}{when}{': ' if rest else ''}{rest}")
    current = summary.current_discussion
    if current != Current():
        rest = _joined(current.description, current.perspectives, current.direction)
        lines += ["", f"{say(Text.SUMMARY_NOW, language)}: {_joined(current.topic, rest)}"]
    return lines


def _joined(*parts: str) -> str:
    return " · ".join(part for part in dict.fromkeys(parts) if part)
