"""Messages that people edited or deleted on their platform: what is kept of them follows.

All of one correction is one transaction: the text, and by triggers its keyword index and its
vector; facts that rest on the message alone; every summary that covers it, which is made anew.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from memory.archive import messages_table
from memory.database.database import Database, Unit
from memory.language.text import scrub
from memory.modes.interface import MemoryMode
from memory.pools import entries_table, queue_table
from memory.pools.entry import Source, SourceKind
from memory.summary import summaries_table
from memory.values import Message, SessionId


class Corrector:
    """Edits and deletions, by the platform's own message ids."""

    def __init__(self, *, database: Database, modes: Sequence[MemoryMode] = ()) -> None:
        self._database = database
        self._modes = modes

    async def edited(self, session: SessionId, platform_id: str, text: str) -> bool:
        """Let a message say something else from now on; whether it was kept at all.

        What it said before is nowhere afterwards. An edit that leaves no words is a deletion.

        Raises:
            StoreError: nothing was changed.
        """
        words = scrub(text)
        if not words.strip():
            return await self.deleted(session, [platform_id]) > 0
        async with self._database.unit() as unit:
            found = await messages_table.by_platform_ids(unit, session, [platform_id])
            changed = [message for message in found if message.text != words]
            for message in changed:
                await messages_table.reword(unit, message.seq, words)
                dropped = await _forget_traces(unit, message)
                await queue_table.begin_anew(unit, session, seq=message.seq, again=dropped > 0)
            # Mode `pools` keeps no words to change: the turn goes, and what it was distilled to.
            held = await self._forget_unarchived(unit, session, [platform_id])
        return bool(found or held)

    async def deleted(self, session: SessionId, platform_ids: Sequence[str]) -> int:
        """Forget messages; how many were kept.

        Raises:
            StoreError: nothing was forgotten.
        """
        async with self._database.unit() as unit:
            found = await messages_table.by_platform_ids(unit, session, platform_ids)
            for message in found:
                await _forget_traces(unit, message)
                await messages_table.delete(unit, message.seq)
            await self._forget_unarchived(unit, session, platform_ids)
        return len(found)

    async def deleted_there(self, patterns: Sequence[str], platform_ids: Sequence[str]) -> int:
        """Forget messages in every session whose id fits one of the patterns (GLOB); how many.

        For a platform that says where a message was deleted, but not whose it was.

        Raises:
            StoreError: of some sessions they may be forgotten, of others not; asking again is safe.
        """
        found: set[SessionId] = set()
        async with self._database.reading() as reader:
            for pattern in patterns:
                found |= await messages_table.holders(reader, pattern, platform_ids)
                found |= await entries_table.turn_holders(reader, pattern, platform_ids)
        for mode in self._modes:
            for session in mode.holders(platform_ids):
                if any(fnmatchcase(session, pattern) for pattern in patterns):
                    found.add(session)
        return sum([await self.deleted(session, platform_ids) for session in sorted(found)])

    async def _forget_unarchived(
        self, unit: Unit, session: SessionId, platform_ids: Sequence[str]
    ) -> int:
        """Forget turns of mode `pools`, in memory and distilled; how many turns and facts went."""
        held = sum([await mode.forget(unit, session, platform_ids) for mode in self._modes])
        return held + sum(
            [await entries_table.forget_turn(unit, session, one) for one in platform_ids]
        )


async def _forget_traces(unit: Unit, message: Message) -> int:
    """Drop what was made of a message; how many facts went."""
    source = Source(kind=SourceKind.MESSAGE, id=str(message.seq))
    dropped = await entries_table.forget_source(unit, source)
    await summaries_table.rewind(unit, message.session, seq=message.seq)
    return dropped
