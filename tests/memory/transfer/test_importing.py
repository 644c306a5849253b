import asyncio
import json
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.pools.entry import Pool
from memory.summary import summaries_table
from memory.transfer import importing
from memory.transfer.checking import check, session_named
from memory.transfer.importing import store, take_pages
from memory.transfer.interface import ImportRefused, Problems
from memory.values import NewMessage, Role
from tests.fakes import FakeClock
from tests.memory.transfer.stage import (
    PREFIXES,
    bring_in,
    entries,
    messages,
    quiet,
    record,
    summary,
    texts,
    write_history,
)
from tests.memory.transfer.stage import archive as archived

NS = 10**9


@pytest.fixture
async def database(tmp_path):
    async with open_database(tmp_path / "kith.db") as opened:
        yield opened


@pytest.fixture
def place(tmp_path):
    directory = tmp_path / "cli-old"
    directory.mkdir()
    return directory


async def test_a_sessions_files_come_in_whole(database, place):
    write_history(
        place / "history.json",
        [
            record("我喜歡綠茶", 10 * NS),
            record("noted", 11 * NS, "assistant"),
            record("ok", 12 * NS),
        ],
    )
    (place / "summary.json").write_text('{"key_decisions": ["綠茶"], "past_discussions": []}')
    (place / ".summary_cursor").write_text("1970-01-01 00:00:11")
    (place / "archival.jsonl").write_text('{"content": "喜歡綠茶", "tag": "fact"}\n')

    [done] = await bring_in(place, database, zone=ZoneInfo("UTC"))

    assert (done.messages, done.known, done.entries, done.summary) == (3, 0, 1, True)
    stored = await messages(database, "cli-old")
    assert [one.text for one in stored] == ["我喜歡綠茶", "noted", "ok"]
    held = await summary(database, "cli-old")
    assert held.summary.key_decisions == ("Do: 綠茶",)
    assert held.cursor.seq == stored[1].seq
    [fact] = await entries(database, "cli-old")
    assert (fact.content, fact.pool) == ("喜歡綠茶", Pool.LONG)


async def test_nothing_comes_in_twice(database, place):
    write_history(place / "history.json", [record("a", 1), record("a", 1), record("a", 2)])
    (place / "long_term.json").write_text('[{"content": "x"}, {"content": "x"}]')
    await bring_in(place, database)

    [again] = await bring_in(place, database)

    assert (again.messages, again.entries) == (0, 0)
    assert await texts(database, "cli-old") == ["a", "a"]
    assert len(await entries(database, "cli-old")) == 1


async def test_a_file_that_has_grown_brings_its_new_messages(database, place):
    write_history(place / "history.json", [record("a", 1), record("b", 2)])
    await bring_in(place, database)
    write_history(place / "history.json", [record("b", 2), record("c", 3)])

    [done] = await bring_in(place, database)

    assert (done.messages, done.known) == (1, 1)
    assert await texts(database, "cli-old") == ["a", "b", "c"]


async def test_messages_without_a_time_follow_the_one_before_them_and_stay_known(database, place):
    write_history(
        place / "history.json",
        [record("a", 0), record("b", None), record("c", 50), record("d", 0), record("e", 60)],
    )
    await bring_in(place, database)
    await bring_in(place, database)

    times = [(one.text, one.sent_at_ns) for one in await messages(database, "cli-old")]

    assert times == [("a", 48), ("b", 49), ("c", 50), ("d", 51), ("e", 60)]


async def test_nothing_of_a_broken_import_is_stored_and_every_problem_is_named(database, place):
    write_history(place / "history.json", [record("fine", 1)])
    (place / "long_term.json").write_text('[{"content": 7}]')
    (place / "summary.json").write_text("{broken")
    other = place / "more"
    write_history(other / "history.json", [record("fine", 1), {"role": "user", "content": 1}])

    with pytest.raises(ImportRefused) as refused:
        await bring_in(place, database)

    where = [(one.file.name, one.line) for one in refused.value.problems.listed]
    assert sorted(where) == [("history.json", 1), ("long_term.json", 1), ("summary.json", 1)]
    async with database.reading() as reader:
        assert await sessions_table.every(reader) == []


async def test_a_problem_never_says_what_was_written(database, place):
    (place / "history.json").write_text('[{"role": "user", "content": "secret", "sendAt": "x"}]')

    with pytest.raises(ImportRefused) as refused:
        await bring_in(place, database)

    assert "secret" not in str(refused.value)


