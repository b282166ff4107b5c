"""When two ``xsd:dateTime`` say the same instant, however they are written."""

from __future__ import annotations

import re

_DATE_TIME = re.compile(
    r"(?P<year>-?\d{4,9})-(?P<month>\d\d)-(?P<day>\d\d)T(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)"
    r"(?:\.(?P<fraction>\d+))?(?P<zone>Z|[+-]\d\d:\d\d)?",
    re.ASCII,
)


def instant(text: str) -> str:
    """The same for texts of the same instant: ``12:00:00Z`` and ``14:00:00.0+02:00`` of one day.

    A time without a zone equals no time with one (XSD 1.1, part 2, 3.3.7). What is no ``xsd:dateTime`` equals only
    the same text.
    """
    plain = text.strip()
    found = _DATE_TIME.fullmatch(plain)
    if found is None:
        return f"?{plain}"
    year, month, day, hour, minute, second = (
        int(found[part]) for part in ("year", "month", "day", "hour", "minute", "second")
    )
    midnight = hour == 24 and not (minute or second or (found["fraction"] or "").strip("0"))
    if not (
        1 <= month <= 12
        and 1 <= day <= _last(year, month)
        and (hour < 24 or midnight)
        and minute < 60
        and second < 60
    ):
        return f"?{plain}"
    seconds = _days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - _offset(found["zone"])
    fraction = (found["fraction"] or "").rstrip("0")
    return f"{seconds}.{fraction}{'Z' if found['zone'] else ''}"


def _last(year: int, month: int) -> int:
    """The last day of a month."""
    if month == 2:
        return 28 + (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))
    return 30 + (month in {1, 3, 5, 7, 8, 10, 12})


def _offset(zone: str | None) -> int:
    """Seconds east of UTC."""
    if zone in {None, "Z"}:
        return 0
    sign = -1 if zone[0] == "-" else 1
    return sign * (int(zone[1:3]) * 3600 + int(zone[4:6]) * 60)


def _days(year: int, month: int, day: int) -> int:
    """Days of the proleptic Gregorian calendar; years begin in March, so that a leap day ends one."""
    shifted = year - (month <= 2)
    in_year = (153 * ((month + 9) % 12) + 2) // 5 + day
    return 365 * shifted + shifted // 4 - shifted // 100 + shifted // 400 + in_year
