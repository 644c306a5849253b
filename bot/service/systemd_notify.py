"""Notifies systemd how the service is: ready, stopping, alive (sd_notify(3))."""

import asyncio
import socket
from collections.abc import Mapping

import structlog

log = structlog.get_logger()

_MICROSECONDS = 1_000_000


class Notifier:
    """Sends datagrams to `$NOTIFY_SOCKET`; without one it does nothing."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        # A leading @ stands for the NUL of an abstract socket (sd_notify(3), "Notes").
        self._address = "\0" + address[1:] if address.startswith("@") else address
        usec = environment.get("WATCHDOG_USEC", "")
        self._watchdog_s = int(usec) / _MICROSECONDS if usec.isdecimal() else 0.0

    def notify(self, state: str) -> None:
        """Send a state such as `READY=1`. Whoever runs us without systemd is not disturbed."""
        if not self._address:
            return
        try:
            with socket.socket(
                socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC
            ) as connection:
                connection.setblocking(False)
                connection.sendto(state.encode(), self._address)
        except OSError as error:
            log.warning("systemd.not_told", error=type(error).__name__)

    async def keep_alive(self) -> None:
        """Notify the watchdog, twice as often as it asks, that the loop turns; never returns."""
        if not self._address or not self._watchdog_s:
            await asyncio.Event().wait()
        while True:
            self.notify("WATCHDOG=1")
            await asyncio.sleep(self._watchdog_s / 2)
