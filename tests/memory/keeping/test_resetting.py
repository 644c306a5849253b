import pytest

from memory.database.database import open_database
from memory.engine import open_engine
from memory.errors import SessionMoved
from memory.keeping.resetting import ResetEffect
from memory.pools import entries_table
from memory.pools.entry import NewEntry, Pool, Scope, Tag
from memory.ports import Models
from memory.settings import MemorySettings
from memory.summary import summaries_table
from memory.summary.summaries_table import Cursor
from memory.summary.value import Summary
from memory.values import NewMessage, PersonId, Role, Seq, SessionId, Speaker, Turn
from tests.fakes import NOON_NS, FakeChatModel, FakeClock

ANN = SessionId("tg-1-7")
BEN = SessionId("tg-1-8")


@pytest.fixture
async def stack(tmp_path):
    async with open_database(tmp_path / "kith.db") as database:
        model = FakeChatModel(["x"] * 20)
        async with open_engine(
            database=database,
            models=Models(chat=model, summary=model, extract=model),
            directory=tmp_path,
            settings=MemorySettings(),
            clock=FakeClock(),
        ) as engine:
            yield engine, database


def turn(session, text, epoch=0):
    speaker = Speaker(person=PersonId("telegram:7"), name="Ann")
    return Turn(
        session=session,
        title="Ann",
        epoch=epoch,
        entry=NewMessage(role=Role.USER, text=text, sent_at_ns=NOON_NS, speaker=speaker),
        reply=NewMessage(role=Role.ASSISTANT, text="ok", sent_at_ns=NOON_NS),
    )


async def keep(engine, *turns):
    for one in turns:
        async with engine.unit() as unit:
            await engine.observe(unit, one)


async def summarise(database, session, *, cursor):
    async with database.unit() as unit:
        await summaries_table.save(
            unit,
            session,
            summary=Summary(key_decisions=("Do: drink tea",)),
            cursor=cursor,
            expected=await summaries_table.state(unit, session),
            now_ns=NOON_NS,
        )


async def test_a_plain_reset_clears_the_messages_and_keeps_the_summary(stack):
    engine, database = stack
    await keep(engine, turn(ANN, "綠茶"), turn(BEN, "coffee"))
    await summarise(database, ANN, cursor=Cursor(seq=Seq(2)))

    report = await engine.reset(ANN, everything=False)

    assert (report.messages, report.message_count) == (ResetEffect.CLEARED, 2)
    assert report.summary is ResetEffect.KEPT
    facts = await engine.inspect(ANN)
    assert (facts.messages, facts.summarised) == (0, True)
    assert (await engine.inspect(BEN)).messages == 2


async def test_resetting_all_clears_the_summary_too(stack):
    engine, database = stack
    await keep(engine, turn(ANN, "tea"))
    await summarise(database, ANN, cursor=Cursor(seq=Seq(2)))

    report = await engine.reset(ANN, everything=True)

    assert report.summary is ResetEffect.CLEARED
    assert not (await engine.inspect(ANN)).summarised


@pytest.mark.parametrize(
    ("everything", "effect", "left"),
    [(False, ResetEffect.KEPT, ["long"]), (True, ResetEffect.CLEARED, [])],
)
async def test_the_short_pool_goes_and_the_long_one_only_with_everything(
    stack, everything, effect, left
):
    engine, database = stack
    await keep(engine, turn(ANN, "tea"))
    async with database.unit() as unit:
        for pool in Pool:
            fact = NewEntry(
                content=pool.value, pool=pool, tag=Tag.FACT, scope=Scope.GROUP, said_at_ns=1
            )
            await entries_table.add(unit, ANN, fact)

    report = await engine.reset(ANN, everything=everything)

    assert (report.short_pool, report.long_pool) == (ResetEffect.CLEARED, effect)
    async with database.reading() as reader:
        assert [one.content for one in await entries_table.every(reader, ANN)] == left


async def test_a_turn_under_way_at_a_reset_comes_to_nothing(stack):
    engine, _ = stack
    await keep(engine, turn(ANN, "tea"))
    await engine.reset(ANN, everything=False)

    with pytest.raises(SessionMoved):
        await keep(engine, turn(ANN, "more tea", epoch=0))

    assert (await engine.inspect(ANN)).messages == 0


async def test_a_message_after_the_reset_of_a_half_covered_one_is_not_thought_covered(stack):
    engine, database = stack
    await keep(engine, turn(ANN, "a very long message"))
    await summarise(database, ANN, cursor=Cursor(seq=Seq(0), chars=10))

    await engine.reset(ANN, everything=False)
    await keep(engine, turn(ANN, "a new one", epoch=1))

    async with database.reading() as reader:
        assert (await summaries_table.current(reader, ANN)).cursor.chars == 0


async def test_what_was_never_there_is_told_as_absent(stack):
    engine, _ = stack

    report = await engine.reset(ANN, everything=False)

    assert {report.messages, report.summary, report.short_pool, report.long_pool} == {
        ResetEffect.ABSENT
    }


async def test_a_conversation_that_nobody_had_is_unknown(stack):
    engine, _ = stack

    assert await engine.inspect(ANN) is None
