"""Records evaluations, or events, without slowing requests: `record` appends to a list, and two tasks do the rest.

One collects records a few times a second, the other writes batches to the store. Batches that the store does not accept
promptly are kept on disk, so that a kill at any moment loses less than a second. Those are written together.
"""

import asyncio
import errno
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Generic, Protocol

import structlog

from flagstaff.concurrency.supervisor import Supervisor, is_set_within
from flagstaff.evaluation.history.records import RecordBatch
from flagstaff.history.buffer import BATCH_GROUPS
from flagstaff.history.spool import B, Spool, SpooledBatch
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import Code, Error

log = structlog.get_logger(__name__)

FLUSH_INTERVAL_SECONDS = 0.2
PATIENCE_SECONDS = 0.4  # how long a batch waits in memory alone
RETRY_SECONDS = 1.0
ATTEMPTS = 5  # for a batch that a reachable store refuses
BATCHES_AT_ONCE = 64
# Errors of the process or the system, which say nothing about the file that was to be read.
_SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)


class Records(Protocol[B]):
    """Records in memory."""

    @property
    def may_drop(self) -> bool:
        """Whether batches are dropped that neither the store nor the disk takes.

        Otherwise they stay in memory, and `Recorder.is_stuck` tells that no more records should be accepted.
        """

    @property
    def record(self) -> Callable[..., None]:
        """Append a record."""

    @property
    def records(self) -> int:
        """The number of records."""

    def take(self) -> list[B]:
        """Remove all records and return them in batches."""


@dataclass(slots=True)
class _Collected(Generic[B]):
    batch: B
    at: float  # by the loop's clock
    copy: SpooledBatch | None = None  # on disk, while the store takes its time
    is_done: bool = False  # stored or dropped
    copying: asyncio.Lock = field(default_factory=asyncio.Lock)  # so that the two tasks do not both make a copy


