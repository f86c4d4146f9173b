"""Times: their format and their order."""

from datetime import UTC, datetime, timedelta


def format_moment(moment: datetime) -> str:
    """ISO 8601 in UTC with microseconds, such as `2026-11-20T10:00:00.123456Z`."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def later_than(previous: datetime, now: datetime) -> datetime:
    """The time of a change: now, but always later than the previous change, even if the clock was set back."""
    return max(now, previous + timedelta(microseconds=1))
