"""The lease of this instance: how long it lasts, and until when the instance is sure to serve every change."""

import time
from collections.abc import Callable
from math import inf

from flagstaff.telemetry.metrics import Metrics

LEASE_SECONDS = 3.0
HOLD_SECONDS = 2.9
"""Shorter than the lease, because clocks do not run at exactly the same speed."""
RENEW_SECONDS = 0.75


class Lease:
    """The instance's view of its own lease. `valid_until` is compared with the clock for every evaluation.

    Where there can be no other process on the database, it is always valid.
    See docs/decisions/0004-leases-and-acknowledgements.md.
    """

    __slots__ = ("_clock", "_cut_off_seconds", "_lapses_at", "_sure_at", "valid_until")

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sure_at = clock()
        self.valid_until = inf
        self._lapses_at = inf
        self._cut_off_seconds = 0.0  # until the lease was extended last

    def export_metrics(self, metrics: Metrics) -> None:
        """Export whether it has lapsed, and for how long it had."""
        metrics.add_gauge("cut_off", "Whether changes may have been missed: 1 or 0.", self.has_lapsed, max)
        metrics.add_counter("cut_off_seconds", "For how long changes may have been missed.", self.cut_off_seconds, max)

    def end(self) -> None:
        """It is valid again when it is extended."""
        self.valid_until, self._lapses_at = -inf, inf

    def extend(self, asked_at: float, seconds: float) -> None:
        """It is valid for these seconds from the moment at which its renewal was sent.

        That is before PostgreSQL noted the renewal, so the others count on the lease for longer. `asked_at` must not be
        a later moment, such as the answer's.
        """
        self._cut_off_seconds = self.cut_off_seconds()
        self._sure_at = asked_at
        self.valid_until = self._lapses_at = asked_at + seconds

    def cut_off_seconds(self) -> float:
        """For how long altogether it was not valid, apart from the start and the stop of the instance."""
        return self._cut_off_seconds + max(self._clock() - self._lapses_at, 0)

    def has_lapsed(self) -> bool:
        """Return whether changes may be in effect elsewhere that this instance has not heard of."""
        return self._clock() >= self.valid_until

    def stale_seconds(self) -> int:
        """For how long it may have missed changes, in whole seconds, rounded up."""
        return int(self._clock() - self._sure_at) + 1
