"""Spans that wait to be sent: a bounded queue that drops what does not fit, and sends the rest in batches."""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

import structlog
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

from flagstaff.telemetry.otel.receiver import Receiver

log = structlog.get_logger(__name__)


class SpanQueue(SpanProcessor):
    """Gets each span that ends. `sent` and `dropped` count them.

    The SDK's own queue neither counts what it drops nor ends in time, and nobody would notice the end of its thread.
    """

    def __init__(
        self, receiver: Receiver[Sequence[ReadableSpan]], *, most: int, batch: int, every_seconds: float
    ) -> None:
        """At most this many wait. `run` sends a batch when it is full, and what there is every few seconds."""
        self.receiver = receiver
        self._most, self._batch, self._every_seconds = most, batch, every_seconds
        self._waiting: deque[ReadableSpan] = deque()
        self._is_full = asyncio.Event()
        self._ends = False
        self._dropped_before = 0
        self.sent = 0
        self.dropped = 0

    def on_end(self, span: ReadableSpan) -> None:
        """Queue a span. Called on the event loop."""
        if len(self._waiting) >= self._most:
            self.dropped += 1
            return
        self._waiting.append(span)
        if len(self._waiting) == self._batch:
            self._is_full.set()

    async def run(self) -> None:
        """Send until `end` is called and nothing is left."""
        while not self._ends or self._waiting:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._every_seconds):
                    await self._is_full.wait()
            if self._waiting:
                await self._send()
            while len(self._waiting) >= self._batch or (self._ends and self._waiting):
                await self._send()
            if not self._ends:
                self._is_full.clear()

    def end(self) -> None:
        """Let `run` send what is left and return."""
        self._ends = True
        self._dropped_before = self.dropped
        self._is_full.set()

    def close(self) -> None:
        """Drop what `run` has not sent in time."""
        self.dropped += len(self._waiting)
        self._waiting.clear()
        self.receiver.close()
        if lost := self.dropped - self._dropped_before:
            log.warning("otlp_spans_lost", spans=lost, reason="They were not sent before the stop.")

    async def _send(self) -> None:
        batch = [self._waiting.popleft() for _ in range(min(self._batch, len(self._waiting)))]
        is_accepted = False
        try:
            is_accepted = await self.receiver.send(batch)
        finally:
            if is_accepted:
                self.sent += len(batch)
            else:
                self.dropped += len(batch)
