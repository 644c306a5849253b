"""`kith memory`: what is remembered, read from the file without changing it."""

import json
from datetime import tzinfo

from bot.cli.boundary import out, run
from bot.cli.data import reading
from bot.cli.options import ConfigFile, DataDir, Json, SessionName
from bot.cli.settings import loaded
from bot.config.config import Loaded
from bot.errors import UsageError
from bot.texts.language import Language
from bot.texts.summaries import format_summary
from memory.keeping.resetting import conversations
from memory.language.text import one_line
from memory.language.times import format_second
from memory.summary.value import as_object
from memory.summary.view import SummaryView, view_of
from memory.values import Session, SessionId


def sessions(*, as_json: Json = False, data_dir: DataDir = None, config: ConfigFile = None) -> None:
    """List the conversations, the last used first."""

    async def work() -> tuple[list[Session], tzinfo | None]:
        settings = loaded(config, data_dir)
        async with reading(settings) as reader:
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
        return await summary_of(settings, SessionId(session)), settings.zone

    view, zone = run(work)
    if as_json:
        out.print_json(json.dumps(_object(view, zone)), ensure_ascii=False)
    else:
        out.print(format_summary(view, Language.ENGLISH, zone), markup=False, highlight=False)


async def summary_of(settings: Loaded, session: SessionId) -> SummaryView:
    """A conversation's summary.

    Raises:
        UsageError: there is no such conversation.
    """
    async with reading(settings) as reader:
        found = await view_of(reader, session)
    if not found.known:
        raise UsageError(f"there is no conversation {session!r}")
    return found


def _object(view: SummaryView, zone: tzinfo | None) -> dict[str, object]:
    """The summary as the seeds' JSON with its cursor's time, `YYYY-MM-DD HH:MM:SS`."""
    covered = view.covered_until_ns
    return {
        "summary": as_object(view.summary),
        "summary_cursor": None if covered is None else format_second(covered, zone),
        "covered_until_ns": covered,
        "saved_at_ns": view.saved_at_ns,
    }
