"""The pass that makes one to three lasting facts of an owner's oldest short entries (seed 2, "refine").

One call filters, merges and summarises. What was read leaves the short pool in the transaction in
which the facts enter the long one, and not before. A batch is one owner's, so that no fact can pass
from one person to another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import structlog

from memory.database import sessions_table
from memory.database.database import Database, Unit
from memory.errors import ModelError
from memory.language.likeness import changes, first_like, shares_words
from memory.language.loose_json import objects, without_thinking
from memory.language.text import clip, one_line
from memory.pools import entries_table, queue_table
from memory.pools.cleaning import cleaned, in_language_of, is_none, rests_on
from memory.pools.entry import Entry, NewEntry, Owner, Pool, Source, SourceKind, Tag
from memory.ports import (
    ChatMessage,
    ChatModel,
    ChatRequest,
    ChatRole,
    JsonSchema,
    Priority,
)
from memory.prompt.wording import wording
from memory.settings import PoolSettings
from memory.values import SessionId

log = structlog.get_logger()

MOST_FACTS = 3
"""Of one batch (seed 2: one to three)."""
MOST_STRIKES = 3
"""Unusable answers in a row after which the oldest entry moves as it is, so that nothing jams."""
LEAST_IDLE_ENTRIES = 2
"""An idle or counted trigger needs this many entries: one alone has nothing to be merged with."""

_ENTRY_CHARS = 120
_ANSWER_TOKENS = 300
_SYSTEM = wording("memory.pools", "refine").template
_SCHEMA: JsonSchema = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_FACTS}},
    "required": ["facts"],
}


class Refined(StrEnum):
    """How the pass ended."""

    NOT_DUE = "not_due"
    STORED = "stored"
    DROPPED = "dropped"
    """Nothing of the batch was worth keeping: a clear none."""
    UNCLEAR = "unclear"
    """The answer could not be used; the batch waits for the next trigger."""
    MOVED_ON = "moved_on"
    """The oldest entry went to the long pool as it is."""
    OUTDATED = "outdated"
    """The session was reset, or an entry changed, meanwhile; nothing was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What a run works on."""

    session: SessionId
    epoch: int
    owner: Owner
    batch: tuple[Entry, ...]
    """Oldest first."""


class Refiner:
    """Refines one owner's batch at a time."""

    def __init__(self, *, database: Database, model: ChatModel, settings: PoolSettings) -> None:
        self._database = database
        self._model = model
        self._settings = settings

    async def run(self, session: SessionId, *, idle: bool = False) -> Refined:
        """Refine the batch that waits longest, if one is due.

        Args:
            session: whose pools.
            idle: nobody has written for the time set: fewer entries are enough.

        Raises:
            StoreError: the database could not do it; nothing changed.
        """
        work = await self._due(session, idle=idle)
        if work is None:
            return Refined.NOT_DUE
        try:
            answer = await self._model.complete(_request(work.batch))
        except ModelError as error:
            log.warning("refine.failed", session=session, error=type(error).__name__)
            return await self._settle(work, None)
        return await self._settle(work, answer.text)

    async def _due(self, session: SessionId, *, idle: bool) -> _Work | None:
        async with self._database.reading() as reader:
            standing = await sessions_table.find(reader, session)
            state = await queue_table.state(reader, session)
            if standing is None or state.paused:
                return None
            for owner, entries in await entries_table.short_counts(reader, session):
                upkeep = await queue_table.upkeep(reader, session, owner)
                if self._is_due(entries, upkeep.turns, idle=idle):
                    batch = await entries_table.batch(
                        reader, session, owner, limit=self._settings.refine_batch
                    )
                    return _Work(
                        session=session, epoch=standing.epoch, owner=owner, batch=tuple(batch)
                    )
        return None

    def _is_due(self, entries: int, turns: int, *, idle: bool) -> bool:
        if entries >= self._settings.refine_entries:
            return True
        counted = 0 < self._settings.refine_turns <= turns
        return (idle or counted) and entries >= LEAST_IDLE_ENTRIES

    async def _settle(self, work: _Work, answer: str | None) -> Refined:
        """Do what the answer says; None: there was none."""
        facts = None if answer is None else _facts(answer, work.batch)
        async with self._database.unit() as unit:
            standing = await sessions_table.find(unit, work.session)
            batch = await entries_table.batch(unit, work.session, work.owner, limit=len(work.batch))
            if (
                standing is None
                or standing.epoch != work.epoch
                or _said(batch) != _said(work.batch)
            ):
                return Refined.OUTDATED
            if facts is not None:
                return await _store(unit, work, facts)
            if answer is None or await _strike_out(unit, work):
                await _move_oldest(unit, work)
                return Refined.MOVED_ON
        return Refined.UNCLEAR


