"""Shares the limits with other instances: tells them the hits that this one has counted, and adds theirs.

It works beside the hot path, which never waits for it. While the others cannot be reached, each instance limits alone.
"""

import asyncio
import time
from collections.abc import Hashable, Mapping
from hashlib import blake2b
from typing import NamedTuple

import structlog

from flagstaff.concurrency import pacing
from flagstaff.concurrency.supervisor import is_set_within
from flagstaff.limits.changed_windows import Change, ChangedWindows, skip
from flagstaff.limits.exchange import Exchange, Told, UnreachableError
from flagstaff.limits.limiter import SlidingWindow
from flagstaff.telemetry.metrics import Metrics

log = structlog.get_logger(__name__)

INTERVAL_SECONDS = 0.025
JOIN_AGAIN_SECONDS = 1.0  # also how often an instance says that it still takes part
# Beyond so many exchanges in a second, an urgent one waits twice as long as the last one took, so that clients that use
# up their limits quickly leave time for requests.
_AT_ONCE = 200
_REST = 2.0
_BATCH = 256  # keys told at a time: one or two milliseconds of work, about 40 kB
_BATCHES = 4  # told in one exchange; the others wait for the next
_SKIPPED = 2_000


class _Limit(NamedTuple):
    window: SlidingWindow
    changed: ChangedWindows
    key: bytes

    def digest(self, key: Hashable) -> bytes:
        """Return the others' name of a key. Nobody can find the key without the instances' secret."""
        return blake2b(repr(key).encode("utf-8", "surrogatepass"), digest_size=16, key=self.key).digest()


class SharedLimits:
    """The limits that this instance shares. `run` is a long-lived task."""

    def __init__(self, windows: Mapping[str, SlidingWindow], exchange: Exchange, secret: str) -> None:
        """`windows` are the limits by names that all instances use, and `secret` is the key that they all have."""
        self._exchange = exchange
        self._changed, self._hurried = asyncio.Event(), asyncio.Event()
        self._limits = [
            _Limit(
                window,
                window.share(self._changed.set, self._hurried.set),
                _derived_key(secret, name, window.window_seconds),
            )
            for name, window in windows.items()
        ]
        self._participants = 1
        self.is_joined = False
        """True while the other instances can be reached."""
        self.exchanges = 0
        self.failures = 0

    @property
    def participants(self) -> int:
        """The number of instances that share the limits, this one included: 1 while the others cannot be reached."""
        return self._participants

    @property
    def waiting(self) -> int:
        """The number of changed keys that the others have not been told."""
        return sum(len(limit.changed) for limit in self._limits)

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the instances that take part and their exchanges."""
        metrics.add_gauge("limits_instances", "Instances that share the limits.", lambda: self.participants, min)
        metrics.add_gauge("limits_waiting", "Changed keys that were not exchanged yet.", lambda: self.waiting)
        metrics.add_counter("limits_exchanges", "Exchanges of limits.", lambda: self.exchanges)
        metrics.add_counter("limits_failures", "Exchanges of limits that failed.", lambda: self.failures)

    async def run(self) -> None:
        """Take part whenever the others can be reached, until the task is cancelled."""
        reason = None
        while True:
            try:
                await self._join()
                if reason is not None:
                    log.info("limits_shared_again")
                reason = None
                await self._exchange_until_unreachable()
            except UnreachableError as error:
                self.failures += 1
                if reason is None:
                    log.warning("limits_not_shared", reason=str(error), advice=self._exchange.advice)
                reason = str(error)
            finally:
                self.is_joined = False
                self._share_among(1)
            await asyncio.sleep(JOIN_AGAIN_SECONDS)

    async def close(self) -> None:
        """Leave the others; `run` must have ended."""
        await self._exchange.close()

    async def _join(self) -> None:
        await self._exchange.join()
        # What was counted alone is not told later: others would refuse clients for it all at once.
        for limit in self._limits:
            for _ in range(0, len(limit.changed), _SKIPPED):
                skip(limit.changed.take(_SKIPPED))
                await pacing.pause()
        self.is_joined = True
        self._share_among(self._exchange.participants)

    async def _exchange_until_unreachable(self) -> None:
        joined_at = time.monotonic()
        exchanges, rest_seconds = 0, 0.0
        while True:
            await asyncio.sleep(rest_seconds)
            if await is_set_within(self._changed, joined_at + JOIN_AGAIN_SECONDS - time.monotonic()):
                await is_set_within(self._hurried, INTERVAL_SECONDS - rest_seconds)
            self._hurried.clear()
            began = time.monotonic()
            if began >= joined_at + JOIN_AGAIN_SECONDS:
                await self._exchange.join()
                joined_at, exchanges = began, 0
            for _ in range(_BATCHES):
                if not await self.exchange_once():
                    break
            if not self.waiting:
                self._changed.clear()
            self._share_among(self._exchange.participants)
            exchanges += 1
            is_throttled = exchanges > _AT_ONCE
            rest_seconds = min(_REST * (time.monotonic() - began), INTERVAL_SECONDS) if is_throttled else 0.0

    async def exchange_once(self) -> bool:
        """Tell the others of some changed keys; return whether there were as many as are told at a time.

        Raises:
            UnreachableError: it is not known whether they were told. They will not be told again.
        """
        taken: list[tuple[_Limit, Change]] = []
        for limit in sorted(self._limits, key=lambda each: len(each.changed)):  # a flood of one delays no other
            taken.extend((limit, change) for change in limit.changed.take(_BATCH - len(taken)))
        if not taken:
            return False
        told = [
            Told(limit.digest(change.key), int(limit.window.window_seconds), change.hits, change.window.position)
            for limit, change in taken
        ]
        try:
            answers = await self._exchange.tell(told)
        except BaseException:
            skip([change for _, change in taken])
            raise
        for (limit, change), heard in zip(taken, answers, strict=True):
            limit.window.add_told(change.window, heard.hits, heard.position)
        self.exchanges += 1
        return len(taken) == _BATCH

    def _share_among(self, participants: int) -> None:
        if participants != self._participants:
            self._participants = participants
            for limit in self._limits:
                limit.window.share_among(participants)


def _derived_key(secret: str, name: str, window_seconds: float) -> bytes:
    return blake2b(f"flagstaff limit {name} per {window_seconds:g} s".encode(), key=_secret_key(secret)).digest()


def _secret_key(secret: str) -> bytes:
    return blake2b(secret.encode("utf-8", "surrogatepass")).digest()
