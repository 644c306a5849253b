import json
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.archive import hot_table, messages_table
from memory.database import sessions_table
from memory.database.database import MEMORY_SCHEMA, open_database, statements
from memory.keeping.compaction import Compacted, Compactor
from memory.language.segments import indexed
from memory.language.text import scrub
from memory.summary import summaries_table
from memory.summary.summaries_table import Cursor
from memory.summary.value import Summary
from memory.transfer.history_file import to_line
from memory.values import NewMessage, PersonId, Role, SessionId, Speaker

ALICE = SessionId("tg-1-2")
LIMIT = 10_000
ANNA = Speaker(person=PersonId("telegram:1"), name='安娜 "A"')


@pytest.fixture
async def database(tmp_path):
    async with open_database(tmp_path / "kith.db") as opened:
        yield opened


@pytest.fixture
def compactor(database):
    return Compactor(database=database, limit_bytes=LIMIT)


def message(role, chars=400, n=0):
    speaker = ANNA if role is Role.USER else None
    return NewMessage(role=role, text="x" * chars, sent_at_ns=n, speaker=speaker)


async def say(database, said, session=ALICE):
    async with database.unit() as unit:
        number, _ = await sessions_table.touch(unit, session, title="", now_ns=1)
        return await messages_table.append(unit, number, said)


async def pairs(database, count):
    return await say(database, [message(role) for _ in range(count) for role in Role])


async def cover(database, seq, session=ALICE):
    async with database.unit() as unit:
        await summaries_table.save(
            unit,
            session,
            summary=Summary(key_decisions=("Do: x",)),
            cursor=Cursor(seq=seq),
            expected=await summaries_table.state(unit, session),
            now_ns=1,
        )


async def size(database, session=ALICE):
    async with database.reading() as reader:
        return await hot_table.size_bytes(reader, session)


async def start(database, session=ALICE):
    async with database.reading() as reader:
        return (await sessions_table.find(reader, session)).start_seq


async def exported_bytes(database, session=ALICE):
    """What history.json takes from the cutoff on, counted from its lines."""
    first = await start(database, session)
    async with database.reading() as reader:
        held = await messages_table.after(reader, session, seq=first - 1, limit=100_000)
    return sum(len(to_line(one).encode()) + 1 for one in held)


async def test_under_the_limit_nothing_moves(database, compactor):
    await pairs(database, 8)

    assert await compactor.due() == []
    assert await compactor.run(ALICE) is Compacted.SMALL


async def test_over_the_limit_the_oldest_leave_until_80_percent_are_left_behind_a_reply(
    database, compactor
):
    seqs = await pairs(database, 12)
    await cover(database, seqs[-1])
    assert await compactor.due() == [ALICE]

    assert await compactor.run(ALICE) is Compacted.MOVED

    first = await start(database)
    async with database.reading() as reader:
        [leaves] = await messages_table.after(reader, ALICE, seq=first - 2, limit=1)
        assert await messages_table.count(reader, ALICE) == 24
    assert leaves.role is Role.ASSISTANT
    assert LIMIT * 0.7 < await size(database) <= LIMIT * 0.8
    assert await compactor.due() == []


async def test_what_no_summary_covers_stays_hot(database, compactor):
    seqs = await pairs(database, 12)

    assert await compactor.run(ALICE) is Compacted.UNSUMMARISED
    await cover(database, seqs[1])
    assert await compactor.run(ALICE) is Compacted.UNSUMMARISED
    assert await start(database) == 0

    await cover(database, seqs[-1])
    assert await compactor.run(ALICE) is Compacted.MOVED


async def test_without_a_reply_to_cut_behind_it_waits_for_twice_the_limit(database, compactor):
    seqs = await say(database, [message(Role.USER) for _ in range(24)])
    await cover(database, seqs[-1])
    assert await compactor.run(ALICE) is Compacted.NO_PAIR

    seqs = await say(database, [message(Role.USER) for _ in range(24)])
    await cover(database, seqs[-1])
    assert await compactor.run(ALICE) is Compacted.MOVED

    assert await size(database) <= LIMIT * 0.8


async def test_a_question_is_not_cut_from_its_reply(database, compactor):
    said = [message(Role.USER) for _ in range(20)] + [message(Role.ASSISTANT), message(Role.USER)]
    seqs = await say(database, [*said, message(Role.ASSISTANT)])
    await cover(database, seqs[-1])

    assert await compactor.run(ALICE) is Compacted.MOVED
    assert await start(database) == seqs[20] + 1


