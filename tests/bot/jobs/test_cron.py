from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.errors import UsageError
from bot.jobs.cron import parse_cron

BERLIN = ZoneInfo("Europe/Berlin")
TAIPEI = ZoneInfo("Asia/Taipei")


def times(expression, zone, start, count):
    """When it is due from a local time on, as local times."""
    cron = parse_cron(expression, zone)
    now_ns = int(datetime.fromisoformat(start).replace(tzinfo=zone).timestamp()) * 10**9
    found = []
    for _ in range(count):
        now_ns = cron.next_after(now_ns)
        found.append(datetime.fromtimestamp(now_ns // 10**9, tz=UTC).astimezone(zone))
    return [f"{at:%a %m-%d %H:%M}" for at in found]


def test_every_quarter_of_an_hour():
    assert times("*/15 * * * *", TAIPEI, "2026-01-01 23:50", 3) == [
        "Fri 01-02 00:00",
        "Fri 01-02 00:15",
        "Fri 01-02 00:30",
    ]


def test_the_time_asked_from_does_not_count():
    assert times("0 9 * * *", TAIPEI, "2026-01-01 09:00", 1) == ["Fri 01-02 09:00"]


@pytest.mark.parametrize(
    ("weekdays", "wanted"),
    [
        ("0", ["Sun"]),
        ("7", ["Sun"]),
        ("1", ["Mon"]),
        ("1-5", ["Mon", "Tue", "Wed", "Thu", "Fri"]),
        ("0-2", ["Sun", "Mon", "Tue"]),
        ("5-7", ["Fri", "Sat", "Sun"]),
        ("mon,3", ["Mon", "Wed"]),
        ("Sat-Sun", ["Sat", "Sun"]),
    ],
)
def test_weekdays_are_numbered_as_cron_does_it_from_sunday(weekdays, wanted):
    found = times(f"0 9 * * {weekdays}", TAIPEI, "2026-01-01 10:00", len(wanted) * 2)

    assert {day.split()[0] for day in found} == set(wanted)


def test_a_time_that_the_clock_skips_is_due_an_hour_later_once():
    assert times("30 2 * * *", BERLIN, "2026-03-28 12:00", 2) == [
        "Sun 03-29 03:30",
        "Mon 03-30 02:30",
    ]


def test_a_time_that_comes_twice_is_due_once():
    assert times("30 2 * * *", BERLIN, "2026-10-24 12:00", 2) == [
        "Sun 10-25 02:30",
        "Mon 10-26 02:30",
    ]


def test_an_open_hour_field_goes_on_through_both_changes():
    cron = parse_cron("*/30 * * * *", BERLIN)
    for start in (datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)):
        now_ns, stop = int(start.timestamp()) * 10**9, start + timedelta(hours=4)
        steps = []
        while now_ns < stop.timestamp() * 10**9:
            due = cron.next_after(now_ns)
            steps.append((due - now_ns) // 10**9)
            now_ns = due
        assert set(steps) == {1_800}


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "* * * *",
        "61 * * * *",
        "* * * * 9",
        "a b c d e",
        "0 0 1 * 1",
        "0 0 * * 5-2",
        "*/0 * * * *",
    ],
)
def test_what_is_no_cron_expression_is_refused(expression):
    with pytest.raises(UsageError):
        parse_cron(expression, TAIPEI)


def test_an_expression_that_is_never_due_says_so():
    with pytest.raises(UsageError, match="never due"):
        parse_cron("0 0 31 2 *", TAIPEI).next_after(0)
