"""The attempt at one message: what may have ended the process, when the process has ended.

It counts in the database while anything is done for the message, and does not while its call waits
for a place at the model: whoever only waited when another message broke the process is no suspect.
"""

from bot.delivery import inbox
from memory.database.database import Database


class Attempt:
    """One attempt, which `inbox.begin` has counted. A `memory.ports.CallWatch`."""

    def __init__(self, database: Database, row: int) -> None:
        self._database = database
        self._row = row
        self._counted = True

    async def waits(self) -> None:
        """Take it back.

        Raises:
            StoreError: it still counts.
        """
        if self._counted:
            await self._count(-1)
            self._counted = False

    async def begins(self) -> None:
        """Count it again, so that it stands on disk before the model is asked.

        Raises:
            StoreError: it does not count.
        """
        if not self._counted:
            await self._count(1)
            self._counted = True

    async def _count(self, by: int) -> None:
        async with self._database.unit() as unit:
            await inbox.count(unit, self._row, by=by)
