"""`kith import` and `kith export`: sessions from and to files."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from bot.app.clock import SystemClock
from bot.app.platforms import access_settings
from bot.cli.boundary import err, out, run
from bot.cli.data import LONGEST_S, reading, service_or_here
from bot.cli.options import ConfigFile, DataDir, Json
from bot.cli.settings import loaded
from bot.config.config import Loaded
from bot.config.datadir import DATABASE
from bot.service.control import Verb
from bot.service.data_verbs import IMPORT, import_verbs, wordless_prefixes
from memory.database.database import Database, open_reader
from memory.transfer.checking import Checked, Progress, check, session_named
from memory.transfer.exporting import Exported, export
from memory.transfer.importing import Imported
from memory.values import SessionId

Result = dict[str, object]

Source = Annotated[Path, typer.Argument(help="A directory, or one of its files.")]
Into = Annotated[
    str, typer.Option("--session", help="Import into this session.", show_default="its own name")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check everything, store nothing.")]
_UNSAFE = re.compile(r"[^\w.-]")

Which = Annotated[str, typer.Argument(help="Which session, such as cli-main.")]
To = Annotated[Path | None, typer.Option("--to", help="Directory.", show_default="./SESSION")]


def import_(
    source: Source,
    *,
    session: Into = "",
    dry_run: DryRun = False,
    as_json: Json = False,
    data_dir: DataDir = None,
    config: ConfigFile = None,
) -> None:
    """Import sessions: Agenvoy's or Chatmery's files, or what 'kith export' wrote."""
    place = source.expanduser().absolute()

    async def work() -> Result:
        settings = loaded(config, data_dir)
        prefixes = settings.manifests.session_prefixes
        only = session_named(session, prefixes) if session else None
        with _shown() as progress:
            if dry_run:
                return _counted(await _dry(place, settings, only, progress))
            answer = await service_or_here(
                settings,
                IMPORT,
                {"source": str(place), "session": session},
                lambda database: _verbs(database, settings, progress),
                new=True,
                wait_s=LONGEST_S,
            )
            return dict(answer)

    result = run(work)
    if as_json:
        out.print_json(json.dumps(result, ensure_ascii=False))
    else:
        _show(result)


def _verbs(database: Database, settings: Loaded, progress: Progress) -> Mapping[str, Verb]:
    return import_verbs(
        database=database,
        directory=settings.data_dir,
        zone=settings.zone,
        clock=SystemClock(),
        prefixes=settings.manifests.session_prefixes,
        wordless=wordless_prefixes(access_settings(settings), settings.manifests),
        progress=progress,
    )


async def _dry(
    source: Path, settings: Loaded, only: SessionId | None, progress: Progress
) -> Checked:
    database = settings.data_dir / DATABASE
    look = partial(
        check,
        session=only,
        zone=settings.zone,
        progress=progress,
        prefixes=settings.manifests.session_prefixes,
        wordless=wordless_prefixes(access_settings(settings), settings.manifests),
    )
    if not database.exists():
        return await look(source, None)
    async with open_reader(database.absolute()) as reader:
        return await look(source, reader)


def _counted(checked: Checked) -> Result:
    """What a dry run found: everything counts as new, as nothing was compared one by one."""
    sessions = [
        Imported(
            session=one.session,
            messages=one.records,
            entries=sum(len(records) for _, records in one.pools),
            summary=one.summary is not None,
        )
        for one in checked.sessions
    ]
    return {
        "dry_run": True,
        "sessions": [asdict(one) for one in sessions],
        "pages": [page.name for page in checked.pages],
        "pages_kept": [],
        "passed_over": list(checked.passed_over),
    }


def _show(result: Result) -> None:
    verb = "would be imported" if result["dry_run"] else "imported"
    for one in _listed(result["sessions"]):
        extra = ", its summary" if one["summary"] else ""
        out.print(
            f"{one['session']}: {one['messages']} messages and {one['entries']} facts{extra}"
            f" {verb}, {one['known']} messages known before",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    for label, key in (
        (verb, "pages"),
        ("kept as it is here", "pages_kept"),
        ("passed over (temporary session)", "passed_over"),
    ):
        for name in _listed(result[key]):
            out.print(f"{name}: {label}", markup=False, highlight=False)


def _listed(value: object) -> list[dict[str, object]]:
    return value if isinstance(value, list) else []


def export_(
    session: Which,
    *,
    to: To = None,
    as_json: Json = False,
    data_dir: DataDir = None,
    config: ConfigFile = None,
) -> None:
    """Write a session out as JSON files; 'kith import' reads them back."""

    async def work() -> Exported:
        settings = loaded(config, data_dir)
        with _shown() as progress:
            async with reading(settings) as reader:
                return await export(
                    reader,
                    SessionId(session),
                    to or _own_directory(session),
                    pages_from=settings.data_dir,
                    zone=settings.zone,
                    progress=progress,
                )

    done = run(work)
    if as_json:
        result = asdict(done) | {"directory": str(done.directory)}
        out.print_json(json.dumps(result, ensure_ascii=False))
        return
    line = f"{done.messages} messages and {done.entries} facts written to {done.directory}"
    out.print(line, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def _shown() -> Iterator[Progress]:
    """A progress bar on a terminal; nothing elsewhere."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=err, disable=not err.is_terminal, transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def report(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total or None)

        yield report


def _own_directory(session: str) -> Path:
    """A directory here named after the session: an id from a foreign file is no path to trust."""
    return Path(_UNSAFE.sub("_", session).lstrip(".") or "session")
