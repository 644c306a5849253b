import pytest

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.errors import SessionMoved
from memory.summary import summaries_table
from memory.summary.summaries_table import NOTHING_STORED, VERSIONS_KEPT, Cursor
from memory.summary.value import Summary
from memory.values import NewMessage, Role, Seq, SessionId
from tests.fakes import NOON_NS

ALICE = SessionId("telegram-1")
BOB = SessionId("discord-2")


@pytest.fixture
async def database(tmp_path):
    async with open_database(tmp_path / "kith.db") as opened:
        yield opened


def digest(text):
    return Summary(key_decisions=(f"Do: {text}",))


async def say(database, session, *texts):
    async with database.unit() as unit:
        number, _ = await sessions_table.touch(unit, session, title="", now_ns=NOON_NS)
        messages = [NewMessage(role=Role.USER, text=text, sent_at_ns=NOON_NS) for text in texts]
        return await messages_table.append(unit, number, messages)


async def save(database, session, text, seq, *, chars=0):
    async with database.unit() as unit:
        cursor = None if seq is None else Cursor(seq=Seq(seq), chars=chars)
        await summaries_table.save(
            unit,
            session,
            summary=digest(text),
            cursor=cursor,
            expected=await summaries_table.state(unit, session),
            now_ns=NOON_NS,
        )


async def current(database, session):
    async with database.reading() as reader:
        return await summaries_table.current(reader, session)


async def due(database):
    async with database.reading() as reader:
        return await summaries_table.due(reader)


async def test_before_the_first_summary_the_cursor_stands_before_every_message(database):
    await say(database, ALICE, "hi")

    assert await current(database, ALICE) == NOTHING_STORED


async def test_summary_and_cursor_come_back_as_they_were_saved(database):
    _, last = await say(database, ALICE, "一", "two")

    await save(database, ALICE, "貓", last, chars=7)

    stored = await current(database, ALICE)
    assert (stored.summary, stored.cursor) == (digest("貓"), Cursor(seq=last, chars=7))
    assert stored.cursor_sent_at_ns == NOON_NS
    assert await current(database, BOB) == NOTHING_STORED


async def test_a_summary_may_come_without_a_cursor(database):
    await say(database, ALICE, "hi")

    await save(database, ALICE, "imported", None)

    assert (await current(database, ALICE)).cursor is None


@pytest.mark.parametrize("change", ["reset", "other run", "removed", "edit", "deletion"])
async def test_nothing_is_saved_once_the_session_has_moved(database, change):
    [seq] = await say(database, ALICE, "hi")
    async with database.reading() as reader:
        expected = await summaries_table.state(reader, ALICE)
    if change == "other run":
        await save(database, ALICE, "first", seq)
    else:
        async with database.unit() as unit:
            if change == "reset":
                await sessions_table.bump_epoch(unit, ALICE, now_ns=NOON_NS)
            elif change == "removed":
                await sessions_table.remove(unit, ALICE)
            elif change == "edit":
                await unit.execute("UPDATE messages SET text = 'other' WHERE seq = ?", (seq,))
            else:
                await unit.execute("DELETE FROM messages WHERE seq = ?", (seq,))

    with pytest.raises(SessionMoved):
        async with database.unit() as unit:
            await summaries_table.save(
                unit,
                ALICE,
                summary=digest("late"),
                cursor=Cursor(seq=seq),
                expected=expected,
                now_ns=NOON_NS,
            )

    assert (await current(database, ALICE)).summary != digest("late")


async def test_only_the_last_few_versions_are_kept(database):
    seqs = await say(database, ALICE, *"abcdefgh")
    await say(database, BOB, "x")
    await save(database, BOB, "bob", seqs[0])

    for seq in seqs:
        await save(database, ALICE, str(seq), seq)

    async with database.reading() as reader:
        rows = await reader.rows("SELECT session, count(*) AS n FROM summaries GROUP BY session")
    assert sorted(row["n"] for row in rows) == [1, VERSIONS_KEPT]
    assert (await current(database, ALICE)).summary == digest(str(seqs[-1]))


