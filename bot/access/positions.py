"""How far each platform's stream was taken in, what in it could not be read, what was renamed.

The only writer of the tables `positions`, `quarantine` and `moves`. None of them holds text.
"""

from collections.abc import Mapping, Sequence

from bot.ports import ChatRef, Platform, Position, Quarantined
from memory.database.database import Reader, Unit

_SAVE = """
INSERT INTO positions VALUES (?, ?, ?, ?)
ON CONFLICT (platform, bot, stream) DO UPDATE SET value = excluded.value
"""


async def save(unit: Unit, positions: Sequence[Position]) -> None:
    """Keep how far these streams are."""
    rows = [(one.platform, one.bot, one.stream, one.value) for one in positions]
    await unit.execute_many(_SAVE, rows)


_OF_BOT = "SELECT stream, value FROM positions WHERE platform = ? AND bot = ?"


async def of_bot(reader: Reader, platform: Platform, bot: str) -> Mapping[str, str]:
    """The position of each stream of a bot."""
    rows = await reader.rows(_OF_BOT, (platform, bot))
    return {row["stream"]: row["value"] for row in rows}


_QUARANTINE = "INSERT INTO quarantine VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"


async def set_aside(unit: Unit, quarantined: Sequence[Quarantined], *, now_ns: int) -> None:
    """Note updates that could not be understood; one noted before stays as it was."""
    rows = [(one.platform, one.bot, one.update, one.fault, now_ns) for one in quarantined]
    await unit.execute_many(_QUARANTINE, rows)


_COUNT = "SELECT COUNT(*) AS rows FROM quarantine"


async def quarantined(reader: Reader) -> int:
    """How many updates lie aside."""
    row = await reader.row(_COUNT)
    return int(row["rows"]) if row else 0


_SWEEP = "DELETE FROM quarantine WHERE at_ns < ?"


async def sweep(unit: Unit, *, before_ns: int) -> None:
    """Delete updates that were set aside before a time."""
    await unit.execute(_SWEEP, (before_ns,))


_MOVE = """
INSERT INTO moves VALUES (?, ?, ?, ?)
ON CONFLICT (platform, bot, old) DO UPDATE SET new = excluded.new
"""


async def move(unit: Unit, old: ChatRef, new: str) -> None:
    """Note that a place got a new id."""
    await unit.execute(_MOVE, (old.platform, old.bot, old.chat, new))


_MOVES = "SELECT * FROM moves"


class Moves:
    """Which ids a place had and has. Filled once, then kept up to date by its owner."""

    def __init__(self) -> None:
        self._newer: dict[tuple[str, str, str], str] = {}
        self._older: dict[tuple[str, str, str], str] = {}

    def add(self, platform: str, bot: str, *, old: str, new: str) -> None:
        """Know that a place got a new id. A move that would close a circle is left out."""
        if new == old or new in self._walk(self._older, platform, bot, old):
            return
        self._newer[platform, bot, old] = new
        self._older[platform, bot, new] = old

    def former(self, chat: ChatRef) -> tuple[str, ...]:
        """The ids that the place had before, the latest first."""
        return self._walk(self._older, chat.platform, chat.bot, chat.chat)

    def first(self, chat: ChatRef) -> str:
        """The id that the place had when it was first seen: its session is named by it."""
        return (chat.chat, *self.former(chat))[-1]

    def current(self, chat: ChatRef) -> str:
        """The id that the place has now."""
        newer = self._walk(self._newer, chat.platform, chat.bot, chat.chat)
        return (chat.chat, *newer)[-1]

    def _walk(
        self, steps: Mapping[tuple[str, str, str], str], platform: str, bot: str, chat: str
    ) -> tuple[str, ...]:
        found: list[str] = []
        while (chat := steps.get((platform, bot, chat), "")) != "":
            found.append(chat)
        return tuple(found)


async def moves(reader: Reader) -> Moves:
    """All moves that are known."""
    known = Moves()
    for row in await reader.rows(_MOVES):
        known.add(row["platform"], row["bot"], old=row["old"], new=row["new"])
    return known
