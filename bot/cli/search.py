"""`kith memory search`: what was said in a conversation, looked up in the file."""

import json
from datetime import tzinfo
from typing import Annotated

import typer

from bot.app.app import open_lookup
from bot.app.clock import SystemClock
from bot.cli.boundary import out, run
from bot.cli.memory import summary_of
from bot.cli.options import ConfigFile, DataDir, Json, SessionName
from bot.cli.settings import loaded
from bot.texts.excerpts import format_excerpts
from bot.texts.language import Language
from memory.recall.lookup import MOST_HITS, Excerpts
from memory.recall.query import DEFAULT_LIMIT, Query
from memory.values import Message, SessionId

QueryText = Annotated[str, typer.Argument(help="What to look for; quoted inside: exactly that.")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=MOST_HITS, help="Most hits.")]


def search(
    session: SessionName,
    query: QueryText,
    *,
    limit: Limit = DEFAULT_LIMIT,
    as_json: Json = False,
    data_dir: DataDir = None,
    config: ConfigFile = None,
) -> None:
    """Look up what was said in a conversation, by words and by meaning."""

    async def work() -> tuple[Excerpts, tzinfo | None]:
        settings = loaded(config, data_dir)
        await summary_of(settings, SessionId(session))  # a mistyped name is refused
        async with open_lookup(settings) as lookup:
            now_ns = SystemClock().now_ns()
            request = Query(session=SessionId(session), text=query, now_ns=now_ns, limit=limit)
            return await lookup.search(request), settings.zone

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
