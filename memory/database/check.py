"""Looks at a database file without changing it: for an operator who wants to know if it is sound."""

import asyncio
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import aiosqlite


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseFacts:
    """What was found."""

    sqlite_version: str
    has_fts5: bool
    """Whether this SQLite can search text; Kith cannot do without."""
    exists: bool
    problems: tuple[str, ...] = ()
    """What SQLite finds wrong with the file; empty when it is sound or not there yet."""


async def examine(path: Path) -> DatabaseFacts:
    """Look at SQLite itself, and at the file if there is one. Never raises for what it finds."""
    exists = await asyncio.to_thread(path.exists)
    return DatabaseFacts(
        sqlite_version=sqlite3.sqlite_version,
        has_fts5=await _has_fts5(),
        exists=exists,
        problems=await _problems(path) if exists else (),
    )


async def _has_fts5() -> bool:
    async with aiosqlite.connect(":memory:") as connection:
        try:
            await connection.execute("CREATE VIRTUAL TABLE probe USING fts5 (text)")
        except sqlite3.Error:
            return False
    return True


async def _problems(path: Path) -> tuple[str, ...]:
    try:
        async with aiosqlite.connect(f"{path.as_uri()}?mode=ro", uri=True) as connection:
            rows = await connection.execute_fetchall("PRAGMA integrity_check")
    except sqlite3.Error as error:
        return (str(error),)
    found = tuple(str(row[0]) for row in rows)
    return () if found == ("ok",) else found
