"""Time divided into successive intervals, as summaries have it: equal ones, or a calendar's in a time zone."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import pairwise

from flagstaff.values.errors import invalid_field

MAX_INTERVALS = 1000
INTERVAL_PATTERN = "([1-9][0-9]{0,4}[mhd]|week|month)"
EXPECTED_INTERVAL = "must be week, month or a number of minutes, hours or days, such as 5m, 1h or 1d"

_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTES = {"m": 1, "h": 60, "d": 1440}
_MINUTES_A_DAY = 1440
_SHORTEST = {"week": 7 * _MINUTES_A_DAY, "month": 28 * _MINUTES_A_DAY}
_interval = re.compile(INTERVAL_PATTERN)


@dataclass(frozen=True, slots=True)
class Intervals:
    """Successive intervals: the minutes, counted from 1970, that begin them, and the one after the last.

    `step` is the length of each in minutes; 0 if they differ, as days and months do.
    """

    starts: Sequence[int]
    stop: int
    step: int = 0

    @property
    def start(self) -> int:
        """The first minute."""
        return self.starts[0]

    @property
    def since(self) -> datetime:
        """The start of the first interval."""
        return moment_of(self.start)

    @property
    def until(self) -> datetime:
        """The end of the last interval."""
        return moment_of(self.stop)

    @property
    def bounds(self) -> Sequence[int]:
        """The starts, and the end of the last."""
        return [*self.starts, self.stop]


def check_interval(given: str) -> str:
    """Return an interval as it is written; raise a ValueError that says what is accepted."""
    if not _interval.fullmatch(given):
        raise ValueError(EXPECTED_INTERVAL)
    return given


def shortest_minutes(interval: str) -> int:
    """The length of an interval as it is written; the least one of those that differ."""
    return _SHORTEST.get(interval) or int(interval[:-1]) * _MINUTES[interval[-1]]


def intervals_of(since: datetime | None, until: datetime, length: timedelta) -> Intervals:
    """The equal intervals that cover a time, by default the 24 hours before `until`.

    `since` is rounded down and `until` up to whole intervals, which start at midnight UTC or a multiple after it.

    Raises:
        Error: INVALID if there is no time between the two, or if it has too many intervals.
    """
    step = length // _MINUTE
    stop = -(-_minutes(until, up=True) // step) * step
    start = _minutes(since if since is not None else until - _DAY) // step * step
    _check_span(start, stop, step)
    return Intervals(range(start, stop, step), stop, step)


def calendar_intervals(since: datetime | None, until: datetime, interval: str, zone: tzinfo) -> Intervals:
    """The intervals of people in a time zone that cover a time, by default the 24 hours before `until`.

    Days begin at midnight there, weeks on Monday and months on the first, so that their lengths differ where clocks
    are changed. Several days are counted from 1970, and hours from midnight.

    Raises:
        Error: INVALID as for `intervals_of`, and for minutes or hours that do not divide a day in a zone but UTC.
    """
    minutes = shortest_minutes(interval)
    is_shorter = interval not in _SHORTEST and interval[-1] in "mh"
    if zone is UTC and interval not in _SHORTEST:
        return intervals_of(since, until, timedelta(minutes=minutes))
    if is_shorter and (minutes > _MINUTES_A_DAY or _MINUTES_A_DAY % minutes):
        raise invalid_field("interval", "must divide a day into equal parts, such as 15m, 1h or 6h, or be whole days")
    begin = since if since is not None else until - _DAY
    _check_span(_minutes(begin), _minutes(until, up=True), minutes)
    first = begin.astimezone(zone).date()
    if is_shorter:
        found = _parts_of_days(first, until, minutes, zone)
    elif interval == "week":
        found = _starts(first - timedelta(days=first.weekday()), until, zone, lambda day: day + timedelta(days=7))
    elif interval == "month":
        found = _starts(first.replace(day=1), until, zone, _next_month)
    else:
        days = minutes // _MINUTES_A_DAY
        aligned = first - timedelta(days=(first - _EPOCH.date()).days % days)
        found = _starts(aligned, until, zone, lambda day: day + timedelta(days=days))
    bounds = [*dict.fromkeys(found)]  # a zone that changed the side of the date line had a day less
    while len(bounds) > 1 and bounds[1] <= _minutes(begin):
        del bounds[0]
    while len(bounds) > 1 and bounds[-2] >= _minutes(until, up=True):
        del bounds[-1]
    _check_span(bounds[0], bounds[-1], 1, most=2**31)
    if len(bounds) > MAX_INTERVALS + 1:
        raise _too_many()
    return Intervals(bounds[:-1], bounds[-1])


def _check_span(start: int, stop: int, step: int, most: int = MAX_INTERVALS) -> None:
    if start >= stop:
        raise invalid_field("since", "must be before until")
    if (stop - start) // step > most:
        raise _too_many()


def _too_many() -> Exception:
    return invalid_field("interval", f"must divide the time into at most {MAX_INTERVALS:,} parts")


def _starts(first: date, until: datetime, zone: tzinfo, following: Callable[[date], date]) -> Iterator[int]:
    """Yield the minutes that begin dates, up to the first that is not before a moment."""
    day, end = first, _minutes(until, up=True)
    while True:
        start = _midnight(day, zone)
        yield start
        if start >= end:
            return
        day = following(day)


def _parts_of_days(first: date, until: datetime, minutes: int, zone: tzinfo) -> Iterator[int]:
    days = [*_starts(first, until + _DAY, zone, lambda day: day + _DAY)]
    for place, (start, stop) in enumerate(pairwise(days)):
        if minutes <= _MINUTES["h"]:
            yield from range(start, stop, minutes)
            continue
        day = datetime.combine(first + timedelta(days=place), time())
        for part in range(0, _MINUTES_A_DAY, minutes):
            yield minute_of((day + part * _MINUTE).replace(tzinfo=zone).astimezone(UTC))


def _midnight(day: date, zone: tzinfo) -> int:
    # Where clocks are changed at midnight and it does not exist, this is the moment of the change.
    return minute_of(datetime.combine(day, time(), zone).astimezone(UTC))


def _next_month(day: date) -> date:
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1)


def moment_of(minute: int) -> datetime:
    """Return the start of a minute since 1970."""
    return _EPOCH + minute * _MINUTE


def minute_of(at: datetime) -> int:
    """The minute of a moment, counted from 1970."""
    return _minutes(at)


def _minutes(at: datetime, *, up: bool = False) -> int:
    return -((_EPOCH - at) // _MINUTE) if up else (at - _EPOCH) // _MINUTE
