"""`kith errors`: what went wrong with tools and what helped; shared by all conversations."""

import json
from collections.abc import Mapping
from datetime import tzinfo
from typing import Annotated

import typer
from rich.table import Table

from bot.app.clock import SystemClock
from bot.cli.boundary import out, run
from bot.cli.data import reading, service_or_here
from bot.cli.options import ConfigFile, DataDir, Json
from bot.cli.settings import loaded
from bot.service.control import Verb
from bot.service.error_verbs import REMOVE, error_verbs
from memory.database.database import Database
from memory.language.times import format_second
from memory.tool_errors.error_memory import ErrorMemory, newest_in, read_from
from memory.tool_errors.record import ErrorRecord

Id = Annotated[str, typer.Argument(help="Id from 'kith errors list', or the beginning of one.")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=200, help="Most records.")]
_SHORT = 12


def list_(
    *,
    limit: Limit = 50,
    as_json: Json = False,
    data_dir: DataDir = None,
    config: ConfigFile = None,
) -> None:
    """List the records, newest first."""

    async def work() -> tuple[list[ErrorRecord], tzinfo | None]:
        settings = loaded(config, data_dir)
        async with reading(settings) as reader:
            found = await newest_in(reader, now_ns=SystemClock().now_ns(), limit=limit)
        return found, settings.zone

    found, zone = run(work)
    if as_json:
        out.print_json(json.dumps([_object(one) for one in found]), ensure_ascii=False)
        return
    table = Table("id", "written", "tool", "outcome", "symptom", box=None)
    for one in found:
        written = format_second(one.written_at_ns, zone)
        table.add_row(one.id[:_SHORT], written, one.tool, one.outcome.value, one.symptom)
    out.print(table, markup=False, highlight=False)


def show(
    id_: Id, *, as_json: Json = False, data_dir: DataDir = None, config: ConfigFile = None
) -> None:
    """Show one record in full."""

    async def work() -> tuple[ErrorRecord, tzinfo | None]:
        settings = loaded(config, data_dir)
        async with reading(settings) as reader:
            return await read_from(reader, id_, now_ns=SystemClock().now_ns()), settings.zone

    one, zone = run(work)
    if as_json:
        out.print_json(json.dumps(_object(one)), ensure_ascii=False)
        return
    fields = {
        "id": one.id,
        "tool": one.tool,
        "written": format_second(one.written_at_ns, zone),
        "expires": format_second(one.expires_at_ns, zone),
        "keywords": ", ".join(one.keywords),
        "symptom": one.symptom,
        "cause": one.cause or "unknown",
        "action": one.action,
        "outcome": one.outcome.value,
    }
    for key, value in fields.items():
        out.print(f"{key}: {value}", markup=False, highlight=False, soft_wrap=True)


def remove(
    id_: Id, *, as_json: Json = False, data_dir: DataDir = None, config: ConfigFile = None
) -> None:
    """Delete one record, in the running service if there is one."""

    async def work() -> str:
        answer = await service_or_here(loaded(config, data_dir), REMOVE, {"id": id_}, _verbs)
        return str(answer["id"])

    removed = run(work)
    if as_json:
        out.print_json(json.dumps({"removed": removed}))
    else:
        out.print(f"removed {removed}", markup=False, highlight=False, soft_wrap=True)


def _verbs(database: Database) -> Mapping[str, Verb]:
    return error_verbs(ErrorMemory(database=database, embedder=None, clock=SystemClock()))


def _object(one: ErrorRecord) -> dict[str, object]:
    return {
        "id": one.id,
        "tool_name": one.tool,
        "error_class": one.error_class.value,
        "keywords": list(one.keywords),
        "symptom": one.symptom,
        "cause": one.cause,
        "action": one.action,
        "outcome": one.outcome.value,
        "written_at_ns": one.written_at_ns,
        "expires_at_ns": one.expires_at_ns,
    }
