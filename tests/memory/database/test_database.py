import asyncio
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import pytest

from memory.database.database import MEMORY_SCHEMA, Schema, open_database, open_reader, statements
from memory.errors import SchemaTooNew, StorageCorrupt, StorageFull, StoreError


@dataclass
class Script:
    name: str
    text: str

    def read_text(self, encoding):
        return self.text


@dataclass
class Directory:
    scripts: list

    def iterdir(self):
        return iter(self.scripts)


def schema(*scripts, owner="test"):
    return Schema(owner=owner, directory=Directory([Script(*s) for s in scripts]))


NOTES = schema(("0001_notes.sql", "CREATE TABLE notes (text TEXT NOT NULL) STRICT;"))


@pytest.fixture
async def database(tmp_path):
    async with open_database(tmp_path / "kith.db", [NOTES]) as opened:
        yield opened


async def test_the_file_is_its_owners_alone_in_whatever_directory(tmp_path):
    tmp_path.chmod(0o755)

    async with open_database(tmp_path / "kith.db", [NOTES]) as opened, opened.unit() as unit:
        await unit.execute("INSERT INTO notes VALUES ('x')")
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}

    assert modes == {"kith.db": 0o600, "kith.db-wal": 0o600, "kith.db-shm": 0o600}


async def notes(database):
    async with database.reading() as reader:
        return [row["text"] for row in await reader.rows("SELECT text FROM notes ORDER BY rowid")]


async def test_a_unit_is_kept_whole(database):
    async with database.unit() as unit:
        await unit.insert("INSERT INTO notes VALUES (?)", ("一",))
        await unit.insert("INSERT INTO notes VALUES (?)", ("two",))

    assert await notes(database) == ["一", "two"]


async def test_a_unit_that_fails_leaves_nothing(database):
    with pytest.raises(ZeroDivisionError):
        async with database.unit() as unit:
            await unit.insert("INSERT INTO notes VALUES (?)", ("lost",))
            1 / 0  # noqa: B018

    assert await notes(database) == []


async def test_a_failing_unit_takes_no_other_tasks_row_with_it(database):
    async def good(text):
        async with database.unit() as unit:
            await unit.insert("INSERT INTO notes VALUES (?)", (text,))
            await asyncio.sleep(0)
            await unit.insert("INSERT INTO notes VALUES (?)", (text,))

    async def bad():
        with pytest.raises(ZeroDivisionError):
            async with database.unit() as unit:
                await unit.insert("INSERT INTO notes VALUES ('bad')")
                await asyncio.sleep(0)
                1 / 0  # noqa: B018

    await asyncio.gather(good("a"), bad(), good("b"), bad(), good("c"))

    assert sorted(await notes(database)) == ["a", "a", "b", "b", "c", "c"]


@pytest.mark.parametrize("steps", range(12))
async def test_a_unit_cancelled_at_any_point_is_whole_or_absent_and_blocks_nobody(database, steps):
    async def pair():
        async with database.unit() as unit:
            await unit.insert("INSERT INTO notes VALUES ('first')")
            await unit.insert("INSERT INTO notes VALUES ('second')")

    task = asyncio.get_running_loop().create_task(pair())
    for _ in range(steps):
        await asyncio.sleep(0.0002)
    task.cancel()
    await asyncio.wait([task])
    async with database.unit() as unit:
        await unit.insert("INSERT INTO notes VALUES ('next')")

    assert await notes(database) in (["next"], ["first", "second", "next"])


async def test_a_reader_sees_one_moment_while_others_write(database):
    async with database.reading() as reader:
        before = await reader.rows("SELECT * FROM notes")
        async with database.unit() as unit:
            await unit.insert("INSERT INTO notes VALUES ('new')")
        after = await reader.rows("SELECT * FROM notes")

    assert before == after == []
    assert await notes(database) == ["new"]


async def test_a_reader_cannot_write(database):
    async with database.reading() as reader:
        with pytest.raises(StoreError):
            await reader.rows("INSERT INTO notes VALUES ('x') RETURNING text")


async def test_every_commit_waits_for_the_disk(database):
    async with database.unit() as unit:
        row = await unit.row("PRAGMA synchronous")

    assert row[0] == 2  # FULL


