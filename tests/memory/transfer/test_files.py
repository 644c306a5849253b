from datetime import UTC
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.pools.entry import Pool, Scope, Tag
from memory.transfer.finding import find
from memory.transfer.history_database import HistoryDatabase, sessions_in
from memory.transfer.interface import BadValue, Problems
from memory.transfer.pool_file import entries_in
from memory.transfer.summary_file import cursor_in, summary_in
from memory.transfer.times import NS, from_local, from_rfc3339, to_local, to_rfc3339
from tests.memory.transfer.stage import archive

TAIPEI = ZoneInfo("Asia/Taipei")
BERLIN = ZoneInfo("Europe/Berlin")
AT_S = 1_700_000_000


@given(st.integers(0, 4_000_000_000 * NS), st.sampled_from([UTC, TAIPEI, BERLIN]))
def test_times_read_back_equal(at_ns, zone):
    assert from_rfc3339(to_rfc3339(at_ns), None) == at_ns
    # Of the hour that a zone's clocks show twice the earlier one is taken.
    assert at_ns // NS - from_local(to_local(at_ns, zone), zone) // NS in (0, 3600)


def test_a_local_time_is_read_in_the_operators_zone():
    assert from_local("2023-11-15 06:13:20\n", TAIPEI) == AT_S * NS
    assert from_rfc3339("2023-11-15T06:13:20", TAIPEI) == AT_S * NS
    assert from_rfc3339("2023-11-14T23:13:20.5+01:00", TAIPEI) == AT_S * NS + NS // 2


