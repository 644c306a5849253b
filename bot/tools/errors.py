"""The tools `write_error` and `error_history`: what went wrong with tools, and what helped.

Records are shared by all sessions, so a record that repeats what people said is refused.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from bot.errors import ToolFailed
from bot.texts.keys import Text
from bot.texts.tables import describe
from bot.turn.interface import TRANSCRIPT_MODES, AnyTool, Tool, TurnContext
from bot.turn.saying import names_in, repeats
from memory.language.times import format_utc
from memory.tool_errors.error_memory import ErrorMemory
from memory.tool_errors.record import ActionOutcome, ErrorRecord, NewErrorRecord

WRITE_ERROR, ERROR_HISTORY = NAMES = ("write_error", "error_history")
_SHORT_ID = 12
_HINTS_HEAD = "Related earlier errors (apply what resolved them, avoid what failed):"


class ErrorHistoryMode(StrEnum):
    """What `error_history` does."""

    SEARCH = "search"
    READ = "read"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteArguments:
    """A record as the model writes it."""

    tool_name: Annotated[str, Field(description="The tool that failed.", min_length=1)]
    keywords: Annotated[
        list[str], Field(description="2 to 6 short search words about the error.", min_length=1)
    ]
    symptom: Annotated[str, Field(description="The error text, in one sentence.", min_length=1)]
    action: Annotated[str, Field(description="What was done about it.", min_length=1)]
    outcome: Annotated[ActionOutcome, Field(description="What came of the action.")]
    cause: Annotated[str | None, Field(description="Why it failed, if known.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorHistoryArguments:
    """A look into the records."""

    mode: Annotated[
        ErrorHistoryMode, Field(description="search by words, or read one by its id")
    ] = ErrorHistoryMode.SEARCH
    keyword: Annotated[str | None, Field(description="For search: words of the error.")] = None
    tool_name: Annotated[str | None, Field(description="For search: only this tool.")] = None
    id: Annotated[str | None, Field(description="For read: the id, as search shows it.")] = None
    limit: Annotated[int, Field(description="For search: most records.", ge=1, le=16)] = 4


def error_tools(
    memory: ErrorMemory, known: Sequence[str], person_ids: re.Pattern[str]
) -> tuple[AnyTool, ...]:
    """Both tools. `known` are the names of the other tools: records are about those."""
    return _write_error(memory, frozenset((*known, *NAMES)), person_ids), _error_history(memory)


def _write_error(
    memory: ErrorMemory, names: frozenset[str], person_ids: re.Pattern[str]
) -> AnyTool:
    async def write(context: TurnContext, arguments: WriteArguments) -> str:
        _check(context, arguments, names, person_ids)
        record = await memory.write(
            NewErrorRecord(
                tool=arguments.tool_name,
                keywords=tuple(arguments.keywords),
                symptom=arguments.symptom,
                cause=arguments.cause,
                action=arguments.action,
                outcome=arguments.outcome,
            )
        )
        return f"kept as {record.id[:_SHORT_ID]}"

    return Tool(
        name=WRITE_ERROR,
        description=(
            "Keep for later how a failed tool call was solved, or what did not help."
            " Only about the tool: nothing that anybody said."
        ),
        arguments=WriteArguments,
        run=write,
        labels=describe(Text.RUNS_WRITE_ERROR),
        modes=TRANSCRIPT_MODES,
    )


def _error_history(memory: ErrorMemory) -> AnyTool:
    async def look(_context: TurnContext, arguments: ErrorHistoryArguments) -> str:
        if arguments.mode is ErrorHistoryMode.READ or (arguments.id and not arguments.keyword):
            if not arguments.id:
                raise ToolFailed("required parameter 'id' is missing: mode read needs it")
            return _format([await memory.read(arguments.id)])
        if not (arguments.keyword or "").strip():
            raise ToolFailed("required parameter 'keyword' is missing: mode search needs it")
        found = await memory.search(
            arguments.keyword or "", tool=arguments.tool_name, limit=arguments.limit
        )
        return _format(found)

    return Tool(
        name=ERROR_HISTORY,
        description="Earlier tool errors and what helped: search by words, or read one.",
        arguments=ErrorHistoryArguments,
        run=look,
        labels=describe(Text.RUNS_ERROR_HISTORY),
        parallel=True,
    )


def _check(
    context: TurnContext,
    arguments: WriteArguments,
    names: frozenset[str],
    person_ids: re.Pattern[str],
) -> None:
    """Refuse a record that would carry what people said into other sessions."""
    if arguments.tool_name not in names and arguments.tool_name not in context.tried:
        raise ToolFailed("invalid parameter 'tool_name': there is no such tool")
    written = (*arguments.keywords, arguments.symptom, arguments.cause or "", arguments.action)
    # The name of a tool that was invented is the model's own text as well.
    text = "\n".join([arguments.tool_name.replace("_", " "), *written])
    people = names_in(context.said)
    if context.speaker is not None:
        people |= {context.speaker.name, context.speaker.person.partition(":")[2]}
    if repeats(text, context.said, people, person_ids):
        raise ToolFailed(
            "not kept: it repeats what somebody said, or holds a name, an id or an address; describe"
            " only the tool, its error and what helped, in general words"
        )


def _format(records: Sequence[ErrorRecord]) -> str:
    """Records as JSON; none is the empty list."""
    return json.dumps([_plain(record) for record in records], ensure_ascii=False)


def _plain(record: ErrorRecord) -> dict[str, object]:
    shown: dict[str, object] = {
        "id": record.id[:_SHORT_ID],
        "time": format_utc(record.written_at_ns),
        "tool_name": record.tool,
        "symptom": record.symptom,
        "cause": record.cause,
        "action": record.action,
        "outcome": record.outcome.value,
        "keywords": list(record.keywords),
    }
    return {key: value for key, value in shown.items() if value is not None}


def format_hints(records: Sequence[ErrorRecord]) -> str:
    """What is put behind a failed tool's error; empty without records."""
    if not records:
        return ""
    lines = [_hint(record) for record in records]
    return "\n\n" + "\n".join([_HINTS_HEAD, *lines])


def _hint(record: ErrorRecord) -> str:
    verb = "apply" if record.outcome is ActionOutcome.RESOLVED else "avoid"
    cause = f" (cause: {record.cause})" if record.cause else ""
    return f"- {verb}: {record.action} - {record.outcome.value}: {record.symptom}{cause}"
