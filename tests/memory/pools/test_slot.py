import pytest

from memory.pools.entry import Scope
from memory.pools.slot import PoolSlot
from memory.settings import PoolSettings
from memory.values import NewMessage, Role
from tests.fakes import NOON_NS
from tests.memory.pools.stage import ANNA, MING, ROOM, a_database, entry, put


@pytest.fixture
async def database(tmp_path):
    async with a_database(tmp_path) as opened:
        yield opened


async def test_a_prompt_shows_the_speakers_facts_and_the_groups_and_nobody_elses(database):
    ours, annas = "We meet on Monday", "Anna owns a boat"
    await put(
        database, entry(ours, scope=Scope.GROUP), entry(annas), entry("小明有 boat", speaker=MING)
    )
    slot = PoolSlot(database=database, embedder=None, settings=PoolSettings(), zone=None)
    said = NewMessage(role=Role.USER, text="is there a boat?", sent_at_ns=NOON_NS, speaker=ANNA)

    shown = (await slot.gather(ROOM, said)).shown

    assert set(shown.facts) == {ours, annas}
