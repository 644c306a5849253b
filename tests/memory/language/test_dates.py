from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.language.dates import NamedDate, days_named, named_dates

TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Who did Maria dine with on May 3, 2023?", NamedDate(year=2023, month=5, day=3)),
        ("What happened on 3rd of May 2023?", NamedDate(year=2023, month=5, day=3)),
        ("What happened on 8 Oct?", NamedDate(month=10, day=8)),
        ("what did we do in September 2022", NamedDate(year=2022, month=9)),
        ("what did we do in may", NamedDate(month=5)),
        ("在5月6號，我和你分享了一些書籍", NamedDate(month=5, day=6)),
        ("2023年4月27日我們聊了什麼", NamedDate(year=2023, month=4, day=27)),
        ("4月の予定", NamedDate(month=4)),
        ("log of 2023-04-27", NamedDate(year=2023, month=4, day=27)),
        ("what did I say yesterday?", NamedDate(year=2026, month=11, day=29)),
        ("昨天我說了什麼", NamedDate(year=2026, month=11, day=29)),
        ("前天呢", NamedDate(year=2026, month=11, day=28)),
        ("and the day before yesterday?", NamedDate(year=2026, month=11, day=28)),
        ("一昨日の話", NamedDate(year=2026, month=11, day=28)),
        ("大前天呢", NamedDate(year=2026, month=11, day=27)),
    ],
)
def test_days_and_months_are_read_as_people_write_them(text, named):
    assert named_dates(text, TODAY) == [named]


@pytest.mark.parametrize(
    "text",
    ["May I ask you?", "he may come", "march on", "at 5:30", "13月", "今天天氣如何", "90 apples"],
)
def test_what_is_no_date_is_left_alone(text):
    assert named_dates(text, TODAY) == []


def test_a_date_without_a_year_covers_every_year():
    named = NamedDate(month=5, day=6)

    assert named.covers(date(2020, 5, 6))
    assert named.covers(date(2026, 5, 6))
    assert not named.covers(date(2026, 5, 7))


def test_a_day_begins_and_ends_at_local_midnight():
    taipei = timezone(timedelta(hours=8))

    [(begins, ends)] = days_named([NamedDate(year=2026, month=5, day=6)], TODAY, taipei)

    assert datetime.fromtimestamp(begins / 1e9, UTC) == datetime(2026, 5, 5, 16, tzinfo=UTC)
    assert ends - begins == 86_400 * 10**9


def test_a_day_of_any_year_is_looked_for_in_the_last_three():
    assert len(days_named([NamedDate(month=5, day=6)], TODAY, UTC)) == 3
    assert days_named([NamedDate(month=5)], TODAY, UTC) == []
    assert days_named([NamedDate(year=2023, month=2, day=30)], TODAY, UTC) == []


@given(st.text())
def test_no_text_breaks_it(text):
    days_named(named_dates(text, TODAY), TODAY, UTC)


@given(st.from_regex(r"\d{0,5}年?\d{1,3}[月/-]\d{1,3}[日號]?", fullmatch=True))
def test_no_number_breaks_it(text):
    days_named(named_dates(text, TODAY), TODAY, UTC)
