"""Whether what is derived agrees with what it is derived from, and making it so again.

Messages, facts and summaries are the truth. Keyword index, vectors, running sizes and marks are
derived from them: a repair drops and rebuilds those, and never touches a word that was said.
"""

from dataclasses import dataclass, replace

from memory.archive import hot_table, messages_table
from memory.database.database import Database, Reader, Unit
from memory.errors import StorageCorrupt
from memory.pools import entries_table
from memory.recall import vectors_table, words_table
from memory.summary import summaries_table

_FOREIGN_KEYS = "PRAGMA foreign_key_check"


@dataclass(frozen=True, slots=True, kw_only=True)
class Soundness:
    """What a check found, in numbers; everything below `waiting` is 0 or empty when all is well."""

    messages: int = 0
    vectors: int = 0
    waiting: int = 0
    """Messages that wait for a vector: no fault."""
    file: tuple[str, ...] = ()
    """What SQLite itself finds wrong with the file: no repair mends that, a backup does."""
    links: int = 0
    """Rows that belong to something that is not there."""
    keywords: int = 0
    """Messages that keyword search lacks, has too many, or knows by other words."""
    keyword_index: bool = False
    """Whether the index contradicts its own words."""
    meanings: int = 0
    """Vectors without their message, or that no index may hold."""
    sizes: int = 0
    """Sessions whose running size is wrong."""
    summaries: int = 0
    """Versions that cannot be read, and sessions that no summary run would come to."""
    pools: int = 0
    """Links between facts, or to messages, that lead into another session."""

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        counted = replace(self, messages=0, vectors=0, waiting=0)
        return counted == Soundness()


async def check(database: Database) -> Soundness:
    """Look at everything; reads every message and every vector.

    Raises:
        StoreError: the database cannot be read at all.
    """
    file = await database.check_integrity()
    # FTS5 checks itself only where it may write (sqlite.org/fts5.html, 6.5).
    async with database.unit() as unit:
        return replace(await _derived(unit), file=tuple(file))


async def repair(database: Database) -> Soundness:
    """Rebuild everything that is derived; what a check finds afterwards.

    Raises:
        StoreError: the database could not do it; nothing was changed.
    """
    async with database.unit() as unit:
        await words_table.rebuild(unit)
        wrong = {*await vectors_table.drift(unit), *await vectors_table.unusable(unit)}
        await vectors_table.drop(unit, sorted(wrong))
        await vectors_table.queue_missing(unit)
        await hot_table.recount(unit)
        await summaries_table.repair(unit)
        await entries_table.cut_foreign_links(unit)
    return await check(database)


async def _derived(unit: Unit) -> Soundness:
    try:
        torn, lacking = False, len(await words_table.drift(unit))
    except StorageCorrupt:
        torn, lacking = True, 0
    meanings = {*await vectors_table.drift(unit), *await vectors_table.unusable(unit)}
    return Soundness(
        messages=await messages_table.count_all(unit),
        vectors=await vectors_table.count(unit),
        waiting=await vectors_table.count_waiting(unit),
        links=await _dangling(unit),
        keywords=lacking + len(await words_table.stale(unit)),
        keyword_index=torn,
        meanings=len(meanings),
        sizes=await hot_table.drift(unit),
        summaries=len(await summaries_table.broken(unit))
        + await summaries_table.count_not_queued(unit),
        pools=await entries_table.count_foreign_links(unit),
    )


async def _dangling(reader: Reader) -> int:
    return len(await reader.rows(_FOREIGN_KEYS))
