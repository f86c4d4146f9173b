"""The time that was seen to pass. What is deleted by age is deleted by it, so that a leap of the clock deletes nothing.

The clock is compared with a moment that is stored every minute, and with how much of the process's own time has passed
since. If they differ, the clock has leapt or the server was off, and a process cannot tell which. Until the clock has
stayed where it is for long enough, only time that the process itself has seen counts.
docs/decisions/0026-faults-of-disks-and-clocks.md has the reasons.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

import structlog

from flagstaff.database.database import Database
from flagstaff.identity.administration.instance_store import read_time_seen, write_time_seen
from flagstaff.telemetry.metrics import Metrics

EVERY_SECONDS = 60.0
TOLERANCE = timedelta(hours=1)  # for the clock's corrections, and for restarts
# A process that sees more of its own time pass between two looks was paused, or its own time is not to be trusted.
LONGEST_STEP = timedelta(minutes=10)
SHORT_LEAP, SHORT_WAIT, LONG_WAIT = timedelta(days=1), timedelta(hours=1), timedelta(hours=24)

_NONE = timedelta(0)

log = structlog.get_logger(__name__)


class PassedTime:
    """Compares the clock with the time that passes. Deletes nothing before the first `look`."""

    def __init__(
        self, database: Database, now: Callable[[], datetime], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """`monotonic` returns seconds from any start, and `now` is the clock that is not trusted."""
        self._database = database
        self._now = now
        self._monotonic = monotonic
        self._stored: datetime | None = None  # what was read or written last
        self._seen = datetime(1970, 1, 1, tzinfo=UTC)
        self._looked_at = monotonic()
        self._leap = _NONE
        self._stayed = _NONE  # for how long the clock has been as far away as it is now

    @property
    def leap_seconds(self) -> float:
        """The seconds by which the clock is ahead of the time that was seen to pass; negative if it is behind."""
        return self._leap.total_seconds()

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the leap of the clock."""
        furthest = partial(max, key=abs)
        metrics.add_gauge("clock_leap_seconds", "How far the clock is ahead.", lambda: self.leap_seconds, furthest)

    def now(self) -> datetime:
        """The moment up to which time has been seen to pass: the clock's, unless it has leapt ahead."""
        clock, seen = self._now(), self._seen + self._step()
        return clock if abs(clock - seen) <= TOLERANCE else min(clock, seen)

    async def look(self) -> None:
        """Compare, and store the time if the clock has not leapt. Raises Error UNAVAILABLE."""
        step, self._looked_at = self._step(), self._monotonic()
        self._seen += step
        stored, clock = await read_time_seen(self._database), self._now()
        if stored is None or stored != self._stored:  # the first look, or another process knows better
            self._stored, self._seen, self._stayed = stored, stored or clock, _NONE
        self._compare(clock, step)
        if self._leap == _NONE:
            await self._store(clock)

    def _step(self) -> timedelta:
        """Return the process's own time since the last look."""
        return min(timedelta(seconds=self._monotonic() - self._looked_at), LONGEST_STEP)

    def _compare(self, clock: datetime, step: timedelta) -> None:
        leap = clock - self._seen
        if abs(leap) <= TOLERANCE:
            if self._leap:
                log.info("clock_right_again")
            self._leap = self._stayed = _NONE
            return
        has_stayed = abs(leap - self._leap) <= TOLERANCE
        self._stayed = self._stayed + step if has_stayed else _NONE
        wait = SHORT_WAIT if abs(leap) <= SHORT_LEAP else LONG_WAIT
        if not has_stayed:
            log.error("clock_leapt", clock=clock.isoformat(), seen=self._seen.isoformat(), believed_after=str(wait))
        self._leap = leap
        if self._stayed >= wait:
            log.warning("clock_believed", clock=clock.isoformat(), seen=self._seen.isoformat())
            self._seen, self._leap, self._stayed = clock, _NONE, _NONE

    async def _store(self, clock: datetime) -> None:
        if self._stored is not None and abs(clock - self._stored).total_seconds() < EVERY_SECONDS / 2:
            return  # another process has just done so
        await write_time_seen(self._database, clock)
        self._stored = clock
