"""The table `audit`: what administrators changed. Its only writer; ids only, never text."""

from dataclasses import dataclass

from memory.database.database import Database, Reader
from memory.ports import Clock
from memory.values import PersonId

_ADD = "INSERT INTO audit (at_ns, person, action, target) VALUES (?, ?, ?, ?)"
_LATEST = "SELECT at_ns, person, action, target FROM audit ORDER BY number DESC LIMIT ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """One thing that an administrator did."""

    at_ns: int
    person: PersonId
    action: str
    target: str


class Audit:
    """Writes deeds down, each in a transaction of its own."""

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


async def latest(reader: Reader, *, limit: int) -> list[Deed]:
    """The last deeds, newest first."""
    return [
        Deed(
            at_ns=row["at_ns"],
            person=PersonId(row["person"]),
            action=row["action"],
            target=row["target"],
        )
        for row in await reader.rows(_LATEST, (limit,))
    ]
