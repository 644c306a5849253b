"""Facts of the pools as the person reads them whom they are about."""

from collections.abc import Sequence
from datetime import tzinfo

from bot.texts.keys import Text
from bot.texts.language import Language
from bot.texts.tables import say
from memory.language.times import format_minute
from memory.pools.entry import Entry, Pool
from memory.pools.service import EntryView

MOST_LISTED = 40
"""Facts in one list: it stays one message."""


def format_fact(entry: Entry, language: Language) -> str:
    """Its number, pool and content, on one line."""
    pool = Text.FACT_LONG if entry.pool is Pool.LONG else Text.FACT_SHORT
    return f"{entry.id}  [{say(pool, language)}] {entry.content}"


def format_facts(entries: Sequence[Entry], language: Language) -> str:
    """How many there are, then a line each for the first ones; a sentence when there is none."""
    if not entries:
        return say(Text.NO_FACTS, language)
    lines = [format_fact(one, language) for one in entries[:MOST_LISTED]]
    return "\n".join([say(Text.FACTS_ARE, language, count=len(entries)), *lines])


def format_origin(view: EntryView, language: Language, zone: tzinfo | None) -> str:
    """A fact with who said it when, what it came from, what it replaced."""
    entry = view.entry
    lines = [format_fact(entry, language)]
    if entry.speaker:
        day = format_minute(entry.said_at_ns, zone)
        lines.append(say(Text.FACT_SAID_BY, language, name=entry.speaker.name, day=day))
    if entry.sources:
        sources = ", ".join(f"{one.kind.value} {one.id}" for one in entry.sources)
        lines.append(say(Text.FACT_FROM, language, sources=sources))
    for old in view.before:
        day = format_minute(old.said_at_ns, zone)
        lines.append(say(Text.FACT_BEFORE, language, text=old.content, day=day))
    return "\n".join(lines)
