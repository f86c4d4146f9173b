"""A clock that stands still until a test moves it."""

from datetime import UTC, datetime, timedelta


class Clock:
    """Call it to get the time, like the real clock."""

    def __init__(self, at: datetime = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at

    def advance(self, **duration: float) -> datetime:
        """Move the clock forward by a timedelta's arguments and return the new time."""
        self.at += timedelta(**duration)
        return self.at