async def test_a_spoilt_version_is_passed_over_with_its_cursor(database):
    first, last = await say(database, ALICE, "a", "b")
    await save(database, ALICE, "good", first)
    await save(database, ALICE, "spoilt", last)
    async with database.unit() as unit:
        await unit.execute("UPDATE summaries SET body = '{' WHERE cursor_seq = ?", (last,))

    stored = await current(database, ALICE)

    assert (stored.summary, stored.cursor) == (digest("good"), Cursor(seq=first))


async def test_a_session_is_due_from_its_first_message_until_the_cursor_is_behind_its_last(
    database,
):
    first, last = await say(database, ALICE, "a", "b")
    assert await due(database) == [ALICE]

    await save(database, ALICE, "half", first)
    assert await due(database) == [ALICE]

    await save(database, ALICE, "all", last)
    assert await due(database) == []

    await say(database, ALICE, "c")
    assert await due(database) == [ALICE]


async def test_temporary_sessions_are_never_due(database):
    await say(database, SessionId("temp-1"), "a")

    assert await due(database) == []


async def test_the_due_list_reads_only_sessions_that_have_something_new(database):
    async with database.unit() as unit:
        await unit.execute("""
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
            INSERT INTO sessions (id, title, created_at_ns, active_at_ns)
            SELECT 'cli-' || i, '', 0, 0 FROM n
        """)
        await unit.execute("""
            INSERT INTO messages (session, role, text, sent_at_ns)
            SELECT number, 'user', 'x', 0 FROM sessions
        """)
        await unit.execute("DELETE FROM summary_due")
    await say(database, SessionId("cli-77"), "new")
    await say(database, SessionId("cli-9000"), "new")

    async with database.reading() as reader:
        plan = [
            row["detail"] for row in await reader.rows(f"EXPLAIN QUERY PLAN {summaries_table.DUE}")
        ]
        found = await summaries_table.due(reader)

    assert found == ["cli-77", "cli-9000"]
    assert plan[0].startswith("SCAN d")  # the two marks, nothing else
    assert plan[1] == "SEARCH s USING INTEGER PRIMARY KEY (rowid=?)"
    assert not any("messages" in step for step in plan)


async def test_an_edit_gives_up_the_versions_that_cover_it_and_no_others(database):
    seqs = await say(database, ALICE, "a", "b", "c")
    for seq in seqs:
        await save(database, ALICE, str(seq), seq)
    assert await due(database) == []

    async with database.unit() as unit:
        assert await summaries_table.rewind(unit, ALICE, seq=seqs[1])

    assert (await current(database, ALICE)).cursor == Cursor(seq=seqs[0])
    assert await due(database) == [ALICE]


async def test_an_edit_behind_the_cursor_gives_up_nothing(database):
    first, last = await say(database, ALICE, "a", "b")
    await save(database, ALICE, "x", first)

    async with database.unit() as unit:
        assert not await summaries_table.rewind(unit, ALICE, seq=last)

    assert (await current(database, ALICE)).summary == digest("x")


async def test_an_edit_of_a_half_covered_message_gives_the_version_up(database):
    first, half = await say(database, ALICE, "a", "long")
    await save(database, ALICE, "x", first, chars=2)

    async with database.unit() as unit:
        assert await summaries_table.rewind(unit, ALICE, seq=half)

    assert await current(database, ALICE) == NOTHING_STORED


async def test_a_summary_that_outlives_its_messages_covers_nothing_of_the_next(database):
    first, _ = await say(database, ALICE, "a", "long")
    await save(database, ALICE, "x", first, chars=2)

    async with database.unit() as unit:
        assert await summaries_table.detach(unit, ALICE)

    assert (await current(database, ALICE)).cursor == Cursor(seq=first)


async def test_clearing_leaves_no_version_and_what_is_left_of_the_talk_is_due(database):
    seqs = await say(database, ALICE, "a", "b")
    for seq in seqs:
        await save(database, ALICE, "x", seq)

    async with database.unit() as unit:
        assert await summaries_table.clear(unit, ALICE)

    assert await current(database, ALICE) == NOTHING_STORED
    assert await due(database) == [ALICE]
