"""How a job stands, as it is shown to the operator."""

from dataclasses import asdict, dataclass
from datetime import tzinfo
from typing import Any

from bot.jobs.job_log import JobRun
from bot.jobs.schedule import Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """A job with its last run and its next."""

    name: str
    expression: str
    """When it is due, in words."""
    next_at_ns: int
    """When it is due next, if the service runs then."""
    last: JobRun | None
    """None: it never ran."""
    running: bool = False
    steps: tuple[int, int] = (0, 0)
    """Of a run under way: steps done, steps in all; 0 in all when it has not said."""


def state_of(
    name: str, schedule: Schedule, *, last: JobRun | None, now_ns: int, zone: tzinfo | None
) -> JobState:
    """The state of a job that is not running."""
    return JobState(
        name=name,
        expression=str(schedule),
        next_at_ns=schedule.next_after(now_ns, zone),
        last=last,
    )


def as_object(state: JobState) -> dict[str, Any]:
    """The state as plain data; times in ns UTC, durations in ms."""
    return asdict(state)
