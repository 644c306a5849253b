"""Found messages as people read them: in order of time, hits marked, stretches kept apart."""

from datetime import tzinfo

from bot.texts.keys import Text
from bot.texts.language import Language
from bot.texts.tables import say
from memory.language.text import clip, one_line
from memory.language.times import format_minute
from memory.recall.lookup import Excerpts
from memory.values import Message

LONGEST_CHARS = 300
"""Of one message."""


def format_excerpts(found: Excerpts, language: Language, zone: tzinfo | None) -> str:
    """What was found, for people; a sentence when nothing was."""
    if not found.excerpts:
        return say(Text.NOTHING_FOUND, language)
    stretches = [
        "\n".join(_line(message, zone, hit=message.seq in found.hits) for message in stretch)
        for stretch in found.excerpts
    ]
    if found.keyword_only:
        stretches.append(say(Text.KEYWORD_ONLY, language))
    return "\n\n".join(stretches)


def _line(message: Message, zone: tzinfo | None, *, hit: bool) -> str:
    at = format_minute(message.sent_at_ns, zone)
    name = one_line(message.speaker.name) if message.speaker else "Kith"
    mark = "> " if hit else "  "
    return f"{mark}{at} {name}: {clip(one_line(message.text), LONGEST_CHARS)}"
