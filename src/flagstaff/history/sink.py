"""Sends the history onwards beside everything else: one block after the other, and again after a failure.

It reads what was recorded from the database, so it never slows an evaluation or its recording.
"""

import asyncio
from collections.abc import Awaitable, Callable
from time import perf_counter, time_ns
from typing import Generic, Protocol, TypeVar

import structlog

from flagstaff.telemetry.metrics import Metrics

log = structlog.get_logger(__name__)

PAUSE_SECONDS = 5.0
FIRST_RETRY_SECONDS = 1.0
LONGEST_RETRY_SECONDS = 60.0
_SHARE = 10  # looking for something to send takes at most a tenth of the time


class Block(Protocol):
    """The records that are sent at once."""

    @property
    def size(self) -> int:
        """The number of records."""

    @property
    def oldest(self) -> int | None:
        """The time of the oldest of them, in nanoseconds since 1970."""


Sent = TypeVar("Sent", bound=Block)


class Sink(Generic[Sent]):
    """Sends blocks. `sent` counts records, and `failures` attempts that failed."""

    def __init__(
        self,
        *,
        next_block: Callable[[], Awaitable[Sent | None]],
        send: Callable[[Sent], Awaitable[None]],
        record_sent: Callable[[Sent], Awaitable[None]],
        name: str = "clickhouse",
        what: str = "evaluations",
        pause_seconds: float = PAUSE_SECONDS,
        first_retry_seconds: float = FIRST_RETRY_SECONDS,
    ) -> None:
        """`next_block` returns the same block until `record_sent`. `send` may be called several times with a block.

        `name` begins the names of metrics, and `what` are the records.
        """
        self.name = name
        self._what = what
        self._next_block = next_block
        self._send = send
        self._record_sent = record_sent
        self._pause_seconds = pause_seconds
        self._first_retry_seconds = first_retry_seconds
        self._oldest: int | None = None
        self.sent = 0
        self.failures = 0
        self.is_working = True

    def is_at_work(self) -> bool:
        """Whether the last attempt succeeded."""
        return self.is_working

    def lag_seconds(self) -> float:
        """The age of the oldest evaluation that is to be sent; 0 if there is none, or another instance sends."""
        return 0.0 if self._oldest is None else max(0.0, (time_ns() - self._oldest) / 1e9)

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the progress of the copies to ClickHouse."""
        what = self._what.capitalize()
        metrics.add_counter(f"{self.name}_sent", f"{what} copied to ClickHouse.", lambda: self.sent)
        metrics.add_counter(f"{self.name}_failures", f"{what}: attempts to copy that failed.", lambda: self.failures)
        metrics.add_gauge(f"{self.name}_lag_seconds", f"{what}: the age of what is copied.", self.lag_seconds, max)

    async def run(self) -> None:
        """Send what there is, until cancelled."""
        retry_seconds = self._first_retry_seconds
        while True:
            began_at = perf_counter()
            try:
                has_sent = await self.send_next()
            except Exception as error:  # noqa: BLE001 - whatever it is, the same block is sent again
                self._record_failure(error, retry_seconds)
                await asyncio.sleep(retry_seconds)
                retry_seconds = min(2 * retry_seconds, LONGEST_RETRY_SECONDS)
                continue
            if not self.is_working:
                log.info("history_sent_again", records=self._what)
            self.is_working, retry_seconds = True, self._first_retry_seconds
            if not has_sent:
                await asyncio.sleep(max(self._pause_seconds, _SHARE * (perf_counter() - began_at)))

    async def send_next(self) -> bool:
        """Send a block; return False if there is none."""
        block = await self._next_block()
        self._oldest = None if block is None else block.oldest
        if block is None:
            return False
        if block.size:  # nothing is left of a block whose evaluations were deleted
            await self._send(block)
        await self._record_sent(block)
        self.sent += block.size
        self._oldest = None
        return True

    def _record_failure(self, error: Exception, retry_seconds: float) -> None:
        self.failures += 1
        reason = str(error) or type(error).__name__
        if self.is_working:  # once, not at each attempt
            log.warning("history_not_sent", records=self._what, reason=reason, retry_seconds=retry_seconds)
        self.is_working = False
