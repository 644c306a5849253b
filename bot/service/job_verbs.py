"""What `kith jobs` asks of the running service, through the control socket."""

from collections.abc import Mapping

from bot.jobs.job_state import as_object
from bot.jobs.scheduler import Scheduler
from bot.service.control import Arguments, Verb
from memory.ports import Clock


def job_verbs(scheduler: Scheduler, clock: Clock) -> Mapping[str, Verb]:
    """`jobs` reports how every job stands; `jobs.run` lets one begin now."""

    async def states(_arguments: Arguments) -> object:
        return [as_object(state) for state in await scheduler.states()]

    async def run(arguments: Arguments) -> object:
        at_ns = clock.now_ns()
        scheduler.ask(str(arguments.get("name", "")))
        return {"at_ns": at_ns}

    return {"jobs": states, "jobs.run": run}
