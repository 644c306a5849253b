"""How figures about conversations and the service are told in a chat."""

from bot.service.service_status import ServiceStatus
from bot.texts.memory_words import MemoryWord, tell
from bot.texts.words import Language, Word, say
from memory.keeping.resetting import Fate, ResetReport, SessionFacts

_MEMORIES = (
    (Word.MEMORY_MESSAGES, "messages"),
    (Word.MEMORY_SUMMARY, "summary"),
    (Word.MEMORY_SHORT, "short_pool"),
    (Word.MEMORY_LONG, "long_pool"),
)
_FATES = {Fate.CLEARED: Word.CLEARED, Fate.KEPT: Word.KEPT, Fate.ABSENT: Word.ABSENT}


def fates_told(report: ResetReport, language: Language) -> str:
    """What a reset did to each of the four memories."""
    lines = [say(Word.WAS_CLEARED, language, count=report.message_count)]
    for memory, name in _MEMORIES:
        fate = say(_FATES[getattr(report, name)], language)
        lines.append(f"- {say(memory, language)}: {fate}")
    return "\n".join(lines)


def session_told(facts: SessionFacts | None, language: Language) -> str:
    """How much is remembered of a conversation."""
    if facts is None:
        return say(Word.NOTHING_REMEMBERED, language)
    summary = say(Word.YES if facts.summarised else Word.NO, language)
    lines = [say(Word.REMEMBERED, language, count=facts.messages, summary=summary)]
    pools = facts.pools
    figures = {"short": facts.short_facts, "long": facts.long_facts, "waiting": pools.waiting}
    lines.append(tell(MemoryWord.FACTS_STATUS, language, **figures))
    if pools.lost_turns:
        lines.append(tell(MemoryWord.LOST_TURNS, language, count=pools.lost_turns))
    if pools.paused:
        lines.append(tell(MemoryWord.IS_PAUSED, language))
    return "\n".join(lines)


def service_told(status: ServiceStatus, language: Language) -> str:
    """How the service stands, for an administrator."""
    lines = [
        f"- {one.platform.value}: {one.standing.value}" + (f" ({one.error})" if one.error else "")
        for one in status.adapters
    ]
    told = say(
        Word.SERVICE_IS,
        language,
        lanes=status.lanes,
        inbox=status.inbox_open,
        outbox=status.outbox_open,
    )
    if status.embed_model and status.waiting_vectors:
        lines.append(say(Word.VECTORS_WAIT, language, count=status.waiting_vectors))
    return "\n".join([*lines, told])
