"""What the pools' tests share: a database with one session, speakers, entries, exchanges."""

import json
from contextlib import asynccontextmanager

from memory.database import sessions_table
from memory.database.database import open_database
from memory.pools import entries_table
from memory.pools.deconstruct_pass import SourceTurn
from memory.pools.entry import NewEntry, Pool, Scope, Source, SourceKind, Tag
from memory.values import PersonId, SessionId, Speaker
from tests.fakes import NOON_NS

ROOM = SessionId("cli-room")
ANNA = Speaker(person=PersonId("console:1"), name="Anna")
MING = Speaker(person=PersonId("console:2"), name="小明")


@asynccontextmanager
async def a_database(path):
    async with open_database(path / "kith.db") as database:
        async with database.unit() as unit:
            await sessions_table.touch(unit, ROOM, title="room", now_ns=NOON_NS)
        yield database


def entry(content, *, pool=Pool.SHORT, speaker=ANNA, said_at_ns=NOON_NS, **more):
    more.setdefault("tag", Tag.EVENT)
    more.setdefault("scope", Scope.PERSON)
    return NewEntry(content=content, pool=pool, speaker=speaker, said_at_ns=said_at_ns, **more)


def message(seq):
    return Source(kind=SourceKind.MESSAGE, id=str(seq))


async def put(database, *entries, session=ROOM):
    """Store entries; their ids."""
    async with database.unit() as unit:
        return [await entries_table.add(unit, session, one) for one in entries]


async def stored(database, *, pool=None, live=True, session=ROOM):
    """What the pools say, oldest first."""
    async with database.reading() as reader:
        found = await entries_table.every(reader, session)
    return [
        one.content
        for one in found
        if (pool is None or one.pool is pool) and (one.live or not live)
    ]


async def every(database, session=ROOM):
    async with database.reading() as reader:
        return await entries_table.every(reader, session)


def exchange(text, reply="I see.", *, speaker=ANNA, seq=1, **more):
    more.setdefault("said_at_ns", NOON_NS)
    more.setdefault("epoch", 0)
    return SourceTurn(
        session=ROOM, speaker=speaker, text=text, reply=reply, source=message(seq), **more
    )


def facts(*found, replaces=()):
    """An extractor's answer."""
    listed = [{"fact": fact, "replaces": list(replaces)} for fact in found]
    return json.dumps({"facts": listed}, ensure_ascii=False)


def refined(*found):
    """A refiner's answer."""
    return json.dumps({"facts": list(found)}, ensure_ascii=False)
