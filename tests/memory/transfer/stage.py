"""What the tests of importing and exporting share."""

import json
import sqlite3

from memory.archive.messages_table import after
from memory.pools import entries_table
from memory.summary import summaries_table
from memory.transfer.checking import check
from memory.transfer.importing import store
from tests.fakes import FakeClock

PREFIXES = ("cli-", "tg-", "dc-")


def quiet(_what, _done, _total):
    """Nobody watches."""


def record(text, at_ns, role="user", **fields):
    return {"role": role, "content": text, "sendAt": at_ns, "sender": "小明"} | fields


def write_history(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records, ensure_ascii=False))


async def bring_in(path, database, *, session=None, zone=None, progress=quiet):
    async with database.reading() as reader:
        checked = await check(
            path, reader, session=session, zone=zone, progress=progress, prefixes=PREFIXES
        )
    return await store(checked, database, FakeClock(), progress)


async def messages(database, session):
    async with database.reading() as reader:
        return await after(reader, session, seq=0, limit=100_000)


async def texts(database, session):
    return [message.text for message in await messages(database, session)]


async def summary(database, session):
    async with database.reading() as reader:
        return await summaries_table.current(reader, session)


async def entries(database, session):
    async with database.reading() as reader:
        return await entries_table.every(reader, session)


def archive(path, rows, cutoffs=(), meta="message_meta"):
    """A foreign history.db."""
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id, send_at,"
            " role, content, sender DEFAULT '')"
        )
        database.execute(f"CREATE TABLE {meta} (session_id PRIMARY KEY, start_at INTEGER)")
        database.executemany(f"INSERT INTO {meta} VALUES (?, ?)", cutoffs)
        database.executemany(
            "INSERT INTO messages (session_id, send_at, role, content, sender) VALUES (?,?,?,?,?)",
            rows,
        )
    database.close()
