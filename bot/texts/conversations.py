"""How much is remembered of a conversation, or was deleted of it, in figures."""

from bot.texts.keys import Text
from bot.texts.language import Language
from bot.texts.tables import say, yes_or_no
from memory.keeping.resetting import ResetEffect, ResetReport, SessionFacts

_EFFECTS = {
    ResetEffect.CLEARED: Text.CLEARED,
    ResetEffect.KEPT: Text.KEPT,
    ResetEffect.ABSENT: Text.ABSENT,
}


def format_reset(report: ResetReport, language: Language) -> str:
    """What a reset did to each of the four memories."""
    effects = {
        Text.MEMORY_MESSAGES: report.messages,
        Text.MEMORY_SUMMARY: report.summary,
        Text.MEMORY_SHORT: report.short_pool,
        Text.MEMORY_LONG: report.long_pool,
    }
    lines = [say(Text.WAS_CLEARED, language, count=report.message_count)]
    for memory, effect in effects.items():
        lines.append(f"- {say(memory, language)}: {say(_EFFECTS[effect], language)}")
    return "\n".join(lines)


def format_conversation(facts: SessionFacts | None, language: Language) -> str:
    """How much is remembered of a conversation; None: nothing was ever stored for it."""
    if facts is None:
        return say(Text.NOTHING_REMEMBERED, language)
    summary = yes_or_no(facts.summarised, language)
    lines = [say(Text.REMEMBERED, language, count=facts.messages, summary=summary)]
    pools = facts.pools
    figures = {"short": facts.short_facts, "long": facts.long_facts, "waiting": pools.waiting}
    lines.append(say(Text.FACTS_STATUS, language, **figures))
    if pools.lost_turns:
        lines.append(say(Text.LOST_TURNS, language, count=pools.lost_turns))
    if pools.paused:
        lines.append(say(Text.NOTING_IS_PAUSED, language))
    return "\n".join(lines)
