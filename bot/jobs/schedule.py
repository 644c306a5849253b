"""When each job is due: fixed times by the clock that people see.

Daylight saving: a time of day that the clock skips is due as long after midnight as on any other
day (02:30 becomes 03:30), one that comes twice is due the first time only. Minutes of the hour go
on through both.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo

_NS = 1_000_000_000
_HOUR_MINUTES = 60
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Every:
    """So many minutes apart, all day long; `minutes` divides an hour."""

    minutes: int
    offset: int = 0
    """The first minute of each hour, below `minutes`."""

    def __str__(self) -> str:
        if self.minutes == _HOUR_MINUTES:
            return f"every hour at minute {self.offset}"
        every = f"every {self.minutes} minutes"
        return f"{every} from minute {self.offset}" if self.offset else every

    def next_after(self, now_ns: int, zone: tzinfo | None) -> int:
        """The first time after `now_ns` at which it is due, in ns UTC; None: the machine's zone."""
        at = _utc(now_ns).replace(second=0) + _MINUTE
        while at.astimezone(zone).minute % self.minutes != self.offset:
            at += _MINUTE
        return _ns(at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Daily:
    """Once a day."""

    at: time

    def __str__(self) -> str:
        return f"every day at {self.at:%H:%M}"

    def next_after(self, now_ns: int, zone: tzinfo | None) -> int:
        """The first time after `now_ns` at which it is due, in ns UTC; None: the machine's zone."""
        today = _utc(now_ns).astimezone(zone).date()
        # From yesterday: a time before midnight that the clock skips is due after it.
        days = (today + timedelta(days=number) for number in (-1, 0, 1))
        due = (_ns(datetime.combine(day, self.at, tzinfo=zone)) for day in days)
        return next(at_ns for at_ns in due if at_ns > now_ns)


def _utc(at_ns: int) -> datetime:
    return datetime.fromtimestamp(at_ns // _NS, tz=UTC)


def _ns(at: datetime) -> int:
    return int(at.timestamp()) * _NS


Schedule = Every | Daily

SUMMARISE, SWEEP, COMPACT = "summarise", "sweep", "compact"
FORGET_IDS, TOOLS = "forget-ids", "tools"
SCHEDULE: dict[str, Schedule] = {
    SUMMARISE: Every(minutes=15),
    SWEEP: Every(minutes=30),
    COMPACT: Every(minutes=15, offset=7),
    FORGET_IDS: Daily(at=time(4, 23)),
    TOOLS: Every(minutes=60, offset=12),
}
"""When each job is due (seed 1). Histories are compacted when summarising is done."""
