"""Puts the tools together over one database: what the model may use, and what is kept of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from bot.tools.advice import advice_from
from bot.tools.errors import error_tools
from bot.tools.facts import fact_tools
from bot.tools.history import Past, history_tool
from bot.tools.now import now_tool
from bot.turn.interface import AnyTool
from bot.turn.registry import Toolbox
from bot.turn.talking import Tooling
from memory.database.database import Database
from memory.engine import Engine
from memory.ports import Clock, Models
from memory.tool_errors.error_memory import ErrorMemory
from memory.tool_errors.run_log import RunLog


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSet:
    """The tools, with the two memories that are theirs."""

    tooling: Tooling
    errors: ErrorMemory
    runs: RunLog


def tool_set(
    *,
    engine: Engine,
    database: Database,
    models: Models,
    clock: Clock,
    zone: tzinfo | None,
    person_ids: re.Pattern[str],
) -> ToolSet:
    """Every tool there is, over an engine and its database."""
    errors = ErrorMemory(database=database, embedder=models.embed, clock=clock)
    runs = RunLog(database=database, clock=clock)
    past = Past(lookup=engine.search.lookup, runs=runs, clock=clock, zone=zone)
    tools: Sequence[AnyTool] = (
        history_tool(past),
        *fact_tools(engine.pools),
        now_tool(clock, zone),
    )
    known = [tool.name for tool in tools]
    return ToolSet(
        tooling=Tooling(
            toolbox=Toolbox((*tools, *error_tools(errors, known, person_ids))),
            advise=advice_from(errors),
            keep=runs.keep,
        ),
        errors=errors,
        runs=runs,
    )
