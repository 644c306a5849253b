"""`kith memory`: what is remembered, read from the file without changing it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import tzinfo
from pathlib import Path
from typing import Annotated

import typer

from bot.app.app import open_lookup
from bot.app.clock import SystemClock
from bot.cli.boundary import out, run
from bot.cli.options import ConfigFile, DataDir, Json, loaded
from bot.config.datadir import DATABASE
from bot.errors import UsageError
from bot.texts.excerpts import format_excerpts
from bot.texts.language import Language
from bot.texts.summaries import format_summary
from memory.database.database import Reader, open_reader
from memory.keeping.resetting import conversations
from memory.language.text import one_line
from memory.language.times import format_second
from memory.recall.lookup import DEFAULT_LIMIT, MOST_HITS, Excerpts, Sought
from memory.summary.rolling import SummaryView, view_of
from memory.summary.value import as_object
from memory.values import Message, Session, SessionId

SessionName = Annotated[
    str, typer.Argument(help="Conversation, as 'kith memory sessions' shows it.")
]


def sessions(*, as_json: Json = False, data_dir: DataDir = None, config: ConfigFile = None) -> None:
    """List the conversations, the last used first."""

    async def work() -> tuple[list[Session], tzinfo | None]:
        settings = loaded(config, data_dir)
        async with _reading(settings.data_dir / DATABASE) as reader:
            return await conversations(reader), settings.zone

    found, zone = run(work)
    if as_json:
        listed = [
            {"session": one.id, "title": one.title, "active_at_ns": one.active_at_ns}
            for one in found
        ]
        out.print_json(json.dumps(listed, ensure_ascii=False))
        return
    for one in found:
        line = f"{one.id}  {format_second(one.active_at_ns, zone)}  {one_line(one.title)}"
        out.print(line.rstrip(), markup=False, highlight=False, soft_wrap=True)


def summary(
    session: SessionName,
    *,
    as_json: Json = False,
    data_dir: DataDir = None,
    config: ConfigFile = None,
) -> None:
    """Show the summary of a conversation, and how far it reaches."""

    async def work() -> tuple[SummaryView, tzinfo | None]:
        settings = loaded(config, data_dir)
        view = await _view(settings.data_dir / DATABASE, SessionId(session))
        return view, settings.zone

    view, zone = run(work)
    if as_json:
        out.print_json(json.dumps(_object(view, zone)), ensure_ascii=False)
    else:
        out.print(format_summary(view, Language.ENGLISH, zone), markup=False, highlight=False)


Query = Annotated[str, typer.Argument(help="What to look for; quoted inside: exactly that.")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=MOST_HITS, help="Most hits.")]


def search(
    session: SessionName,
    query: Query,
    *,
    limit: Limit = DEFAULT_LIMIT,
    as_json: Json = False,
    data_dir: DataDir = None,
    config: ConfigFile = None,
) -> None:
    """Look up what was said in a conversation, by words and by meaning."""

    async def work() -> tuple[Excerpts, tzinfo | None]:
        settings = loaded(config, data_dir)
        await _view(settings.data_dir / DATABASE, SessionId(session))  # a mistyped name is refused
        async with open_lookup(settings) as lookup:
            now_ns = SystemClock().now_ns()
            sought = Sought(session=SessionId(session), text=query, now_ns=now_ns, limit=limit)
            return await lookup.search(sought), settings.zone

    found, zone = run(work)
    if as_json:
        out.print_json(json.dumps(_found_object(found)), ensure_ascii=False)
    else:
        out.print(format_excerpts(found, Language.ENGLISH, zone), markup=False, highlight=False)


def _found_object(found: Excerpts) -> dict[str, object]:
    return {
        "keyword_only": found.keyword_only,
        "excerpts": [[_message_object(one, found) for one in run] for run in found.excerpts],
    }


def _message_object(message: Message, found: Excerpts) -> dict[str, object]:
    return {
        "seq": message.seq,
        "hit": message.seq in found.hits,
        "role": message.role.value,
        "name": message.speaker.name if message.speaker else None,
        "sent_at_ns": message.sent_at_ns,
        "text": message.text,
    }


@asynccontextmanager
async def _reading(path: Path) -> AsyncIterator[Reader]:
    """The file, read without changing it.

    Raises:
        UsageError: it is not there.
    """
    if not await asyncio.to_thread(path.exists):
        raise UsageError(f"nothing is remembered in {path.parent} yet")
    async with open_reader(path) as reader:
        yield reader


async def _view(path: Path, session: SessionId) -> SummaryView:
    async with _reading(path) as reader:
        view = await view_of(reader, session)
    if not view.known:
        raise UsageError(f"there is no conversation {session!r}")
    return view


def _object(view: SummaryView, zone: tzinfo | None) -> dict[str, object]:
    """The summary as the seeds' JSON with its cursor's time, `YYYY-MM-DD HH:MM:SS`."""
    covered = view.covered_until_ns
    return {
        "summary": as_object(view.summary),
        "summary_cursor": None if covered is None else format_second(covered, zone),
        "covered_until_ns": covered,
        "saved_at_ns": view.saved_at_ns,
    }
