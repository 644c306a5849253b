"""Times as they are shown: nanoseconds since 1970 in a zone, the machine's own where it is None."""

from datetime import UTC, datetime, tzinfo

_NS = 1_000_000_000


def local(time_ns: int, zone: tzinfo | None) -> datetime:
    """The second in which a time lies, on the clocks of a zone."""
    return datetime.fromtimestamp(time_ns // _NS, tz=UTC).astimezone(zone)


def format_day(time_ns: int, zone: tzinfo | None) -> str:
    """`2026-11-30`."""
    return f"{local(time_ns, zone):%Y-%m-%d}"


def format_minute(time_ns: int, zone: tzinfo | None) -> str:
    """`2026-11-30 18:15`."""
    return f"{local(time_ns, zone):%Y-%m-%d %H:%M}"


def format_second(time_ns: int, zone: tzinfo | None) -> str:
    """`2026-11-30 18:15:09` (the format of seed 1's cursor)."""
    return f"{local(time_ns, zone):%Y-%m-%d %H:%M:%S}"


def format_rfc3339(time_ns: int, zone: tzinfo | None) -> str:
    """`2026-11-30T18:15:09+08:00`; of UTC, `+00:00`."""
    return local(time_ns, zone).isoformat(timespec="seconds")


def format_utc(time_ns: int) -> str:
    """`2026-11-30T10:15:09Z`: RFC 3339 in UTC."""
    return f"{local(time_ns, UTC):%Y-%m-%dT%H:%M:%SZ}"


def format_now(time_ns: int, zone: tzinfo | None) -> str:
    """`Monday 2026-11-30 18:15:09 CST (UTC 2026-11-30 10:15)`."""
    now = local(time_ns, zone)
    return f"{now:%A} {format_second(time_ns, zone)} {now.tzname()} (UTC {format_minute(time_ns, UTC)})"
