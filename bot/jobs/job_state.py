"""How a job stands, as it is shown to the operator."""

from dataclasses import asdict, dataclass
from typing import Any

from bot.jobs.cron import Cron
from bot.jobs.job_log import JobRun


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """A job with its last run and its next."""

    name: str
    expression: str
    """When it is due, as a cron expression."""
    next_at_ns: int
    """When it is due next, if the service runs then."""
    last: JobRun | None
    """None: it never ran."""
    running: bool = False
    steps: tuple[int, int] = (0, 0)
    """Of a run under way: steps done, steps in all; 0 in all when it has not said."""


def state_of(name: str, cron: Cron, *, last: JobRun | None, now_ns: int) -> JobState:
    """The state of a job that is not running."""
    return JobState(
        name=name, expression=cron.expression, next_at_ns=cron.next_after(now_ns), last=last
    )


def as_object(state: JobState) -> dict[str, Any]:
    """The state as plain data; times in ns UTC, durations in ms."""
    return asdict(state)