async def test_messages_from_before_stored_ones_are_refused_rather_than_put_behind_them(
    database, place
):
    write_history(place / "history.json", [record("old", 1), record("new", 20)])
    async with database.unit() as unit:
        number, _ = await sessions_table.touch(unit, "cli-old", title="", now_ns=10)
        lived = NewMessage(role=Role.USER, text="lived", sent_at_ns=10)
        await messages_table.append(unit, number, [lived])

    with pytest.raises(ImportRefused, match="--session"):
        await bring_in(place, database)

    assert await texts(database, "cli-old") == ["lived"]
    await bring_in(place, database, session=session_named("kept", PREFIXES))
    assert await texts(database, "cli-kept") == ["old", "new"]


async def test_a_session_that_keeps_no_transcript_takes_facts_but_no_messages(database, place):
    async with database.unit() as unit:
        await sessions_table.touch(unit, "cli-old", title="", now_ns=1)
        await unit.execute("UPDATE sessions SET mode = 'pools'")
    write_history(place / "history.json", [record("private", 1)])

    with pytest.raises(ImportRefused, match="keeps none"):
        await bring_in(place, database)

    (place / "history.json").unlink()
    (place / "short_term.json").write_text('[{"content": "a fact"}]')
    [done] = await bring_in(place, database)
    assert (done.messages, done.entries) == (0, 1)


async def test_a_session_keeps_the_summary_that_it_has(database, place):
    write_history(place / "history.json", [record("a", 1)])
    await bring_in(place, database)
    async with database.unit() as unit:
        state = await summaries_table.state(unit, "cli-old")
        mine = replace(
            (await summaries_table.current(unit, "cli-old")).summary, key_decisions=("Do: x",)
        )
        await summaries_table.save(
            unit, "cli-old", summary=mine, cursor=None, expected=state, now_ns=1
        )
    (place / "summary.json").write_text('{"key_decisions": [], "past_discussions": []}')

    [done] = await bring_in(place, database)

    assert not done.summary
    assert (await summary(database, "cli-old")).summary == mine


async def test_a_cursor_never_covers_a_message_that_was_sent_after_it(database, place):
    times = [10 * NS, 13 * NS, 11 * NS]
    write_history(place / "history.json", [record(str(at), at) for at in times])
    (place / "summary.json").write_text('{"key_decisions": ["x"], "past_discussions": []}')
    (place / ".summary_cursor").write_text("1970-01-01 00:00:11")

    await bring_in(place, database, zone=ZoneInfo("UTC"))

    first = (await messages(database, "cli-old"))[0]
    assert (await summary(database, "cli-old")).cursor.seq == first.seq


async def test_an_interrupted_import_goes_on_behind_its_last_batch(database, place, monkeypatch):
    monkeypatch.setattr(importing, "BATCH_MESSAGES", 10)
    write_history(place / "history.json", [record(f"m{n}", n + 1) for n in range(35)])
    kept = []

    class PowerCut(Exception):
        pass

    def cut(what, done, _total):
        kept.append(done)
        if what.startswith("importing") and done == 20:
            raise PowerCut

    with pytest.raises(PowerCut):
        await bring_in(place, database, progress=cut)
    assert len(await texts(database, "cli-old")) == 20

    [done] = await bring_in(place, database)

    assert (done.messages, done.known) == (15, 20)
    assert await texts(database, "cli-old") == [f"m{n}" for n in range(35)]


async def test_an_interrupted_import_goes_on_also_where_times_in_the_file_go_back(
    database, place, monkeypatch
):
    monkeypatch.setattr(importing, "BATCH_MESSAGES", 2)
    times = [1, 1_000, 2, 3, 4]
    write_history(place / "history.json", [record(str(at), at) for at in times])

    class PowerCut(Exception):
        pass

    def cut(what, done, _total):
        if what.startswith("importing") and done == 2:
            raise PowerCut

    with pytest.raises(PowerCut):
        await bring_in(place, database, progress=cut)
    await bring_in(place, database)

    assert await texts(database, "cli-old") == [str(at) for at in times]


async def test_what_was_deleted_may_be_imported_again(database, place):
    write_history(place / "history.json", [record("a", 1), record("b", 2)])
    await bring_in(place, database)
    async with database.unit() as unit:
        await messages_table.clear(unit, "cli-old")

    [done] = await bring_in(place, database)

    assert done.messages == 2


