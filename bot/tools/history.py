"""The tool `chat_history`: the model looks things up in the past of its own conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from bot.errors import ToolFailed
from bot.ports import ChatKind
from bot.texts.keys import Text
from bot.texts.tables import describe
from bot.turn.interface import TRANSCRIPT_MODES, AnyTool, Tool, TurnContext
from memory.archive.passages import Filter
from memory.language.text import clip, one_line
from memory.language.times import format_rfc3339
from memory.ports import Clock
from memory.recall.lookup import MOST_HITS, Lookup
from memory.recall.query import Match, Query
from memory.tool_errors.run_log import RunLog
from memory.tool_errors.runs_table import ToolRun
from memory.values import Message, Seq

CHAT_HISTORY = "chat_history"
LISTED = 10
NONE_FOUND = "No earlier message of this conversation matches."
NONE_YET = "No tool has finished in this conversation lately."

_DAY_NS = 86_400 * 1_000_000_000
_FOUND_CHARS = 700
_AROUND_CHARS = 240
_SUMMARY_CHARS = 160


class ChatHistoryMode(StrEnum):
    """What is looked up."""

    SEARCH = "search"
    LIST = "list"
    READ = "read"


class TimeRange(StrEnum):
    """How far back."""

    DAY = "1d"
    WEEK = "7d"
    MONTH = "1m"
    YEAR = "1y"
    ALL = "all"


_DAYS = {TimeRange.DAY: 1, TimeRange.WEEK: 7, TimeRange.MONTH: 30, TimeRange.YEAR: 365}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatHistoryArguments:
    """A look into the past."""

    mode: Annotated[
        ChatHistoryMode | None,
        Field(description="search messages; list finished tool runs; read one of those by id"),
    ] = None
    keyword: Annotated[
        str | None, Field(description="For search, required: what to look for, in a few words.")
    ] = None
    match: Annotated[
        Match, Field(description="semantic: by meaning; keyword: every word must be there")
    ] = Match.SEMANTIC
    time_range: Annotated[TimeRange, Field(description="How far back to look.")] = TimeRange.ALL
    limit: Annotated[int, Field(description="Most finds, at most 32.", ge=1)] = 8
    id: Annotated[int | None, Field(description="For read: the run, as list shows it.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """Where the tool looks."""

    lookup: Lookup
    runs: RunLog
    clock: Clock
    zone: tzinfo | None


def history_tool(past: Past) -> AnyTool:
    """The tool. It reads its own session only, whatever the model says."""

    async def run(context: TurnContext, arguments: ChatHistoryArguments) -> str:
        match _mode(arguments):
            case ChatHistoryMode.SEARCH:
                return await _search(past, context, arguments)
            case ChatHistoryMode.READ:
                return await _read(past, context, arguments)
        return _listed(await past.runs.latest(context.session, limit=LISTED), past.zone)

    return Tool(
        name=CHAT_HISTORY,
        description=(
            "Look up earlier messages of this conversation that are not shown above: for exact"
            " words, dates or details from before. Also lists finished tool runs."
        ),
        arguments=ChatHistoryArguments,
        run=run,
        labels=describe(Text.RUNS_CHAT_HISTORY),
        modes=TRANSCRIPT_MODES,
        parallel=True,
    )


def _mode(arguments: ChatHistoryArguments) -> ChatHistoryMode:
    """What is meant where no mode is given (seed 1): an id reads, a keyword searches."""
    if arguments.mode is not None:
        return arguments.mode
    if arguments.id is not None:
        return ChatHistoryMode.READ
    return ChatHistoryMode.SEARCH if (arguments.keyword or "").strip() else ChatHistoryMode.LIST


async def _search(past: Past, context: TurnContext, arguments: ChatHistoryArguments) -> str:
    keyword = (arguments.keyword or "").strip()
    if not keyword:
        raise ToolFailed("required parameter 'keyword' is missing: mode search needs it")
    now_ns = past.clock.now_ns()
    days = _DAYS.get(arguments.time_range)
    query = Query(
        session=context.session,
        text=keyword,
        now_ns=now_ns,
        match=arguments.match,
        limit=min(arguments.limit, MOST_HITS),
        before=context.shown_from,
        allowed=Filter(since_ns=None if days is None else now_ns - days * _DAY_NS),
    )
    found = await past.lookup.search(query)
    named = context.kind is ChatKind.GROUP
    stretches = [
        "\n".join(_line(message, found.hits, past.zone, named=named) for message in excerpt)
        for excerpt in found.excerpts
    ]
    return "\n\n".join(stretches) or NONE_FOUND


def _line(message: Message, hits: frozenset[Seq], zone: tzinfo | None, *, named: bool) -> str:
    """`[RFC3339 time · role] text` (seed 1); among several people the text begins with a name."""
    text = clip(one_line(message.text), _FOUND_CHARS if message.seq in hits else _AROUND_CHARS)
    if named and message.speaker is not None:
        text = f"{one_line(message.speaker.name)}: {text}"
    return f"[{format_rfc3339(message.sent_at_ns, zone)} · {message.role}] {text}"


async def _read(past: Past, context: TurnContext, arguments: ChatHistoryArguments) -> str:
    if arguments.id is None:
        raise ToolFailed("required parameter 'id' is missing: mode read needs it")
    run = await past.runs.find(context.session, arguments.id)
    if run is None:
        raise ToolFailed(f"there is no finished run {arguments.id} in this conversation")
    return "\n".join([_head(run, past.zone), f"arguments: {run.arguments}", run.result])


def _listed(runs: Sequence[ToolRun], zone: tzinfo | None) -> str:
    lines = [f"{_head(run, zone)}: {clip(one_line(run.arguments), _SUMMARY_CHARS)}" for run in runs]
    return "\n".join(lines) or NONE_YET


def _head(run: ToolRun, zone: tzinfo | None) -> str:
    outcome = "failed" if run.failed else "done"
    return f"id {run.number} · {format_rfc3339(run.ran_at_ns, zone)} · {run.tool} · {outcome}"