async def test_a_full_disk_is_said_and_nothing_is_half_written(database):
    async with database.unit() as unit:
        await unit.insert("INSERT INTO notes VALUES ('kept')")
    async with database.unit() as unit:
        await unit.rows("PRAGMA max_page_count = 8")

    with pytest.raises(StorageFull, match="free some space"):
        async with database.unit() as unit:
            for _ in range(100):
                await unit.insert("INSERT INTO notes VALUES (?)", ("x" * 4000,))

    assert await notes(database) == ["kept"]


async def test_no_sqlite_exception_passes_the_border(database):
    with pytest.raises(StoreError) as caught:
        async with database.unit() as unit:
            await unit.execute("INSERT INTO nowhere VALUES (1)")

    assert isinstance(caught.value.__cause__, sqlite3.Error)


async def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "kith.db"
    path.write_bytes(b"this is not a database" * 400)

    with pytest.raises(StorageCorrupt, match="move it away"):
        async with open_database(path):
            pass

    assert path.read_bytes() == b"this is not a database" * 400


async def test_migrations_run_once_and_in_order(tmp_path):
    first = ("0001_a.sql", "CREATE TABLE a (x INTEGER) STRICT;")
    second = (
        "0002_b.sql",
        "-- why\nALTER TABLE a ADD COLUMN y INTEGER;\nINSERT INTO a VALUES (1, 2);",
    )
    async with open_database(tmp_path / "kith.db", [schema(first)]):
        pass
    for _ in range(2):
        async with open_database(tmp_path / "kith.db", [schema(second, first)]) as database:
            async with database.reading() as reader:
                assert len(await reader.rows("SELECT x, y FROM a")) == 1


async def test_a_migration_that_fails_leaves_the_last_good_version(tmp_path):
    broken = ("0002_b.sql", "CREATE TABLE b (x INTEGER) STRICT; CREATE NONSENSE;")
    first = ("0001_a.sql", "CREATE TABLE a (x INTEGER) STRICT;")
    with pytest.raises(StoreError):
        async with open_database(tmp_path / "kith.db", [schema(first, broken)]):
            pass
    async with open_database(tmp_path / "kith.db", [schema(first)]) as database:
        async with database.reading() as reader:
            tables = await reader.rows("SELECT name FROM sqlite_master WHERE name IN ('a', 'b')")

    assert [row["name"] for row in tables] == ["a"]


async def test_a_database_of_a_later_version_is_refused(tmp_path):
    later = ("0002_b.sql", "CREATE TABLE b (x INTEGER) STRICT;")
    first = ("0001_a.sql", "CREATE TABLE a (x INTEGER) STRICT;")
    async with open_database(tmp_path / "kith.db", [schema(first, later)]):
        pass

    with pytest.raises(SchemaTooNew, match="later version"):
        async with open_database(tmp_path / "kith.db", [schema(first)]):
            pass


def test_a_trigger_stays_in_one_statement():
    script = (
        "CREATE TABLE t (x);\nCREATE TRIGGER r AFTER INSERT ON t BEGIN\n  DELETE FROM t;\nEND;\n"
    )

    assert len(list(statements(script))) == 2


async def test_erased_text_is_in_no_file(tmp_path):
    path = tmp_path / "kith.db"
    async with open_database(path, [NOTES]) as database:
        async with database.unit() as unit:
            await unit.insert("INSERT INTO notes VALUES (?)", ("zanzibar" * 50,))
        async with database.unit() as unit:
            await unit.execute("DELETE FROM notes")
        await database.erase_traces()
        files = [p.read_bytes() for p in Path(tmp_path).iterdir()]

    assert not any(b"zanzibar" in content for content in files)


def test_the_shipped_migrations_are_numbered_without_gaps():
    numbers = sorted(int(p.name[:4]) for p in MEMORY_SCHEMA.directory.iterdir())

    assert numbers == list(range(1, len(numbers) + 1))


async def test_who_only_reads_a_file_changes_nothing_and_makes_none(database, tmp_path):
    async with database.unit() as unit:
        await unit.execute("INSERT INTO notes VALUES ('one')")

    async with open_reader(tmp_path / "kith.db") as reader:
        assert [row["text"] for row in await reader.rows("SELECT text FROM notes")] == ["one"]
        with pytest.raises(StoreError):
            await reader.rows("DELETE FROM notes RETURNING text")

    with pytest.raises(StoreError):
        async with open_reader(tmp_path / "none.db"):
            pass
    assert not (tmp_path / "none.db").exists()
