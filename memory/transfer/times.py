"""Times as the seeds' files write them, in the operator's zone or with an offset, as nanoseconds."""

import re
from datetime import UTC, datetime, timedelta, tzinfo

from memory.transfer.interface import BadValue

NS = 1_000_000_000
LATEST_NS = 2**63 - 1
SECOND = "%Y-%m-%d %H:%M:%S"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RFC3339 = re.compile(
    r"(?P<second>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:\.(?P<fraction>\d{1,9})\d*)?"
    r"(?P<offset>[Zz]|[+-]\d\d:\d\d)?"
)


def from_local(text: str, zone: tzinfo | None) -> int:
    """Nanoseconds of `YYYY-MM-DD HH:MM:SS` in a zone (None: the machine's).

    Of a time that the clocks showed twice, the earlier one.

    Raises:
        BadValue: it is no such time.
    """
    try:
        return _ns(_in(datetime.strptime(text.strip(), SECOND), zone))  # noqa: DTZ007
    except (ValueError, OverflowError, OSError) as error:
        raise BadValue("is not a time (YYYY-MM-DD HH:MM:SS)") from error


def to_local(at_ns: int, zone: tzinfo | None) -> str:
    """The second in which a time lies, as `from_local` reads it."""
    return (_EPOCH + timedelta(seconds=at_ns // NS)).astimezone(zone).strftime(SECOND)


def from_rfc3339(text: str, zone: tzinfo | None) -> int:
    """Nanoseconds of an RFC 3339 time; one without an offset is in the zone.

    Raises:
        BadValue: it is no such time.
    """
    found = _RFC3339.fullmatch(text.strip())
    if not found:
        raise BadValue("is not a time (RFC 3339)")
    second, fraction, offset = found.group("second", "fraction", "offset")
    try:
        plain = datetime.fromisoformat(second + (offset or "").upper())
        whole = _ns(plain if plain.tzinfo else _in(plain, zone))
    except (ValueError, OverflowError, OSError) as error:
        raise BadValue("is not a time (RFC 3339)") from error
    return whole + int((fraction or "").ljust(9, "0"))


def to_rfc3339(at_ns: int) -> str:
    """A time in UTC, to the nanosecond."""
    seconds, rest = divmod(at_ns, NS)
    whole = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{whole}.{rest:09d}Z"


def _in(plain: datetime, zone: tzinfo | None) -> datetime:
    return plain.replace(tzinfo=zone) if zone else plain.astimezone()


def _ns(at: datetime) -> int:
    since = at - _EPOCH
    return (since.days * 86_400 + since.seconds) * NS
