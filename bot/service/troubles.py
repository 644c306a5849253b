"""The last warnings and errors, kept as they pass through the log."""

from collections import deque

from structlog.typing import EventDict, WrappedLogger

from bot.service.service_status import Trouble
from memory.ports import Clock

TROUBLES = 20
"""Enough to see what went wrong lately on one screen."""
_TROUBLE = ("warning", "error", "exception", "critical")


class RecentTroubles:
    """Keeps the last warnings and errors, by event and class, for `kith status`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: deque[Trouble] = deque(maxlen=TROUBLES)

    def newest_first(self) -> tuple[Trouble, ...]:
        """The last ones."""
        return tuple(reversed(self._last))

    def __call__(self, _logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
        """Look at an event that passes."""
        if name in _TROUBLE:
            error = str(event.get("error", "") or type(event.get("exc_info")).__name__)
            self._last.append(
                Trouble(
                    at_ns=self._clock.now_ns(),
                    event=str(event.get("event", "")),
                    error="" if error in ("NoneType", "bool") else error,
                )
            )
        return event