async def test_a_file_that_shrinks_after_the_check_is_noticed(database, place):
    path = place / "history.json"
    write_history(path, [record("a", 1), record("b", 2)])
    async with database.reading() as reader:
        checked = await check(
            place, reader, session=None, zone=None, progress=quiet, prefixes=PREFIXES
        )
    write_history(path, [record("a", 1)])

    with pytest.raises(ImportRefused, match="changed"):
        await store(checked, database, FakeClock(), quiet)


async def test_several_sessions_do_not_go_into_one(database, tmp_path):
    for name in ("a", "b"):
        write_history(tmp_path / "all" / name / "history.json", [record("x", 1)])

    with pytest.raises(ImportRefused, match="several"):
        await bring_in(tmp_path / "all", database, session=session_named("one", PREFIXES))

    assert [one.session for one in await bring_in(tmp_path / "all", database)] == ["cli-a", "cli-b"]


@pytest.mark.parametrize(
    ("name", "session"),
    [
        ("cli-main", "cli-main"),
        ("dc-0f", "dc-0f"),
        ("work", "cli-work"),
        ("", "cli-imported"),
        ("a\nb\x1b", "cli-ab"),
    ],
)
def test_a_session_keeps_its_name_where_kith_could_have_given_it(name, session):
    assert session_named(name, PREFIXES) == session


def test_pages_are_taken_where_there_are_none_and_a_persons_own_are_kept(tmp_path):
    source, home = tmp_path / "source", tmp_path / "home"
    for directory in (source, home):
        directory.mkdir()
    (source / "SOUL.md").write_text("be kind")
    (source / "MEMORY.md").write_text("綠茶")
    (home / "SOUL.md").write_text("my own")

    pages = [source / "SOUL.md", source / "MEMORY.md"]

    assert take_pages(pages, home) == (["MEMORY.md"], ["SOUL.md"])
    assert (home / "SOUL.md").read_text() == "my own"
    assert (home / "MEMORY.md").read_text() == "綠茶"


def test_a_page_that_is_no_text_stops_all_of_them(tmp_path):
    (tmp_path / "SOUL.md").write_text("fine")
    (tmp_path / "MEMORY.md").write_bytes(b"\xff\xfe")
    home = tmp_path / "home"
    home.mkdir()

    with pytest.raises(ImportRefused):
        take_pages([tmp_path / "SOUL.md", tmp_path / "MEMORY.md"], home)

    assert list(home.iterdir()) == []


async def test_a_long_history_is_read_in_pieces(database, place):
    path = place / "history.jsonl"
    with path.open("w") as file:
        for n in range(3_000):
            file.write(json.dumps(record("綠茶 tea " * 20, n + 1)) + "\n")

    [done] = await bring_in(path, database)

    assert done.messages == 3_000


async def test_reading_a_long_file_once_more_keeps_nobody_waiting(place):
    write_history(place / "history.json", [record("hi", n * NS) for n in range(1, 1_001)])
    checked = await check(place, None, session=None, zone=None, progress=quiet, prefixes=PREFIXES)
    [history] = checked.sessions[0].histories
    turns = 0

    async def others():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    async for _ in history.messages(Problems()):
        pass
    task.cancel()

    assert turns >= 3


@pytest.mark.parametrize(("covered_s", "start"), [(12, 3), (10, 2)])
async def test_a_cutoff_is_taken_over_as_far_as_the_summary_reaches(
    database, tmp_path, covered_s, start
):
    place = tmp_path / "old"
    write_history(place / "cli-old/history.json", [record("d", 13 * NS)])
    (place / "cli-old/summary.json").write_text('{"key_decisions": ["x"], "past_discussions": []}')
    (place / "cli-old/.summary_cursor").write_text(f"1970-01-01 00:00:{covered_s}")
    rows = [("cli-old", n * NS, "user", f"m{n}", "") for n in (10, 11, 12)]
    archived(place / "history.db", rows, cutoffs=[("cli-old", 12 * NS)])

    await bring_in(place, database, zone=ZoneInfo("UTC"))

    assert await texts(database, "cli-old") == ["m10", "m11", "m12", "d"]
    async with database.reading() as reader:
        assert (await sessions_table.find(reader, "cli-old")).start_seq == start
