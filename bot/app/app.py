"""The composition root: builds every part, in order, and closes them in reverse.

Nobody else calls a constructor with I/O behind it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import tzinfo
from functools import cached_property
from pathlib import Path
from random import Random

import structlog

from bot.access.access import Access
from bot.access.audit import Audit
from bot.access.places import Places
from bot.app.clock import SystemClock
from bot.app.model_choice import open_embedder
from bot.app.platforms import access_settings, open_adapters, tokens_needed
from bot.app.schemas import SCHEMAS
from bot.app.tool_set import ToolSet, tool_set
from bot.commands.admin import AdminCommands
from bot.commands.errors import ErrorsCommand
from bot.commands.history import HistoryCommand
from bot.commands.memory import MemoryCommands
from bot.commands.mode import ModeCommand
from bot.commands.registry import Commands
from bot.commands.summary import SummaryCommand
from bot.commands.talk import TalkCommands
from bot.config.config import Loaded
from bot.config.datadir import DATABASE, owned
from bot.delivery.answers import Answers
from bot.delivery.delivery import Delivery, open_delivery
from bot.delivery.intake import InboxIntake
from bot.delivery.router import Router, open_router
from bot.delivery.sender import Sender
from bot.errors import UsageError
from bot.jobs.afterwards import open_afterwards
from bot.jobs.job_log import JobLog
from bot.jobs.jobs import all_jobs, follow_backlog, follow_queue, forget_ids_job, tool_upkeep
from bot.jobs.scheduler import Scheduler
from bot.manifests import AdapterParts, PlatformManifest
from bot.ports import CONSOLE, ChatAdapter, Platform
from bot.service.control import Verb
from bot.service.data_verbs import database_verbs, import_verbs, wordless_prefixes
from bot.service.error_verbs import error_verbs
from bot.service.job_verbs import job_verbs
from bot.service.memory_verbs import memory_verbs
from bot.service.service import Chore, Service
from bot.service.status_board import StatusBoard
from bot.service.supervisor import Standings, Supervisor
from bot.service.troubles import RecentTroubles
from bot.turn.turns import TurnEngine
from memory.database.database import Database, open_database
from memory.engine import Engine, open_engine
from memory.ports import Clock, Models
from memory.recall import search
from memory.recall.lookup import Lookup

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What is kept about the service's health."""

    standings: Standings
    troubles: RecentTroubles


@dataclass(frozen=True, kw_only=True)  # without slots: parts are made when first asked for
class App:
    """The parts that the service and the command line need."""

    loaded: Loaded
    directory: Path
    database: Database
    engine: Engine
    turns: TurnEngine
    tools: ToolSet
    router: Router
    delivery: Delivery
    places: Places
    watch: Watch
    models: Models
    clock: Clock

    @property
    def zone(self) -> tzinfo | None:
        """The time zone that people see; None is the machine's."""
        return self.loaded.zone

    @property
    def console(self) -> PlatformManifest:
        """The terminal's own manifest."""
        return self.loaded.manifests.platforms[CONSOLE]

    @cached_property
    def board(self) -> StatusBoard:
        """How all of this does."""
        return StatusBoard(
            models=self.models,
            search=self.engine.search,
            delivery=self.delivery,
            router=self.router,
            standings=self.watch.standings,
            troubles=self.watch.troubles,
            clock=self.clock,
        )

    @cached_property
    def commands(self) -> Commands:
        """Every command, over these parts."""
        talk = TalkCommands(engine=self.engine, turns=self.turns, status=self.board.status)
        audit = Audit(self.database, self.clock)
        admin = AdminCommands(engine=self.engine, record=audit.record)
        summary = SummaryCommand(self.engine.summaries, zone=self.zone)
        history = HistoryCommand(self.engine.search.lookup, clock=self.clock, zone=self.zone)
        errors = ErrorsCommand(self.tools.errors, zone=self.zone, record=audit.record)
        memory = MemoryCommands(engine=self.engine, zone=self.zone)
        mode = ModeCommand(engine=self.engine, record=audit.record)
        own = (talk, summary, history, memory, mode, admin, errors)
        return Commands([it for one in own for it in one.table()], place=self.places.place)

    @cached_property
    def scheduler(self) -> Scheduler:
        """The jobs, over these parts."""
        return Scheduler(
            (
                *all_jobs(self.engine),
                forget_ids_job(self.delivery),
                tool_upkeep(self.tools.errors, self.tools.runs),
            ),
            job_log=JobLog(self.database),
            clock=self.clock,
            zone=self.zone,
            random=Random(),  # noqa: S311 - spreads starts, guards nothing
        )


OpenModels = Callable[[], AbstractAsyncContextManager[Models]]


@asynccontextmanager
async def open_app(
    loaded: Loaded,
    open_models: OpenModels,
    *,
    clock: Clock | None = None,
    watch: Watch | None = None,
) -> AsyncIterator[App]:
    """Everything between the platforms and the disk, over one data directory.

    The models come last, as they take the longest: what is wrong with the directory is said first.

    Raises:
        DataDirLocked: another process owns the data directory.
        DataDirUnusable: it cannot be made or written.
        StoreError: the database cannot be opened.
        ModelError: a model cannot be had.
    """
    clock = clock or SystemClock()
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        directory = stack.enter_context(owned(loaded.data_dir))
        database = await enter(open_database(directory / DATABASE, SCHEMAS))
        models = await enter(open_models())
        engine = await enter(_memory(loaded, database, models, directory, clock))
        tools = _tools(loaded, engine, database, models, clock)
        delivery = await enter(_delivery(loaded, database, clock))
        yield App(
            loaded=loaded,
            directory=directory,
            database=database,
            engine=engine,
            turns=TurnEngine(engine=engine, chat=models.chat, clock=clock, tooling=tools.tooling),
            tools=tools,
            delivery=delivery,
            router=await enter(open_router(lane_jobs=loaded.config.limits.lane_jobs)),
            places=_places(loaded, delivery, engine),
            watch=watch or Watch(standings=Standings((), clock), troubles=RecentTroubles(clock)),
            models=models,
            clock=clock,
        )