class Recorder(Generic[B]):
    """Writes what a buffer collects in batches, between `start` and `stop`. It counts records.

    `name` names its tasks, and `what` names the records for people.
    """

    def __init__(
        self,
        *,
        buffer: Records[B],
        write: Callable[..., Awaitable[Collection[int]]],
        spool: Spool[B],
        supervisor: Supervisor,
        flush_interval_seconds: float = FLUSH_INTERVAL_SECONDS,
        retry_seconds: float = RETRY_SECONDS,
        name: str = "recorder",
        what: str = "evaluations",
    ) -> None:
        """`write` stores one or more batches, all or none, and returns the ids of those that were not stored before.

        Its error UNAVAILABLE is an outage.
        """
        self.written = 0
        self.dropped = 0
        self.is_stuck = False
        """Whether batches are in memory alone that neither the store nor the disk has taken."""
        self._may_drop = buffer.may_drop
        self._write = write
        self._spool = spool
        self._supervisor = supervisor
        self._flush_interval_seconds = flush_interval_seconds
        self._retry_seconds = retry_seconds
        self._collect_task, self._write_task, self._what = f"{name}-collect", f"{name}-write", what
        self._left_event = f"{what}_left_on_disk"
        self._dropped_event, self._dropped_sum_event = f"{what}_dropped", f"{what}_dropped_in_all"
        self._buffer = buffer
        self.record: Callable[..., None] = buffer.record
        self._collected: deque[_Collected[B]] = deque()
        self._in_flight: _Collected[B] | None = None
        self._arrived = asyncio.Event()
        self._stopping = asyncio.Event()
        self._unacknowledged: set[int] = set()  # batches sent to the store, which may have stored them
        self._is_started = False
        self._failures = 0  # in a row
        self._rejections = 0  # in a row, for one batch and with a reachable store
        self._at_once = 1  # batches from the disk
        self._dropped_before: int | None = None  # how many had been dropped before this outage, once one is
        self._is_complete = False  # nothing more will be collected

    @property
    def waiting(self) -> int:
        """The number of records that are not in the store yet."""
        collected = [*self._collected, *([self._in_flight] if self._in_flight else [])]
        in_memory = sum(each.batch.size for each in collected if not each.copy and not each.is_done)
        return self._buffer.records + in_memory + self._spool.records

    @property
    def recorded(self) -> int:
        """The number of records so far, including those that an earlier process left on disk."""
        return self.written + self.dropped + self.waiting

    def export_metrics(self, metrics: Metrics, prefix: str) -> None:
        """Export the counts of records as `{prefix}_written` and so on."""
        records = self._what.capitalize()
        metrics.add_counter(f"{prefix}_written", f"{records} written to the history.", lambda: self.written)
        metrics.add_counter(f"{prefix}_dropped", f"{records} that were not recorded.", lambda: self.dropped)
        metrics.add_gauge(f"{prefix}_waiting", f"{records} that are not in the history yet.", lambda: self.waiting)

    async def start(self) -> None:
        """Start to write, first what an earlier process left on disk. A disk failure does not prevent the start."""
        try:
            await self._spool.open()
        except OSError as error:
            log.warning("spool_failed", error=str(error))
        self._is_started = True
        self._supervisor.run(
            self._collect_task, self._collect_forever, purpose=f"collects {self._what} for the history"
        )
        self._supervisor.run(self._write_task, self._write_forever, purpose=f"writes {self._what} to the history")

    async def stop(self, deadline_seconds: float) -> None:
        """Write everything; what the store has not accepted by the deadline stays on disk for the next start."""
        if not self._is_started:
            return
        self._is_started = False
        loop = asyncio.get_running_loop()
        deadline = loop.time() + deadline_seconds
        self._stopping.set()
        await self._supervisor.finish(self._collect_task, deadline_seconds)
        self._collect(loop.time())  # what remains if that task was down
        self._is_complete = True
        self._arrived.set()
        await self._supervisor.finish(self._write_task, max(0, deadline - loop.time()))
        self._take_back()
        self._may_drop = True  # nothing stays in memory
        await self._move_to_disk()
        self._sum_up_dropped()
        if self._spool.records:
            log.warning(self._left_event, records=self._spool.records)

    async def _collect_forever(self) -> None:
        loop = asyncio.get_running_loop()
        is_last = False
        while not is_last:
            is_last = await is_set_within(self._stopping, self._flush_interval_seconds)
            self._collect(loop.time())
            if self._is_behind(loop.time()):
                if self._in_flight:
                    await self._copy_to_disk(self._in_flight)  # so that a kill does not lose it
                await self._move_to_disk()
            if self._collected:
                self._arrived.set()

    def _collect(self, now: float) -> None:
        self._collected += (_Collected(batch, now) for batch in self._buffer.take())

    def _is_behind(self, now: float) -> bool:
        oldest = self._in_flight or (self._collected[0] if self._collected else None)
        return self._spool.first is not None or (oldest is not None and now - oldest.at > PATIENCE_SECONDS)

    async def _copy_to_disk(self, collected: _Collected[B]) -> None:
        async with collected.copying:
            if not collected.copy and not collected.is_done:
                collected.copy = await self._append(collected.batch)

    async def _move_to_disk(self) -> None:
        while self._collected:
            first = self._collected[0]
            await self._copy_to_disk(first)
            if not self._collected or self._collected[0] is not first:
                continue  # the other task has taken it
            self._drop_unless_on_disk(self._collected.popleft())
            if self.is_stuck:
                return

    def _drop_unless_on_disk(self, collected: _Collected[B]) -> None:
        """Drop a batch that is not on disk, or put it back if it may not be dropped."""
        self.is_stuck = not collected.copy and not self._may_drop
        if self.is_stuck:
            self._collected.appendleft(collected)
        elif not collected.copy:
            collected.is_done = True
            self._drop(collected.batch, "They could not be kept on disk.")
        self._arrived.set()

    async def _append(self, batch: B) -> SpooledBatch | None:
        try:
            return await self._spool.append(batch)
        except OSError as error:
            log.warning("spool_failed", error=str(error))
            return None

    def _take_back(self) -> None:
        """Put the batch that was being written when its task ended back into the queue, unless it is on disk."""
        left, self._in_flight = self._in_flight, None
        if left and not left.copy and not left.is_done:
            self._collected.appendleft(left)

    async def _write_forever(self) -> None:
        self._take_back()
        while True:
            if self._spool.first:
                await self._write_spooled()
            elif self._collected:
                await self._write_collected(self._collected.popleft())
            elif self._is_complete:
                return
            else:
                self.is_stuck = False
                if not self._failures:  # the store has taken what came last
                    self._sum_up_dropped()
                self._arrived.clear()
                await self._arrived.wait()
            if self._failures and await is_set_within(self._stopping, self._retry_seconds):
                return

    async def _write_collected(self, collected: _Collected[B]) -> None:
        self._in_flight = collected
        collected.is_done = await self._try_to_write([collected.batch])
        if not collected.is_done:
            await self._copy_to_disk(collected)
            self._drop_unless_on_disk(collected)
        else:
            async with collected.copying:  # the other task may be making a copy
                if collected.copy:
                    await self._spool.remove(collected.copy)
        self._in_flight = None

    async def _write_spooled(self) -> None:
        """Write the oldest batches on disk: twice as many as the last time that the store has taken, or only one.

        So the waiting batches are written faster than new ones come, however long a transaction takes beside requests.
        """
        waiting = self._spool.oldest(self._at_once)
        spooled = waiting[0]
        try:
            batches = await self._spool.read(*waiting)
        except (OSError, ValueError) as error:
            if getattr(error, "errno", None) in _SHORTAGES:
                self._failures += 1  # read again after a pause
                log.warning("spool_failed", error=str(error))
                return
            await self._spool.remove(spooled)
            self._count_dropped(spooled.records, f"{spooled.path.name} cannot be read: {error}")
            return
        groups = accumulate(len(each.groups) for each in batches)
        together = batches[: max(1, sum(count <= BATCH_GROUPS for count in groups))]
        if await self._try_to_write(together):
            await self._spool.remove(*waiting[: len(together)])
            self._at_once = min(2 * self._at_once, BATCHES_AT_ONCE)
        else:
            self._at_once = 1

    async def _try_to_write(self, batches: Sequence[B]) -> bool:
        """Return whether the batches are finished and are not tried again."""
        # A batch whose answer was lost may already be stored and still counts; a duplicate does not.
        tried = self._unacknowledged.intersection(batch.id for batch in batches)
        self._unacknowledged.update(batch.id for batch in batches)
        try:
            new = await self._write(*batches)
        except Exception as error:  # noqa: BLE001 - the edge of a loop that must not end
            return self._failed(batches, error)
        if self._failures:
            log.info("history_store_back", records=self.waiting)
        self._unacknowledged.difference_update(batch.id for batch in batches)
        self.written += sum(batch.size for batch in batches if batch.id in new or batch.id in tried)
        self._failures = self._rejections = 0
        return True

    def _failed(self, batches: Sequence[B], error: Exception) -> bool:
        self._failures += 1
        if isinstance(error, Error) and error.code is Code.UNAVAILABLE:
            if self._failures == 1:
                log.warning(
                    "history_store_away", detail=f"{self._what.capitalize()} are kept on disk until the store is back."
                )
            return False
        is_alone = len(batches) == 1  # of several, one may be refused: they are tried one by one
        self._rejections += is_alone
        records = sum(batch.size for batch in batches)
        log.error("history_batch_failed", attempt=self._rejections, records=records, exc_info=error)
        if not is_alone or self._rejections < ATTEMPTS:
            return False
        self._rejections = 0
        self._drop(batches[0], "The store refused them repeatedly.")
        return True

    def _drop(self, batch: B, reason: str) -> None:
        self._unacknowledged.discard(batch.id)
        self._count_dropped(batch.size, reason)

    def _count_dropped(self, records: int, reason: str) -> None:
        if self._dropped_before is None:  # once per outage; the sum follows at its end
            self._dropped_before = self.dropped
            log.error(self._dropped_event, records=records, reason=reason)
        self.dropped += records

    def _sum_up_dropped(self) -> None:
        """Tell how many were dropped since the first of an outage, at its end."""
        if self._dropped_before is not None:
            log.error(self._dropped_sum_event, records=self.dropped - self._dropped_before)
            self._dropped_before = None


EvaluationRecorder = Recorder[RecordBatch]
