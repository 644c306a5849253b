"""`kith memory list|show|find|add|edit|delete`: the distilled facts of a conversation."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from bot.app.clock import SystemClock
from bot.cli.boundary import out, run
from bot.cli.data import reading, service_or_here
from bot.cli.options import ConfigFile, DataDir, Json, SessionName
from bot.cli.settings import loaded
from bot.errors import UsageError
from bot.service.control import Verb
from bot.service.memory_verbs import entry_object, memory_verbs, view_object
from memory.database.database import Database, Reader
from memory.pools.service import PoolService, Viewer, entries_of, entry_of, search_in
from memory.values import SessionId

Number = Annotated[int, typer.Argument(help="The fact's number, as 'kith memory list' shows it.")]
Text = Annotated[str, typer.Argument(help="One sentence.")]
History = Annotated[bool, typer.Option("--history", help="Also what does not hold any more.")]

Object = dict[str, Any]
T = TypeVar("T")


def list_(
    session: SessionName,
    *,
    history: History = False,
    as_json: Json = False,
    data_dir: DataDir = None,
    config: ConfigFile = None,
) -> None:
    """List the facts of a conversation, oldest first."""

    async def work(reader: Reader) -> list[Object]:
        found = await entries_of(reader, _viewer(session), history=history)
        return [entry_object(one) for one in found]

    _show(_read(work, data_dir, config), as_json=as_json)


def show(
    session: SessionName,
    number: Number,
    *,
    as_json: Json = False,
    data_dir: DataDir = None,
    config: ConfigFile = None,
) -> None:
    """Show a fact with what it came from and what it replaced."""

    async def work(reader: Reader) -> Object:
        view = await entry_of(reader, _viewer(session), number)
        if view is None:
            raise UsageError(f"there is no entry {number} in that conversation")
        return view_object(view)

    found = _read(work, data_dir, config)
    if as_json:
        out.print_json(json.dumps(found), ensure_ascii=False)
        return
    _show([found, *found["before"]], as_json=False)
    sources = ", ".join(f"{one['kind']} {one['id']}" for one in found["sources"])
    _print(f"said by {found['name'] or 'nobody'}, {found['timestamp']}; from: {sources or '-'}")


def search(
    session: SessionName,
    query: Text,
    *,
    as_json: Json = False,
    data_dir: DataDir = None,
    config: ConfigFile = None,
) -> None:
    """Find facts by their words, best first; `search` looks at what was said."""

    async def work(reader: Reader) -> list[Object]:
        return [entry_object(one) for one in await search_in(reader, _viewer(session), query)]

    _show(_read(work, data_dir, config), as_json=as_json)


def add(
    session: SessionName,
    text: Text,
    *,
    as_json: Json = False,
    data_dir: DataDir = None,
    config: ConfigFile = None,
) -> None:
    """Put a fact about the conversation into its long-term pool."""
    done = _write("memory.add", data_dir, config, {"session": session, "text": text})
    _show([done], as_json=as_json)


def edit(
    session: SessionName,
    number: Number,
    text: Text,
    *,
    as_json: Json = False,
    data_dir: DataDir = None,
    config: ConfigFile = None,
) -> None:
    """Correct a fact."""
    done = _write("memory.edit", data_dir, config, {"session": session, "id": number, "text": text})
    _show([done], as_json=as_json)


def delete(
    session: SessionName,
    number: Number,
    *,
    as_json: Json = False,
    data_dir: DataDir = None,
    config: ConfigFile = None,
) -> None:
    """Delete a fact with what it replaced."""
    done = _write("memory.delete", data_dir, config, {"session": session, "id": number})
    if as_json:
        out.print_json(json.dumps(done))
    else:
        _print(f"deleted {number}")


def _viewer(session: str) -> Viewer:
    return Viewer(session=SessionId(session))


def _read(work: Callable[[Reader], Awaitable[T]], data_dir: Path | None, config: Path | None) -> T:
    """What is found in the file; a running service is not disturbed."""

    async def found() -> T:
        async with reading(loaded(config, data_dir)) as reader:
            return await work(reader)

    return run(found)


def _write(verb: str, data_dir: Path | None, config: Path | None, arguments: Object) -> Object:
    """In the running service, else here."""

    async def writing() -> Object:
        settings = loaded(config, data_dir)
        return dict(await service_or_here(settings, verb, arguments, _verbs, new=True))

    return run(writing)


def _verbs(database: Database) -> Mapping[str, Verb]:
    return memory_verbs(PoolService(database=database, clock=SystemClock()))


def _show(found: Sequence[Object], *, as_json: bool) -> None:
    if as_json:
        out.print_json(json.dumps(found), ensure_ascii=False)
        return
    if not found:
        _print("nothing is noted there")
    for one in found:
        mark = one["pool"] if one["superseded_by"] is None else f"{one['pool']}, outdated"
        _print(f"{one['id']}  [{mark}] {one['name'] or ''}: {one['content']}".replace("] : ", "] "))


def _print(text: str) -> None:
    out.print(text, markup=False, highlight=False, soft_wrap=True)
