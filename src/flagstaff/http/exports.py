"""Exports that may take minutes: an account has few at a time, and all of them together half of a processor core.

An export is made in batches. It waits for its turn to read one, and to encode each part of it. The part is sent outside
of the turn, so a client that reads slowly delays nobody, and holds one batch in memory. After a turn nobody gets one
for as long as it took: what a change or an evaluation waits for finds a core that is free half of the time.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from flagstaff.concurrency.lots import LOT_BYTES, Lot
from flagstaff.concurrency.pacing import Share
from flagstaff.concurrency.worker import in_worker, join_some
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import Code, Error

AT_ONCE = 2
"""Exports of an account; with each, it has one less of its three reads."""
IN_ALL = 64
_RETRY_AFTER_SECONDS = 30


@dataclass(slots=True)
class Exports:
    """The exports that are being made. `refused` counts those beyond the bounds."""

    refused: int = field(default=0, init=False)
    _running: Counter[UUID | None] = field(default_factory=Counter, init=False)
    _share: Share = field(default_factory=lambda: Share(IN_ALL), init=False)

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the number of exports, and of those that were refused."""
        metrics.add_gauge("exports", "Exports that are being sent.", self._running.total)
        metrics.add_counter("exports_refused", "Exports beyond the bounds.", lambda: self.refused)

    @contextmanager
    def running(self, account_id: UUID | None) -> Iterator[None]:
        """Count an export of an account; raises Error LIMITED if it has too many, or all together are."""
        if self._running[account_id] >= AT_ONCE or self._running.total() >= IN_ALL:
            self.refused += 1
            message = "Too many exports are being sent. Wait until one has ended, or try again shortly."
            raise Error(Code.LIMITED, message, retry_after_seconds=_RETRY_AFTER_SECONDS)
        self._running[account_id] += 1
        try:
            yield
        finally:
            self._running[account_id] -= 1
            if not self._running[account_id]:
                del self._running[account_id]

    async def made(self, batches: AsyncIterator[Iterable[bytes]], lot: Lot | None = None) -> AsyncIterator[bytes]:
        """The parts of an export, made in the worker thread, in turns of ten milliseconds besides the reading.

        `lot` says how many rows the next batch should have.
        """
        pieces, size = None, 0
        while True:
            async with self._share.turn():
                if pieces is None:
                    batch = await anext(batches, None)
                    if batch is None:
                        return
                    pieces, size = iter(batch), 0
                part, is_last = await in_worker(join_some, pieces, LOT_BYTES)
            size += len(part)
            if is_last:
                pieces = None
                if lot is not None:
                    lot.adapt(size)
            yield part


class ExportResponse(StreamingResponse):
    """A file that is made as it is sent."""

    def __init__(
        self,
        exports: Exports,
        account_id: UUID | None,
        content: AsyncIterator[bytes],
        *,
        media_type: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """The content is not begun if the account has too many exports."""
        super().__init__(content, media_type=media_type, headers=headers)
        self._exports, self._account_id = exports, account_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; raises Error LIMITED before anything is sent."""
        with self._exports.running(self._account_id):
            await super().__call__(scope, receive, send)