def _delivery(
    loaded: Loaded, database: Database, clock: Clock
) -> AbstractAsyncContextManager[Delivery]:
    return open_delivery(
        database=database,
        clock=clock,
        settings=loaded.config.limits,
        platforms=loaded.manifests.platforms,
    )


def _tools(
    loaded: Loaded, engine: Engine, database: Database, models: Models, clock: Clock
) -> ToolSet:
    return tool_set(
        engine=engine,
        database=database,
        models=models,
        clock=clock,
        zone=loaded.zone,
        person_ids=loaded.manifests.person_ids,
    )


def _places(loaded: Loaded, delivery: Delivery, engine: Engine) -> Places:
    platforms = loaded.manifests.platforms
    access = Access(access_settings(loaded), known=platforms)
    return Places(access, delivery.moves, platforms, engine.mode_of)


@asynccontextmanager
async def _memory(
    loaded: Loaded, database: Database, models: Models, directory: Path, clock: Clock
) -> AsyncIterator[Engine]:
    """Memory, with the work that it does after each send."""
    settings = loaded.config.memory
    idle_s = 60.0 * settings.pools.refine_idle_minutes
    opening = open_engine(
        database=database,
        models=models,
        directory=directory,
        settings=settings,
        clock=clock,
        zone=loaded.zone,
    )
    async with opening as engine, open_afterwards(engine.afterwork, idle_s=idle_s):
        yield engine


@asynccontextmanager
async def open_lookup(loaded: Loaded) -> AsyncIterator[Lookup]:
    """Search over a data directory that another process may own; nothing is written.

    Raises:
        UsageError: nothing is remembered there yet.
        KithError: as `open_embedder`.
    """
    path = loaded.data_dir / DATABASE
    if not await asyncio.to_thread(path.exists):
        raise UsageError(f"nothing is remembered in {path.parent} yet")
    async with (
        open_embedder(loaded) as embedder,
        search.open_lookup(
            path=path,
            embedder=embedder,
            settings=loaded.config.memory.recall,
            zone=loaded.zone,
        ) as lookup,
    ):
        yield lookup


@asynccontextmanager
async def open_service(
    loaded: Loaded,
    open_models: OpenModels,
    *,
    clock: Clock | None = None,
    troubles: RecentTroubles | None = None,
) -> AsyncIterator[Service]:
    """The whole service, ready to be run by `bot.service.service.serve`.

    Raises:
        NoAdapterLeft: there is no token for any platform.
        KithError: as `open_app`.
    """
    clock = clock or SystemClock()
    tokens = tokens_needed(loaded)
    standings = Standings(tokens, clock)
    watch = Watch(standings=standings, troubles=troubles or RecentTroubles(clock))
    adapters: dict[Platform, ChatAdapter] = {}
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        app = await enter(open_app(loaded, open_models, clock=clock, watch=watch))
        for problem in app.places.warnings():
            log.warning("access.questioned", key=problem.key, why=problem.what)
        intake = _intake(app, adapters)
        parts = AdapterParts(
            intake=intake, commands=app.commands, specs=app.commands.specs, clock=clock
        )
        for platform, opening in open_adapters(loaded, tokens, parts).items():
            adapters[platform] = await enter(opening)
        yield Service(
            directory=app.directory,
            intake=intake,
            router=app.router,
            sender=_sender(app, adapters),
            supervisor=Supervisor(tuple(adapters.values()), standings, clock=clock),
            standings=standings,
            verbs=_verbs(app),
            chores=_chores(app),
            drain_s=loaded.config.limits.drain_s,
        )


def _intake(app: App, adapters: Mapping[Platform, ChatAdapter]) -> InboxIntake:
    answers = Answers(
        database=app.database,
        delivery=app.delivery,
        turns=app.turns,
        commands=app.commands,
        adapters=adapters,
    )
    return InboxIntake(
        database=app.database,
        delivery=app.delivery,
        places=app.places,
        lanes=app.router,
        handler=answers,
        corrections=app.engine.corrections,
        clock=app.clock,
        settings=app.loaded.config.limits,
    )


def _verbs(app: App) -> Mapping[str, Verb]:
    imports = import_verbs(
        database=app.database,
        directory=app.directory,
        zone=app.zone,
        clock=app.clock,
        prefixes=app.loaded.manifests.session_prefixes,
        wordless=wordless_prefixes(access_settings(app.loaded), app.loaded.manifests),
    )
    return {
        "status": lambda _: _as_json(app.board),
        **job_verbs(app.scheduler, app.clock),
        **database_verbs(app.database),
        **imports,
        **error_verbs(app.tools.errors),
        **memory_verbs(app.engine.pools),
    }


def _chores(app: App) -> Mapping[str, Chore]:
    return {
        "scheduler": app.scheduler.run,
        "summaries": lambda: follow_queue(app.engine.summaries),
        "vectors": lambda: follow_backlog(app.engine.search),
    }


def _sender(app: App, adapters: Mapping[Platform, ChatAdapter]) -> Sender:
    return Sender(database=app.database, delivery=app.delivery, adapters=adapters, clock=app.clock)


async def _as_json(board: StatusBoard) -> object:
    status = await board.status()
    return {**asdict(status), "search": status.search}
