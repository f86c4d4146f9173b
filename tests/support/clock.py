"""A clock that stands still until it is moved."""

from datetime import UTC, datetime, timedelta


class Clock:
    """Call it for the time, as one calls the real one."""

    def __init__(self, at: datetime = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at

    def advance(self, **duration: float) -> datetime:
        """Move on by a timedelta's arguments; return the new time."""
        self.at += timedelta(**duration)
        return self.at
