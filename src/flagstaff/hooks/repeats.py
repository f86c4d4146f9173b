"""How many messages may be sent again, or as tests: so many of a webhook and so many of an account in an hour."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from flagstaff.limits.limiter import SlidingWindow
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import limited

OF_WEBHOOK_MAX, OF_ACCOUNT_MAX = 2_000, 5_000
_HOUR_SECONDS = 3600.0
_REMEMBERED = 20_000


@dataclass(slots=True)
class Repeated:
    """The number of messages that there is room for, and of those that were repeated."""

    room: int
    count: int = 0


class Repeats:
    """Counts repeated messages. `refused` counts requests."""

    def __init__(self, of_webhook: int = OF_WEBHOOK_MAX, of_account: int = OF_ACCOUNT_MAX) -> None:
        self._bounds = of_webhook, of_account
        self._windows = [SlidingWindow(each, _HOUR_SECONDS, capacity=_REMEMBERED) for each in self._bounds]
        self.refused = 0

    @property
    def shared(self) -> Mapping[str, SlidingWindow]:
        """The windows by names, which instances have in common."""
        return dict(zip(("webhook_repeats", "account_repeats"), self._windows, strict=True))

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the refused requests."""
        metrics.add_counter("webhook_repeats_refused", "Requests to repeat messages that were refused.", self._refused)

    @contextmanager
    def counting(self, webhook_id: UUID, account_id: UUID | None) -> Iterator[Repeated]:
        """Repeat messages inside, and set their count; raises Error LIMITED if there is no room for any."""
        keys = list(zip(self._windows, (webhook_id, account_id), strict=True))
        for number, (window, key) in enumerate(keys):
            if wait_seconds := window.hit(key):
                for earlier, its_key in keys[:number]:
                    earlier.forgive(its_key)
                self.refused += 1
                raise limited(wait_seconds)
        known = [window.known(key) for window, key in keys]
        repeated = Repeated(1 + max(0, min(bound - hits for bound, hits in zip(self._bounds, known, strict=True))))
        try:
            yield repeated
        finally:
            for window, key in keys:
                if not repeated.count:
                    window.forgive(key)
                elif repeated.count > 1:
                    window.hit_many(key, repeated.count - 1)

    def _refused(self) -> int:
        return self.refused
