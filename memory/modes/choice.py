"""Which memory each session uses: the three modes, and what admins chose."""

from collections.abc import Mapping

from memory.database import sessions_table
from memory.database.database import Reader
from memory.modes.interface import MemoryMode
from memory.values import Mode, SessionId


class ModeChoice:
    """The modes by name. An admin's choice for a session goes before the configuration's."""

    def __init__(self, modes: Mapping[Mode, MemoryMode]) -> None:
        self._modes = modes
        self._chosen: dict[SessionId, Mode] = {}

    async def load(self, reader: Reader) -> None:
        """Read what was chosen earlier."""
        self._chosen = await sessions_table.chosen_modes(reader)

    def __getitem__(self, mode: Mode) -> MemoryMode:
        return self._modes[mode]

    @property
    def every(self) -> tuple[MemoryMode, ...]:
        """All of them."""
        return tuple(self._modes.values())

    def mode_of(self, session: SessionId, default: Mode) -> Mode:
        """The memory of a session; `default` is the configuration's for its place."""
        return self._chosen.get(session, default)

    def chose(self, session: SessionId, mode: Mode | None) -> None:
        """Note what was chosen; it must stand in the database already."""
        if mode is None:
            self._chosen.pop(session, None)
        else:
            self._chosen[session] = mode
