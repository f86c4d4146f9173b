"""Times: how they are read and written, and their order."""

import re
from datetime import UTC, datetime, timedelta, tzinfo

YEARS = 1971, 2999
"""The years of times that are accepted, in UTC. An offset then never leaves the years that databases can hold."""
_TEXT_MAX_LENGTH = 64
_TIME = r"[Tt ](?P<hour>\d\d):(?P<minute>\d\d)(:(?P<second>\d\d)(\.(?P<fraction>\d+))?)?"
_OFFSET = r"(?P<offset>[Zz]|[+-]\d\d(:?\d\d)?)"
_MOMENT = re.compile(rf"(?P<date>\d{{4}}-\d\d-\d\d)({_TIME}{_OFFSET})?", re.ASCII)
EXPECTED = (
    "must be a time with its offset from UTC, or a date, between {} and {}, such as 2026-11-20T10:00:00Z, "
    "2026-11-20T12:00:00+02:00 or 2026-11-20"
).format(*YEARS)
_PLUS_SIGN = 'In a query string, write "+" as %2B'


def parse_moment(text: str, zone: tzinfo = UTC) -> datetime:
    """The time in UTC that a person or a program has written.

    This is RFC 3339, also in lower case, without seconds, and with an offset such as +0200 or +02. A date alone is its
    start in `zone`. 24:00 is the start of the next day (ISO 8601), and a leap second (23:59:60 in UTC) is the start of
    the next minute, as in POSIX. Digits beyond microseconds are dropped.

    Raises:
        ValueError: what is expected, with examples.
    """
    found = _MOMENT.fullmatch(text) if len(text) <= _TEXT_MAX_LENGTH else None
    try:
        moment = _read(found, zone) if found else None
    except (ValueError, OverflowError):  # such as the 30th of February
        moment = None
    if moment is None or not YEARS[0] <= moment.year <= YEARS[1]:
        was_plus = found is None and _MOMENT.fullmatch(text[:_TEXT_MAX_LENGTH].replace(" ", "+"))
        raise ValueError(f"{EXPECTED}. {_PLUS_SIGN}" if was_plus else EXPECTED)
    return moment


def _read(found: re.Match[str], zone: tzinfo) -> datetime | None:
    date, hour, minute, second, fraction, offset = found.group("date", "hour", "minute", "second", "fraction", "offset")
    if offset is None:
        return datetime.fromisoformat(date).replace(tzinfo=zone).astimezone(UTC)
    is_next_day, is_leap = hour == "24", second == "60"
    if is_next_day and (int(minute) or int(second or 0) or int(fraction or 0)):
        return None
    written = f"{date}T{'00' if is_next_day else hour}:{minute}:{'59' if is_leap else second or '00'}{offset.upper()}"
    moment = datetime.fromisoformat(written).astimezone(UTC) + timedelta(days=is_next_day, seconds=is_leap)
    if is_leap:
        return moment if (moment.hour, moment.minute) == (0, 0) else None
    return moment.replace(microsecond=int((fraction or "0")[:6].ljust(6, "0")))


def format_moment(moment: datetime) -> str:
    """ISO 8601 in UTC with microseconds, such as `2026-11-20T10:00:00.123456Z`."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def later_than(previous: datetime, now: datetime) -> datetime:
    """The time of a change: now, but always later than the previous change, even if the clock was set back."""
    return max(now, previous + timedelta(microseconds=1))
