"""The table `tool_runs`: finished tool runs of each session, for a few days."""

from dataclasses import dataclass

from memory.database.database import Reader, Row, Unit
from memory.values import SessionId

_NUMBER = "(SELECT number FROM sessions WHERE id = ?1)"
_ADD = """
INSERT INTO tool_runs (session, tool, arguments, result, failed, ran_at_ns, elapsed_ms)
SELECT number, ?2, ?3, ?4, ?5, ?6, ?7 FROM sessions WHERE id = ?1
"""
_COLUMNS = "number, tool, arguments, result, failed, ran_at_ns, elapsed_ms"
_LATEST = f"""
SELECT {_COLUMNS} FROM tool_runs WHERE session = {_NUMBER} AND ran_at_ns >= ?2
ORDER BY number DESC LIMIT ?3
"""  # noqa: S608
_FIND = f"""
SELECT {_COLUMNS} FROM tool_runs WHERE session = {_NUMBER} AND ran_at_ns >= ?2 AND number = ?3
"""  # noqa: S608
_SWEEP = "DELETE FROM tool_runs WHERE ran_at_ns < ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """A tool call that is over."""

    tool: str
    arguments: str
    """JSON, shortened."""
    result: str
    """What the model was given, shortened."""
    failed: bool
    ran_at_ns: int
    elapsed_ms: int
    number: int = 0
    """Its row; 0 before it has one."""


def _run(row: Row) -> ToolRun:
    return ToolRun(
        number=row["number"],
        tool=row["tool"],
        arguments=row["arguments"],
        result=row["result"],
        failed=bool(row["failed"]),
        ran_at_ns=row["ran_at_ns"],
        elapsed_ms=row["elapsed_ms"],
    )


async def add(unit: Unit, session: SessionId, run: ToolRun) -> None:
    """Keep a run of a session that exists."""
    await unit.execute(
        _ADD,
        (
            session,
            run.tool,
            run.arguments,
            run.result,
            int(run.failed),
            run.ran_at_ns,
            run.elapsed_ms,
        ),
    )


async def latest(reader: Reader, session: SessionId, *, since_ns: int, limit: int) -> list[ToolRun]:
    """The last runs of a session, newest first."""
    return [_run(row) for row in await reader.rows(_LATEST, (session, since_ns, limit))]


async def find(reader: Reader, session: SessionId, number: int, *, since_ns: int) -> ToolRun | None:
    """One run of a session."""
    row = await reader.row(_FIND, (session, since_ns, number))
    return _run(row) if row else None


async def sweep(unit: Unit, *, before_ns: int) -> int:
    """Delete older runs; how many."""
    return await unit.execute(_SWEEP, (before_ns,))
