"""The log of finished tool runs: shortened, per session, deleted after three days."""

from collections.abc import Sequence
from dataclasses import replace

from memory.database.database import Database, Unit
from memory.language.text import clip
from memory.ports import Clock
from memory.tool_errors import runs_table
from memory.tool_errors.runs_table import ToolRun
from memory.values import SessionId

KEPT_NS = 3 * 86_400 * 1_000_000_000
ARGUMENTS_CHARS = 1_024
RESULT_CHARS = 4_096


class RunLog:
    """Keeps runs and gives them back, each session its own."""

    def __init__(self, *, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def keep(self, unit: Unit, session: SessionId, runs: Sequence[ToolRun]) -> None:
        """Keep the runs of a turn, as part of the caller's transaction, behind its messages."""
        for run in runs:
            shortened = replace(
                run,
                arguments=clip(run.arguments, ARGUMENTS_CHARS),
                result=clip(run.result, RESULT_CHARS),
            )
            await runs_table.add(unit, session, shortened)

    async def latest(self, session: SessionId, *, limit: int) -> list[ToolRun]:
        """The last runs, newest first."""
        async with self._database.reading() as reader:
            return await runs_table.latest(reader, session, since_ns=self._since_ns, limit=limit)

    async def find(self, session: SessionId, number: int) -> ToolRun | None:
        """One run of the session."""
        async with self._database.reading() as reader:
            return await runs_table.find(reader, session, number, since_ns=self._since_ns)

    async def sweep(self) -> int:
        """Delete what is too old; how many runs."""
        async with self._database.unit() as unit:
            return await runs_table.sweep(unit, before_ns=self._since_ns)

    @property
    def _since_ns(self) -> int:
        return self._clock.now_ns() - KEPT_NS
