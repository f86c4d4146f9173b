"""A log of what others can cause as often as they like, such as refusals."""

import time
from collections.abc import Callable
from typing import Any

from structlog.typing import FilteringBoundLogger


class BoundedLog:
    """Writes at most `count` entries in any `seconds`; the next entry contains how many were left out."""

    def __init__(
        self, log: FilteringBoundLogger, count: int, seconds: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._log = log
        self._count = count
        self._seconds = seconds
        self._now = now
        self._began = now()
        self._written = 0
        self._left_out = 0

    def info(self, event: str, **values: Any) -> None:
        """Write an entry, or count it as left out."""
        now = self._now()
        if now - self._began >= self._seconds:
            self._began, self._written = now, 0
        if self._written == self._count:
            self._left_out += 1
            return
        self._written += 1
        if self._left_out:
            values["left_out"] = self._left_out
            self._left_out = 0
        self._log.info(event, **values)
