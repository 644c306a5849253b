"""One SQLite file: a single writer whose every unit of work is one transaction; readers of their own.

A connection that tasks share is not isolated between them: one task's rollback takes another's
rows along. So whoever writes holds the writer's lock from BEGIN to COMMIT, and whoever reads has
a connection, a snapshot included, to itself. SQL lives in the stores, not here.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Protocol

import aiosqlite

from memory.errors import SchemaTooNew, StorageBusy, StorageCorrupt, StorageFull, StoreError
from memory.language.segments import indexed

Row = sqlite3.Row
Value = str | int | float | bytes | None

READERS = 3
BUSY_TIMEOUT_MS = 5_000
_BACKUP_PAGES = 4_096
"""Copied at a time (16 MiB): between them the connection's thread serves nobody else."""

# WAL with synchronous=FULL: a committed row survives power loss (sqlite.org/wal.html, "Performance
# Considerations": NORMAL may lose the last commits).
_PRAGMAS = (
    "PRAGMA foreign_keys = ON",
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA temp_store = MEMORY",
)
_MIGRATIONS_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    owner TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (owner, number)
) STRICT, WITHOUT ROWID
"""

# Result codes: sqlite.org/rescode.html. The low byte is the primary code.
_BY_CODE: dict[int, tuple[type[StoreError], str]] = {
    sqlite3.SQLITE_FULL: (StorageFull, "the disk is full; free some space and try again"),
    sqlite3.SQLITE_IOERR: (
        StorageFull,
        "the disk cannot be written (full, over quota or failing); free some space and try again",
    ),
    sqlite3.SQLITE_CORRUPT: (StorageCorrupt, "the database is damaged; restore a backup"),
    sqlite3.SQLITE_NOTADB: (StorageCorrupt, "the file is not a database; move it away"),
    sqlite3.SQLITE_BUSY: (StorageBusy, "another process holds the database; stop it first"),
    sqlite3.SQLITE_LOCKED: (StorageBusy, "another process holds the database; stop it first"),
    sqlite3.SQLITE_CANTOPEN: (StoreError, "the file cannot be opened; check its permissions"),
    sqlite3.SQLITE_READONLY: (StoreError, "the file cannot be written; check its permissions"),
}
_PRIMARY_CODE = 0xFF
_PRIVATE = 0o600
_OWNER = 0o700


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The numbered migrations of one owner: `0001_name.sql`, forward only."""

    owner: str
    directory: Traversable


MEMORY_SCHEMA = Schema(owner="memory", directory=files("memory.database") / "schema")


class Reader:
    """One consistent view of the database, for as long as its context is open."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    async def rows(self, sql: str, parameters: Sequence[Value] = ()) -> list[Row]:
        """All rows of a query."""
        with _translated():
            return list(await self._connection.execute_fetchall(sql, parameters))

    async def row(self, sql: str, parameters: Sequence[Value] = ()) -> Row | None:
        """The first row of a query, or None."""
        found = await self.rows(sql, parameters)
        return found[0] if found else None


class Unit(Reader):
    """One unit of work: everything done through it is kept together, or nothing is."""

    async def execute(self, sql: str, parameters: Sequence[Value] = ()) -> int:
        """Run a statement; how many rows it changed."""
        with _translated():
            async with self._connection.execute(sql, parameters) as cursor:
                return cursor.rowcount

    async def insert(self, sql: str, parameters: Sequence[Value] = ()) -> int:
        """Run an INSERT; the new row's number."""
        with _translated():
            row: Any = await self._connection.execute_insert(sql, parameters)
            return int(row[0])

    async def execute_many(self, sql: str, parameters: Iterable[Sequence[Value]]) -> None:
        """Run a statement once for each set of parameters."""
        with _translated():
            async with self._connection.executemany(sql, parameters):
                pass


class Readable(Protocol):
    """Whatever can be read: the open database, or a file that another process may own."""

    def reading(self) -> AbstractAsyncContextManager[Reader]:
        """A read-only snapshot.

        Raises:
            StoreError: it could not be read.
        """
        ...


