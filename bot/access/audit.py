"""The table `audit`: what administrators changed. Its only writer; ids only, never text."""

from memory.database.database import Database
from memory.ports import Clock
from memory.values import PersonId

_ADD = "INSERT INTO audit (at_ns, person, action, target) VALUES (?, ?, ?, ?)"


class Audit:
    """Writes down what administrators did, each in a transaction of its own."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def record(self, person: PersonId, action: str, target: str) -> None:
        """Note that a person did something to a target.

        Raises:
            StoreError: it could not be written.
        """
        async with self._database.unit() as unit:
            await unit.insert(_ADD, (self._clock.now_ns(), person, action, target))
