import pytest

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.keeping.clearing import Cleared, Clearing, Holdings
from memory.modes.choice import ModeChoice
from memory.pools import entries_table
from memory.pools.entry import NewEntry, Pool, Scope, Tag
from memory.summary import summaries_table
from memory.summary.summaries_table import Cursor
from memory.summary.value import Summary
from memory.values import Mode, NewMessage, Role, SessionId
from tests.fakes import NOON_NS, FakeClock

HERE, OTHER = SessionId("tg-1-7"), SessionId("temp-1")
ALL = Holdings(messages=1, short=1, long=1, summary=True)


class InMemory:
    """A mode that notes whose turns it was asked to drop."""

    def __init__(self):
        self.dropped = []

    async def reset(self, unit, session):
        self.dropped.append(session)


@pytest.fixture
async def database(tmp_path):
    async with open_database(tmp_path / "kith.db") as opened:
        for session in (HERE, OTHER):
            await fill(opened, session)
        yield opened


async def fill(database, session):
    async with database.unit() as unit:
        number, _ = await sessions_table.touch(unit, session, title="", now_ns=NOON_NS)
        said = NewMessage(role=Role.USER, text="tea", sent_at_ns=NOON_NS)
        [seq] = await messages_table.append(unit, number, [said])
        await summaries_table.save(
            unit,
            session,
            summary=Summary(key_decisions=("Do: drink tea",)),
            cursor=Cursor(seq=seq),
            expected=await summaries_table.state(unit, session),
            now_ns=NOON_NS,
        )
        for pool in Pool:
            fact = NewEntry(
                content=pool.value, pool=pool, tag=Tag.FACT, scope=Scope.GROUP, said_at_ns=1
            )
            await entries_table.add(unit, session, fact)


def clearing(database, mode=None, clock=None):
    modes = ModeChoice({Mode.FULL: mode or InMemory()})
    return Clearing(database=database, modes=modes, clock=clock or FakeClock())


async def epoch(database):
    async with database.reading() as reader:
        return (await sessions_table.find(reader, HERE)).epoch


@pytest.mark.parametrize(
    ("mode", "cleared"),
    [
        (Mode.POOLS, Holdings(messages=1, summary=True)),
        (Mode.WINDOW, Holdings(short=1, long=1)),
        (Mode.FULL, Holdings()),
    ],
)
async def test_a_switch_with_a_purge_clears_what_the_new_mode_does_not_use(database, mode, cleared):
    keeper = clearing(database)

    done = await keeper.switch(HERE, mode, purge=True)

    assert done.cleared == cleared
    assert await keeper.holdings(HERE) == done.kept
    assert await keeper.holdings(OTHER) == ALL


@pytest.mark.parametrize("mode", list(Mode))
async def test_a_switch_without_a_purge_clears_nothing(database, mode):
    keeper = clearing(database)

    assert await keeper.switch(HERE, mode) == Cleared(cleared=Holdings(), kept=ALL)
    assert await keeper.holdings(HERE) == ALL


async def test_turns_that_are_in_memory_or_under_way_come_to_nothing(database):
    mode = InMemory()
    keeper = clearing(database, mode)
    before = await epoch(database)

    await keeper.switch(HERE, Mode.POOLS)
    await keeper.reset(HERE)

    assert mode.dropped == [HERE, HERE]
    assert await epoch(database) == before + 2

    await keeper.remove(HERE)
    assert mode.dropped == [HERE, HERE, HERE]


async def test_a_removed_session_leaves_nothing_and_every_other_stays(database):
    keeper = clearing(database)

    assert await keeper.remove(HERE)

    assert await keeper.holdings(HERE) == Holdings()
    assert await keeper.holdings(OTHER) == ALL
    assert not await keeper.remove(HERE)


async def test_only_temporary_sessions_are_swept_and_only_when_they_were_idle_for_so_long(database):
    clock = FakeClock()
    keeper = clearing(database, clock=clock)

    clock.advance(59)
    assert await keeper.sweep_temporary(idle_s=60) == 0
    clock.advance(2)
    assert await keeper.sweep_temporary(idle_s=60) == 1

    assert await keeper.holdings(OTHER) == Holdings()
    assert await keeper.holdings(HERE) == ALL
