import pytest

from memory.database.database import open_database
from memory.engine import open_engine
from memory.ports import Models
from memory.settings import MemorySettings
from memory.values import Mode, NewMessage, PersonId, Role, SessionId, Speaker, Turn
from tests.fakes import FakeChatModel, FakeClock, FakeEmbedder

HERE, OTHER = SessionId("tg-1"), SessionId("temp-1")
MEI = Speaker(person=PersonId("telegram:1"), name="小美")


@pytest.fixture
async def engine(tmp_path):
    chat = FakeChatModel()
    async with (
        open_database(tmp_path / "kith.db") as database,
        open_engine(
            database=database,
            models=Models(chat=chat, summary=chat, extract=chat, embed=FakeEmbedder()),
            directory=tmp_path,
            settings=MemorySettings(),
            clock=FakeClock(),
        ) as opened,
    ):
        yield opened


async def say(engine, text, session):
    entry = NewMessage(role=Role.USER, text=text, sent_at_ns=1, speaker=MEI)
    reply = NewMessage(role=Role.ASSISTANT, text=text, sent_at_ns=2)
    turn = Turn(session=session, title="", epoch=0, entry=entry, reply=reply, mode=Mode.FULL)
    async with engine.unit() as unit:
        await engine.observe(unit, turn)


def found(directory, text):
    return [path.name for path in directory.iterdir() if text.encode() in path.read_bytes()]


async def fill(engine, session):
    for number in range(30):
        await say(engine, f"zanzibarword 麻糬密碼 number {number}", session)
    await say(engine, "kept in another talk", SessionId("tg-2"))
    await engine.search.catch_up()


@pytest.mark.parametrize("text", ["zanzibarword", "麻糬密碼", "麻糬"])
async def test_what_a_reset_clears_stands_in_no_file_any_more(engine, tmp_path, text):
    await fill(engine, HERE)
    before = found(tmp_path, text)

    await engine.reset(HERE, everything=True)

    assert before
    assert found(tmp_path, text) == []
    assert found(tmp_path, "kept in another talk")


async def test_what_a_purge_clears_stands_in_no_file_any_more(engine, tmp_path):
    await fill(engine, HERE)

    await engine.clearing.switch(HERE, Mode.POOLS, purge=True)

    assert found(tmp_path, "zanzibarword") == []


async def test_a_removed_session_stands_in_no_file_any_more(engine, tmp_path):
    await fill(engine, HERE)

    assert await engine.clearing.remove(HERE)

    assert found(tmp_path, "zanzibarword") == []


async def test_what_a_sweep_removes_stands_in_no_file_any_more(engine, tmp_path):
    await fill(engine, OTHER)

    assert await engine.sweep_temporary(idle_s=60) == 1
    assert found(tmp_path, "zanzibarword") == []
