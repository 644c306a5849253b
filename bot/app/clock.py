"""The machine's clock."""

import time


class SystemClock:
    """The machine's clock."""

    def now_ns(self) -> int:
        """Nanoseconds since the Unix epoch, UTC."""
        return time.time_ns()