class Database:
    """The one way into `kith.db`. Made by `open_database`."""

    def __init__(
        self, path: Path, writer: aiosqlite.Connection, readers: Sequence[aiosqlite.Connection]
    ) -> None:
        self.path = path
        self._writer = writer
        self._writing = asyncio.Lock()
        self._readers: asyncio.Queue[aiosqlite.Connection] = asyncio.Queue()
        for reader in readers:
            self._readers.put_nowait(reader)

    @asynccontextmanager
    async def unit(self) -> AsyncIterator[Unit]:
        """A write transaction: committed at the end, rolled back on any exception.

        A cancelled caller cannot tear one: a connection runs its statements in the order in which
        they were asked for, so the next unit begins behind this one's end in any case.

        Raises:
            StoreError: the database could not do it; nothing was kept.
        """
        async with self._writing:
            try:
                with _translated():
                    await self._writer.execute("BEGIN IMMEDIATE")
                yield Unit(self._writer)
                with _translated():
                    await self._writer.execute("COMMIT")
            except BaseException:
                # Also after a COMMIT that failed, which leaves its transaction open. Without an
                # open transaction it does nothing.
                with _translated():
                    await self._writer.rollback()
                raise

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Reader]:
        """A read-only snapshot that no writer disturbs and that disturbs no writer.

        Raises:
            StoreError: the database could not be read.
        """
        connection = await self._readers.get()
        try:
            with _translated():
                await connection.execute("BEGIN")
            yield Reader(connection)
        finally:
            try:
                with _translated():
                    await connection.rollback()
            finally:
                self._readers.put_nowait(connection)

    async def check_integrity(self) -> list[str]:
        """What SQLite itself finds wrong with the file; empty when it is sound."""
        async with self.reading() as reader:
            found = [str(row[0]) for row in await reader.rows("PRAGMA integrity_check")]
        return [] if found == ["ok"] else found

    async def back_up(self, target: Path) -> None:
        """Write a sound copy of the file, as of one moment, while everybody goes on working.

        Raises:
            StoreError: the copy cannot be written.
        """
        with _translated():
            copy = await aiosqlite.connect(target)
        try:
            connection = await self._readers.get()
            try:
                with _translated():
                    await connection.backup(copy, pages=_BACKUP_PAGES)
            finally:
                self._readers.put_nowait(connection)
        finally:
            await copy.close()

    async def erase_traces(self) -> None:
        """Leave no byte of deleted rows in the file: rewrite it and empty the WAL.

        A DELETE alone leaves the text in free pages and in the WAL until both are rewritten.
        """
        async with self._writing:
            with _translated():
                await self._writer.execute("VACUUM")
                await self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@asynccontextmanager
async def open_database(
    path: Path, schemas: Sequence[Schema] = (MEMORY_SCHEMA,), *, readers: int = READERS
) -> AsyncIterator[Database]:
    """Open the file, bring its tables up to date, and close everything at the end.

    Raises:
        StorageCorrupt: it is not a sound database; nothing was changed.
        SchemaTooNew: a later version wrote it; nothing was changed.
        StoreError: it cannot be opened or written.
    """
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        await asyncio.to_thread(_make_private, path)
        writer = await enter(_connected(path))
        pool = [await enter(_connected(path, "PRAGMA query_only = ON")) for _ in range(readers)]
        database = Database(path, writer, pool)
        for schema in schemas:
            await _migrate(database, schema)
        yield database


def _make_private(path: Path) -> None:
    """Make the file readable by its owner alone, also in a directory that others may enter.

    SQLite gives `-wal` and `-shm` the mode of the file. What fails here, it says better itself.
    """
    with suppress(OSError):
        path.touch(_PRIVATE)
        path.chmod(path.stat().st_mode & _OWNER)


class ReadOnlyFile:
    """A database file for reading only; each snapshot opens it anew."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def reading(self) -> AbstractAsyncContextManager[Reader]:
        """As `open_reader`."""
        return open_reader(self._path)


@asynccontextmanager
async def open_reader(path: Path) -> AsyncIterator[Reader]:
    """One view of a file that another process may own; nothing is changed, migrated or made.

    Args:
        path: absolute.

    Raises:
        StoreError: there is no such file, or it cannot be read.
    """
    with _translated():
        connection = await aiosqlite.connect(
            f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None
        )
    try:
        connection.row_factory = sqlite3.Row
        with _translated():
            await connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
            await connection.execute("BEGIN")
        yield Reader(connection)
    finally:
        await connection.close()


@asynccontextmanager
async def _connected(path: Path, *more: str) -> AsyncIterator[aiosqlite.Connection]:
    """A connection with our settings, and more of them."""
    with _translated():
        connection = await aiosqlite.connect(path, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        with _translated():
            for pragma in (*_PRAGMAS, *more):
                await connection.execute(pragma)
            # The triggers of keyword search call it.
            await connection.create_function("kith_segments", 2, indexed, deterministic=True)
        yield connection
    finally:
        await connection.close()


async def _migrate(database: Database, schema: Schema) -> None:
    """Apply what is missing, each migration in a transaction of its own."""
    scripts = {
        int(entry.name.split("_", 1)[0]): entry
        for entry in schema.directory.iterdir()
        if entry.name.endswith(".sql")
    }
    async with database.unit() as unit:
        await unit.execute(_MIGRATIONS_TABLE)
        rows = await unit.rows("SELECT number FROM migrations WHERE owner = ?", (schema.owner,))
    applied = {int(row["number"]) for row in rows}
    if newer := applied - scripts.keys():
        raise SchemaTooNew(
            f"{database.path} was written by a later version of Kith"
            f" ({schema.owner} {max(newer)}); install that version or restore an older backup"
        )
    for number in sorted(scripts.keys() - applied):
        async with database.unit() as unit:
            for statement in statements(scripts[number].read_text(encoding="utf-8")):
                await unit.execute(statement)
            await unit.execute("INSERT INTO migrations VALUES (?, ?)", (schema.owner, number))


def statements(script: str) -> Iterator[str]:
    """The statements of a script, in order; a trigger's body stays in one piece.

    `executescript` is of no use here: it commits what is open before it starts.
    """
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending.strip()
            pending = ""


@contextmanager
def _translated() -> Iterator[None]:
    """No sqlite3 exception passes this border, nor what it makes of a number past 64 bits."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _PRIMARY_CODE
        kind, advice = _BY_CODE.get(code, (StoreError, f"the database refused: {error}"))
        raise kind(advice) from error
    except OverflowError as error:
        raise StoreError("the database refused: a number is too large for it") from error
