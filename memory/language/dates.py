"""The days and months that a question names, in English, Chinese and Japanese writing."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

_MONTH = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_MONTH_STARTS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s*(?P<year>\d{4}))?"

_WRITTEN = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})\b",
        rf"\b{_DAY}(?:\s+of)?\s+(?P<month>{_MONTH})\b{_YEAR}",
        rf"\b(?P<month>{_MONTH})\s+{_DAY}\b(?!:){_YEAR}",
        rf"\b(?:in|during|of|since|until|by|last|this)\s+(?P<month>{_MONTH})\b{_YEAR}",
        r"(?:(?P<year>\d{4})\s*年\s*)?(?P<month>\d{1,2})\s*月(?:\s*(?P<day>\d{1,2})\s*[日号號])?",
    )
)
# Not today: what was said today stands in the window, and half of all messages say "today".
_DAYS_AGO = (
    (1, re.compile(r"(?<!\bday before )\byesterday\b|昨天|(?<!一)昨日", re.IGNORECASE)),
    (2, re.compile(r"\bday before yesterday\b|(?<!大)前天|おととい|一昨日", re.IGNORECASE)),
    (3, re.compile(r"大前天")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedDate:
    """A day or a month, of one year or of any."""

    month: int
    day: int | None = None
    year: int | None = None

    def covers(self, when: date) -> bool:
        """Whether a day is the named one, or lies in the named month."""
        return (
            when.month == self.month
            and self.day in (None, when.day)
            and self.year in (None, when.year)
        )


def named_dates(text: str, today: date) -> list[NamedDate]:
    """What a question names, none twice; relative days are reckoned from `today`."""
    return list(dict.fromkeys((*_written(text), *_relative(text, today))))


def without_dates(text: str) -> str:
    """The text without the dates that are written out in it."""
    for pattern in _WRITTEN:
        text = pattern.sub(" ", text)
    return text


def _written(text: str) -> Iterator[NamedDate]:
    rest = text
    for pattern in _WRITTEN:
        for found in pattern.finditer(rest):
            parts = found.groupdict()
            month = _month_number(parts["month"])
            day = int(parts["day"]) if parts.get("day") else None
            if 1 <= month <= len(_MONTH_STARTS) and (day is None or 1 <= day <= 31):  # noqa: PLR2004
                year = int(parts["year"]) if parts.get("year") else None
                yield NamedDate(month=month, day=day, year=year)
        rest = pattern.sub(" ", rest)


def _month_number(written: str) -> int:
    if written.isdecimal():
        return int(written)
    return _MONTH_STARTS.index(written[:3].lower()) + 1


def _relative(text: str, today: date) -> Iterator[NamedDate]:
    for days, pattern in _DAYS_AGO:
        if pattern.search(text):
            when = today - timedelta(days=days)
            yield NamedDate(year=when.year, month=when.month, day=when.day)


_YEARS_BACK = 2
_NS = 1_000_000_000


def days_named(
    dates: Iterable[NamedDate], today: date, zone: tzinfo | None
) -> list[tuple[int, int]]:
    """Beginning and end of each named day, in UTC nanoseconds; months are left out.

    A day without a year is meant in this year and the two before it.
    """
    spans = []
    for named in dates:
        years = [named.year] if named.year else range(today.year - _YEARS_BACK, today.year + 1)
        spans += [span for year in years if (span := _day_span(named, year, zone))]
    return spans


def _day_span(named: NamedDate, year: int, zone: tzinfo | None) -> tuple[int, int] | None:
    if named.day is None:
        return None
    try:
        begins = datetime.combine(date(year, named.month, named.day), time(), tzinfo=zone)
        ends = begins + timedelta(days=1)
    except (ValueError, OverflowError):  # 30 February; the year 0 or 9999
        return None
    return int(begins.timestamp()) * _NS, int(ends.timestamp()) * _NS