@pytest.mark.parametrize("text", ["", "soon", "2023-13-01 00:00:00", "2023-11-15", "\x00"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(BadValue):
        from_local(text, TAIPEI)
    with pytest.raises(BadValue):
        from_rfc3339(text, TAIPEI)


async def test_the_rows_of_one_session_are_read_in_order_with_their_numbers(tmp_path):
    path = tmp_path / "history.db"
    rows = [
        ("a", 2, "user", "綠茶", "小明"),
        ("b", 3, "user", "x", ""),
        ("a", 1, "assistant", "好", ""),
    ]
    archive(path, rows)
    problems = Problems()

    found = [one async for one in HistoryDatabase(path=path, session="a").records(problems)]

    assert await sessions_in(path, problems) == ["a", "b"]
    assert [(one.line, one.text, one.sent_at_ns) for one in found] == [(1, "綠茶", 2), (3, "好", 1)]
    assert problems.count == 0


async def test_rows_of_the_wrong_kind_are_named_and_a_foreign_database_is_left_as_it_is(tmp_path):
    path = tmp_path / "history.db"
    archive(
        path,
        [("a", "soon", "user", "x", ""), ("a", 1, "user", b"\xff", ""), (7, 1, "user", "x", "")],
    )
    before = path.read_bytes()
    problems = Problems()

    found = [one async for one in HistoryDatabase(path=path, session="a").records(problems)]

    assert (found, [one.line for one in problems.listed]) == ([], [1, 2])
    assert await sessions_in(path, problems) == ["a"]
    assert problems.count == 3
    assert path.read_bytes() == before


async def test_a_database_without_messages_or_that_is_none_is_a_problem(tmp_path):
    for content in (b"", b"SQLite format 3\0" + b"x" * 5_000):
        path = tmp_path / "history.db"
        path.write_bytes(content)
        problems = Problems()

        assert await sessions_in(path, problems) == []
        assert problems.count == 1


@pytest.mark.parametrize(
    "text",
    [
        '{"key_decisions": ["要：綠茶"], "past_discussions": [], "current_discussion": {}}',
        '{"confirmed_needs": ["綠茶"], "core_discussion": ""}',
    ],
)
def test_a_summary_is_read_in_both_its_forms(tmp_path, text):
    path = tmp_path / "summary.json"
    path.write_text(text)

    assert summary_in(path, Problems()).key_decisions == ("Do: 綠茶",)


def test_no_summary_yet_is_no_problem_and_a_broken_one_is(tmp_path):
    path = tmp_path / "summary.json"
    counts = []
    for text in ("", "{}", '{"key_decisions":', "[]"):
        path.write_text(text)
        problems = Problems()
        assert summary_in(path, problems) is None
        counts.append(problems.count)

    assert counts == [0, 0, 1, 1]


def test_a_cursor_covers_its_whole_second(tmp_path):
    path = tmp_path / ".summary_cursor"
    path.write_text("2023-11-15 06:13:20\n")
    assert cursor_in(path, TAIPEI, Problems()) == (AT_S + 1) * NS

    problems = Problems()
    path.write_text("yesterday")
    assert cursor_in(path, TAIPEI, problems) is None
    assert [one.line for one in problems.listed] == [1]


def test_pool_entries_are_read_with_what_the_file_gives_of_them(tmp_path):
    path = tmp_path / "archival.jsonl"
    path.write_text(
        '{"content": "喜歡\\n綠茶 ", "tag": "refined", "timestamp": "2023-11-14T22:13:20Z"}\n'
        '{"content": "x", "tag": "new kind", "sender": "Anna", "scope": "person"}\n'
        '{"content": " "}\n{"tag": "fact"}\n{"content": "x", "timestamp": "soon"}\n'
    )
    problems = Problems()

    first, second = entries_in(path, TAIPEI, problems)

    assert (first.content, first.tag, first.scope) == ("喜歡 綠茶", Tag.REFINED, Scope.GROUP)
    assert first.said_at_ns == AT_S * NS
    assert (second.tag, second.scope, second.speaker.name) == (Tag.IMPORTED, Scope.PERSON, "Anna")
    assert [one.line for one in problems.listed] == [4, 5]


async def test_a_whole_installation_is_found_with_the_archive_before_the_newer_file(tmp_path):
    for name in ("cli-main", "temp-9", "empty"):
        (tmp_path / "sessions" / name).mkdir(parents=True)
    (tmp_path / "sessions/cli-main/history.json").write_text("[]")
    (tmp_path / "sessions/temp-9/history.json").write_text("[]")
    (tmp_path / ".store").mkdir()
    archive(
        tmp_path / ".store/history.db",
        [("cli-main", 1, "user", "x", ""), ("tg-1", 1, "user", "x", "")],
    )
    (tmp_path / "SOUL.md").write_text("be kind")

    found = await find(tmp_path, None, Problems())

    assert [one.name for one in found.sessions] == ["cli-main", "tg-1"]
    assert [one.path.name for one in found.sessions[0].histories] == ["history.db", "history.json"]
    assert [page.name for page in found.pages] == ["SOUL.md"]
    assert found.passed_over == ("temp-9",)


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("history.json", "[]", "histories"),
        ("talk.jsonl", '{"role": "user", "content": "x"}', "histories"),
        ("facts.jsonl", '{"content": "x", "tag": "fact"}', "pools"),
        ("short_term.json", "[]", "pools"),
        ("summary.json", "{}", "summary"),
    ],
)
async def test_a_single_file_is_known_by_its_name_or_its_first_entry(tmp_path, name, text, what):
    (tmp_path / name).write_text(text)

    [files] = (await find(tmp_path / name, None, Problems())).sessions

    assert getattr(files, what)
    assert files.name == tmp_path.name


async def test_the_short_pool_is_told_from_the_long_one(tmp_path):
    for name in ("short_term.json", "long_term.json", "archival.jsonl"):
        (tmp_path / name).write_text("")

    [files] = (await find(tmp_path, None, Problems())).sessions

    assert [one.pool for one in files.pools] == [Pool.SHORT, Pool.LONG, Pool.LONG]


@pytest.mark.parametrize("name", ["none", "picture.png", "empty"])
async def test_nothing_to_import_is_a_problem(tmp_path, name):
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff\x00")
    (tmp_path / "empty").mkdir()
    problems = Problems()

    found = await find(tmp_path / name, None, problems)

    assert (found.sessions, problems.count) == ((), 1)


@pytest.mark.parametrize("meta", ["message_meta", "session_meta"])
async def test_the_cutoff_of_a_compacted_session_is_found(tmp_path, meta):
    rows = [("a", 1, "user", "x", ""), ("b", 1, "user", "x", "")]
    archive(tmp_path / "history.db", rows, cutoffs=[("a", 7)], meta=meta)

    found = await find(tmp_path / "history.db", None, Problems())

    assert [(one.name, one.hot_from_ns) for one in found.sessions] == [("a", 7), ("b", None)]
