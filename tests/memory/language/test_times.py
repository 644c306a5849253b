from datetime import UTC, timedelta, timezone
from zoneinfo import ZoneInfo

from memory.language.times import (
    format_day,
    format_minute,
    format_rfc3339,
    format_second,
    format_utc,
    local,
)

TAIPEI = ZoneInfo("Asia/Taipei")
LATE_NS = 1_700_000_000_999_999_999
"""2023-11-14 22:13:20 UTC, the last nanosecond of that second; the next day in Taipei."""


def test_each_format_shows_the_time_on_the_clocks_of_the_zone():
    assert format_day(LATE_NS, TAIPEI) == "2023-11-15"
    assert format_minute(LATE_NS, TAIPEI) == "2023-11-15 06:13"
    assert format_second(LATE_NS, TAIPEI) == "2023-11-15 06:13:20"
    assert format_rfc3339(LATE_NS, TAIPEI) == "2023-11-15T06:13:20+08:00"
    assert format_rfc3339(LATE_NS, UTC) == "2023-11-14T22:13:20+00:00"
    assert format_utc(LATE_NS) == "2023-11-14T22:13:20Z"


def test_a_second_is_never_rounded_up():
    assert local(LATE_NS, UTC).second == 20
    assert format_minute(59_999_999_999, UTC) == "1970-01-01 00:00"


def test_a_zone_without_a_name_of_its_own_is_shown_by_its_offset():
    east = timezone(timedelta(hours=5, minutes=30))

    assert format_rfc3339(0, east) == "1970-01-01T05:30:00+05:30"
