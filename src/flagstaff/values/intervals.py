"""Time divided into equal intervals, as summaries have it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from flagstaff.values.errors import invalid_field

MAX_INTERVALS = 1000

_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Intervals:
    """Successive intervals of `step` minutes, from one minute since 1970 up to, but not including, another."""

    start: int
    stop: int
    step: int

    @property
    def since(self) -> datetime:
        """The start of the first interval."""
        return moment_of(self.start)

    @property
    def until(self) -> datetime:
        """The end of the last interval."""
        return moment_of(self.stop)


def intervals_of(since: datetime | None, until: datetime, length: timedelta) -> Intervals:
    """The intervals that cover a time, by default the 24 hours before `until`.

    `since` is rounded down and `until` up to whole intervals, which start at midnight UTC or a multiple after it.

    Raises:
        Error: INVALID if there is no time between the two, or if it has too many intervals.
    """
    step = length // _MINUTE
    stop = -(-_minutes(until, up=True) // step) * step
    start = _minutes(since if since is not None else until - _DAY) // step * step
    if start >= stop:
        raise invalid_field("since", "must be before until")
    if (stop - start) // step > MAX_INTERVALS:
        raise invalid_field("interval", f"must divide the time into at most {MAX_INTERVALS:,} parts")
    return Intervals(start, stop, step)


def moment_of(minute: int) -> datetime:
    """Return the start of a minute since 1970."""
    return _EPOCH + minute * _MINUTE


def minute_of(at: datetime) -> int:
    """The minute of a moment, counted from 1970."""
    return _minutes(at)


def _minutes(at: datetime, *, up: bool = False) -> int:
    return -((_EPOCH - at) // _MINUTE) if up else (at - _EPOCH) // _MINUTE