def _said(batch: Sequence[Entry]) -> list[tuple[int, str]]:
    return [(one.id, one.content) for one in batch]


async def _strike_out(unit: Unit, work: _Work) -> bool:
    await queue_table.strike(unit, work.session, work.owner)
    upkeep = await queue_table.upkeep(unit, work.session, work.owner)
    return upkeep.strikes >= MOST_STRIKES


async def _move_oldest(unit: Unit, work: _Work) -> None:
    await queue_table.refined(unit, work.session, work.owner)
    await entries_table.move_to_long(unit, work.batch[0].id)


async def _store(unit: Unit, work: _Work, facts: Sequence[str]) -> Refined:
    heirs: dict[int, int] = {}
    for fact in facts:
        origins = _origins(fact, work.batch)
        stored = await _keep(unit, work, fact, origins)
        heirs |= {one.id: stored for one in origins if one.id not in heirs}
    for old, heir in heirs.items():
        await entries_table.inherit(unit, old, heir=heir)
    await entries_table.remove(unit, [one.id for one in work.batch])
    await queue_table.refined(unit, work.session, work.owner)
    return Refined.STORED if facts else Refined.DROPPED


async def _keep(unit: Unit, work: _Work, fact: str, origins: Sequence[Entry]) -> int:
    """Put a fact into the long pool, or strengthen the one there that says it already; its id."""
    entries = await entries_table.every(unit, work.session)
    long = [
        one for one in entries if one.live and one.pool is Pool.LONG and one.owner == work.owner
    ]
    said_at_ns = max(one.said_at_ns for one in origins)
    sources = _sources(origins)
    twin = first_like(fact, [one.content for one in long])
    if twin is not None:
        await entries_table.renew(unit, long[twin].id, said_at_ns=said_at_ns, sources=sources)
        return long[twin].id
    newest = max(origins, key=lambda one: one.said_at_ns)
    entry = NewEntry(
        content=fact,
        pool=Pool.LONG,
        tag=Tag.REFINED,
        scope=newest.scope,
        speaker=newest.speaker,
        said_at_ns=said_at_ns,
        sources=sources,
    )
    stored = await entries_table.add(unit, work.session, entry)
    name = newest.speaker.name if newest.speaker else ""
    for old in long:
        if changes(fact, old.content, name=name):
            await entries_table.supersede(unit, old.id, by=stored)
    return stored


def _origins(fact: str, batch: Sequence[Entry]) -> list[Entry]:
    """The entries that a fact was made of, by their words; all of them where none stands out."""
    name = next((one.speaker.name for one in batch if one.speaker), "")
    return [one for one in batch if shares_words(fact, one.content, besides=name)] or list(batch)


def _sources(origins: Sequence[Entry]) -> tuple[Source, ...]:
    """What the origins rest on, and the origins themselves."""
    own = [Source(kind=SourceKind.ENTRY, id=str(one.id)) for one in origins]
    return tuple(dict.fromkeys([*(source for one in origins for source in one.sources), *own]))


def _request(batch: Sequence[Entry]) -> ChatRequest:
    lines = "\n".join(f"- {clip(one_line(one.content), _ENTRY_CHARS)}" for one in batch)
    return ChatRequest(
        messages=(
            ChatMessage(role=ChatRole.SYSTEM, text=_SYSTEM),
            ChatMessage(role=ChatRole.USER, text=lines),
        ),
        priority=Priority.BACKGROUND,
        schema=_SCHEMA,
        max_tokens=_ANSWER_TOKENS,
        temperature=0.0,
    )


def _facts(answer: str, batch: Sequence[Entry]) -> list[str] | None:
    """The sound facts of an answer; empty for a clear none, None where it cannot be used.

    A list of which nothing is sound cannot be used either, unless it says none itself.
    """
    listed = _listed(answer)
    if listed is None:
        return None
    written = [text for one in listed if isinstance(text := _text(one), str)]
    if all(is_none(one) for one in written) and len(written) == len(listed):
        return []
    said = "\n".join(one.content for one in batch)
    name = next((one.speaker.name for one in batch if one.speaker), "")
    found: list[str] = []
    for one in written:
        fact = cleaned(one, name=name)
        if (
            fact is not None
            and rests_on(fact, said, name=name)
            and in_language_of(fact, said, name=name)
            and first_like(fact, found) is None
        ):
            found.append(fact)
    return found[:MOST_FACTS] or None


def _text(listed: object) -> object:
    """Some models wrap each fact, whatever the schema says."""
    return listed.get("fact") if isinstance(listed, dict) else listed


def _listed(answer: str) -> list[object] | None:
    for one in reversed(objects(answer)):
        facts = one.get("facts")
        if isinstance(facts, list):
            return facts
        if isinstance(facts, str) and is_none(facts):
            return []
    return [] if is_none(without_thinking(answer)) else None
