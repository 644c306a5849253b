"""When a cron expression is due: five fields, a time zone, a stated rule for the clock's changes.

The arithmetic is APScheduler's `CronTrigger`; its scheduler is not used, as it starts tasks that
nobody owns. What differs from crontab(5) there is put right or refused here.

Daylight saving: a time that the clock skips is due as long after midnight as on any other day
(02:30 becomes 03:30). In an hour that comes twice, an expression with fixed hours is due in the
first pass only; one with `*` in the hour field goes on through both.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from apscheduler.triggers.cron import CronTrigger

from bot.errors import UsageError

_NS = 1_000_000_000
_FIELDS = 5
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun")
_RANGE = re.compile(r"\b(?P<first>\d+)(?:-(?P<last>\d+))?\b")
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """A cron expression in a time zone. Made by `parse_cron`."""

    expression: str
    trigger: CronTrigger
    every_hour: bool
    """Whether the hour field is open, so that a repeated hour counts twice."""

    def next_after(self, now_ns: int) -> int:
        """The first time after `now_ns` at which it is due, in ns UTC."""
        at = datetime.fromtimestamp(now_ns // _NS, tz=UTC) + _SECOND
        while True:
            due = self.trigger.get_next_fire_time(None, at)
            if due is None:
                raise UsageError(f"the cron expression {self.expression!r} is never due")
            if self.every_hour or not due.fold:
                return int(due.timestamp()) * _NS
            at = due.astimezone(UTC) + _SECOND


def parse_cron(expression: str, zone: tzinfo | None = None) -> Cron:
    """A cron expression as crontab(5) has it: minute, hour, day, month, weekday (0 and 7: Sunday).

    Without a zone it is meant in the machine's.

    Raises:
        UsageError: it is none, or it names days of the month and of the week both, which cron
            joins by "or" and this does not.
    """
    fields = expression.split()
    if len(fields) != _FIELDS:
        raise UsageError(f"the cron expression {expression!r} does not have five fields")
    minute, hour, day, month, weekday = fields
    if day != "*" and weekday != "*":
        raise UsageError(f"{expression!r}: give days of the month or of the week, not both")
    try:
        trigger = CronTrigger(
            minute=minute,
            hour=hour,
            day=day,
            month=month,
            day_of_week=_named(weekday),
            timezone=zone,
        )
    except (ValueError, IndexError) as error:
        raise UsageError(f"{expression!r} is no cron expression: {error}") from error
    return Cron(expression=expression, trigger=trigger, every_hour=hour.startswith("*"))


def _named(weekdays: str) -> str:
    """Weekday numbers as names: CronTrigger counts from Monday (APScheduler issue 286)."""
    return ",".join(_RANGE.sub(_days, part) for part in weekdays.lower().split(","))


def _days(found: re.Match[str]) -> str:
    first, last = int(found["first"]), int(found["last"] or found["first"])
    if first > last or last >= len(_WEEKDAYS):
        raise ValueError("weekdays are numbered from 0 to 7")
    return ",".join(dict.fromkeys(_WEEKDAYS[first : last + 1]))