async def test_the_last_message_and_a_handful_of_giants_never_leave(database, compactor):
    seqs = await say(database, [message(Role.USER, 9_000), message(Role.ASSISTANT, 9_000)])
    await cover(database, seqs[-1])
    assert await compactor.run(ALICE) is Compacted.SMALL

    seqs = await say(database, [message(Role.USER, 10), message(Role.USER, 90_000)])
    await cover(database, seqs[-1])
    await compactor.run(ALICE)
    assert await start(database) <= seqs[-1]


async def test_a_temporary_session_is_left_alone(database, compactor):
    await say(database, [message(role) for _ in range(20) for role in Role], SessionId("temp-1"))

    assert await compactor.due() == []


async def test_a_session_that_is_reset_meanwhile_is_not_moved(database):
    seqs = await pairs(database, 12)
    await cover(database, seqs[-1])
    async with database.reading() as reader:
        known = await sessions_table.find(reader, ALICE)
    async with database.unit() as unit:
        await sessions_table.bump_epoch(unit, ALICE, now_ns=1)

    async with database.unit() as unit:
        assert not await sessions_table.move_start(unit, known, seqs[3])


async def test_a_summary_that_is_given_up_meanwhile_holds_the_cutoff_back(
    database, compactor, monkeypatch
):
    seqs = await pairs(database, 12)
    await cover(database, seqs[-1])
    find = compactor._cut

    async def found_and_edited(reader, session):
        cut = await find(reader, session)
        async with database.unit() as unit:
            await summaries_table.rewind(unit, ALICE, seq=seqs[0])
        return cut

    monkeypatch.setattr(compactor, "_cut", found_and_edited)

    assert await compactor.run(ALICE) is Compacted.UNSUMMARISED
    assert await start(database) == 0


async def test_the_running_count_is_what_the_export_takes(database, compactor):
    seqs = await pairs(database, 12)
    await say(database, [NewMessage(role=Role.USER, text="a", sent_at_ns=1, platform_id='"1')])
    assert await size(database) == await exported_bytes(database)

    async with database.unit() as unit:
        await unit.execute("UPDATE messages SET text = '綠茶😀' WHERE seq = ?", (seqs[-1],))
        await unit.execute("DELETE FROM messages WHERE seq = ?", (seqs[-2],))
    assert await size(database) == await exported_bytes(database)

    await cover(database, seqs[-1])
    await compactor.run(ALICE)
    assert await start(database) > 0
    assert await size(database) == await exported_bytes(database)

    async with database.unit() as unit:
        await unit.execute("DELETE FROM messages WHERE seq = ?", (seqs[0],))
        await unit.execute("UPDATE messages SET text = '' WHERE seq = ?", (seqs[1],))
    assert await size(database) == await exported_bytes(database)

    async with database.unit() as unit:
        await messages_table.clear(unit, ALICE)
    assert await size(database) == 0


@settings(max_examples=60)
@given(st.text().map(scrub), st.text(min_size=1).map(scrub), st.none() | st.text().map(scrub))
def test_sqlite_counts_the_bytes_that_python_writes(text, name, platform_id):
    connection = sqlite3.connect(":memory:")
    connection.create_function("kith_segments", 2, indexed, deterministic=True)
    for script in sorted(MEMORY_SCHEMA.directory.iterdir(), key=lambda one: one.name):
        for statement in statements(script.read_text()):
            connection.execute(statement)
    connection.execute(
        "INSERT INTO sessions (id, title, created_at_ns, active_at_ns) VALUES ('a', '', 1, 1)"
    )
    written = NewMessage(
        role=Role.USER,
        text=text,
        sent_at_ns=5,
        speaker=Speaker(person=PersonId("p"), name=name),
        platform_id=platform_id,
    )
    connection.execute(
        "INSERT INTO messages (session, role, text, sent_at_ns, person, name, platform_id)"
        " VALUES (1, 'user', ?, 5, 'p', ?, ?)",
        (text, name, platform_id),
    )
    [(counted,)] = connection.execute("SELECT record_bytes FROM messages")
    connection.close()

    assert counted == len(to_line(written).encode()) + 1
    assert json.loads(to_line(written))["content"] == text


async def test_fewer_than_four_messages_are_left_alone_however_big(database, compactor):
    seqs = await say(database, [message(role, 5_000) for role in (*Role, Role.USER)])
    await cover(database, seqs[-1])
    assert await compactor.run(ALICE) is Compacted.SMALL

    [last] = await say(database, [message(Role.ASSISTANT, 10)])
    await cover(database, last)

    assert await compactor.run(ALICE) is Compacted.MOVED
    assert await start(database) == seqs[1] + 1
