from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.jobs.schedule import SCHEDULE, Daily, Every

BERLIN = ZoneInfo("Europe/Berlin")
TAIPEI = ZoneInfo("Asia/Taipei")
KATHMANDU = ZoneInfo("Asia/Kathmandu")  # 5 hours and 45 minutes ahead of UTC
TORONTO = ZoneInfo("America/Toronto")  # went from 23:30 on 30 March 1919 to 00:30
APIA = ZoneInfo("Pacific/Apia")  # had no 30 December 2011
NIGHT = Daily(at=time(2, 30))


def times(schedule, zone, start, count):
    """When it is due from a local time on, as local times."""
    now_ns = int(datetime.fromisoformat(start).replace(tzinfo=zone).timestamp()) * 10**9
    found = []
    for _ in range(count):
        now_ns = schedule.next_after(now_ns, zone)
        found.append(datetime.fromtimestamp(now_ns // 10**9, tz=UTC).astimezone(zone))
    return [f"{at:%a %m-%d %H:%M}" for at in found]


def test_every_quarter_of_an_hour():
    assert times(Every(minutes=15), TAIPEI, "2026-01-01 23:50", 3) == [
        "Fri 01-02 00:00",
        "Fri 01-02 00:15",
        "Fri 01-02 00:30",
    ]


def test_the_minutes_of_an_hour_may_begin_later():
    assert times(Every(minutes=15, offset=7), TAIPEI, "2026-01-01 23:07", 4) == [
        "Thu 01-01 23:22",
        "Thu 01-01 23:37",
        "Thu 01-01 23:52",
        "Fri 01-02 00:07",
    ]


def test_the_minute_is_the_local_one():
    assert times(Every(minutes=60, offset=12), KATHMANDU, "2026-01-01 09:12", 2) == [
        "Thu 01-01 10:12",
        "Thu 01-01 11:12",
    ]


@pytest.mark.parametrize("schedule", [Daily(at=time(9)), Every(minutes=60)])
def test_the_time_asked_from_does_not_count(schedule):
    assert times(schedule, TAIPEI, "2026-01-01 09:00", 1)[0] != "Thu 01-01 09:00"


def test_a_part_of_a_second_before_it_is_due_it_is_due_at_once():
    nine_ns = int(datetime(2026, 1, 1, 9, tzinfo=TAIPEI).timestamp()) * 10**9

    assert Daily(at=time(9)).next_after(nine_ns - 1, TAIPEI) == nine_ns
    assert Every(minutes=60).next_after(nine_ns - 1, TAIPEI) == nine_ns


def test_a_time_of_day_comes_once_a_day():
    assert times(Daily(at=time(4, 23)), TAIPEI, "2026-01-01 04:22", 3) == [
        "Thu 01-01 04:23",
        "Fri 01-02 04:23",
        "Sat 01-03 04:23",
    ]


def test_a_time_that_the_clock_skips_is_due_an_hour_later_once():
    assert times(NIGHT, BERLIN, "2026-03-28 12:00", 2) == ["Sun 03-29 03:30", "Mon 03-30 02:30"]


def test_a_time_before_midnight_that_the_clock_skips_is_due_after_it():
    due = times(Daily(at=time(23, 45)), TORONTO, "1919-03-31 00:35", 2)

    assert due == ["Mon 03-31 00:45", "Mon 03-31 23:45"]


def test_a_time_that_comes_twice_is_due_once():
    assert times(NIGHT, BERLIN, "2026-10-24 12:00", 2) == ["Sun 10-25 02:30", "Mon 10-26 02:30"]


def test_a_day_that_is_skipped_holds_nothing_up():
    assert times(NIGHT, APIA, "2011-12-29 01:00", 3) == [
        "Thu 12-29 02:30",
        "Sat 12-31 02:30",
        "Sun 01-01 02:30",
    ]


def test_minutes_of_the_hour_go_on_through_both_changes():
    every = Every(minutes=30)
    for start in (datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)):
        now_ns, stop = int(start.timestamp()) * 10**9, start + timedelta(hours=4)
        steps = []
        while now_ns < stop.timestamp() * 10**9:
            due = every.next_after(now_ns, BERLIN)
            steps.append((due - now_ns) // 10**9)
            now_ns = due
        assert set(steps) == {1_800}


def test_without_a_zone_the_machines_counts():
    noon_ns = int(datetime(2026, 1, 1, 12).astimezone().timestamp()) * 10**9

    assert Daily(at=time(12)).next_after(noon_ns - 10**9, None) == noon_ns
    assert Every(minutes=60).next_after(noon_ns - 10**9, None) == noon_ns


def test_a_schedule_is_told_in_words():
    assert {name: str(schedule) for name, schedule in SCHEDULE.items()} == {
        "summarise": "every 15 minutes",
        "sweep": "every 30 minutes",
        "compact": "every 15 minutes from minute 7",
        "forget-ids": "every day at 04:23",
        "tools": "every hour at minute 12",
    }
