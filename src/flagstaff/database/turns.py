"""Turns at what all accounts share of the database: its connections, and SQLite's one writer.

Kills come first, then what is short. In each class accounts take turns, however many requests each has waiting.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from time import perf_counter
from typing import NamedTuple

import structlog

from flagstaff.concurrency.claims import current_claim
from flagstaff.concurrency.fair_queue import FairQueue
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import unavailable

log = structlog.get_logger(__name__)

WAIT_SECONDS = 5.0
"""For how long a turn is waited for. A write then waits as long for a file that another program has locked."""
LONG_TURN_SECONDS = 0.25
"""A write that takes longer is logged."""
_WAITING = 4096
BUSY = "The database is busy with other requests. Nothing was changed. Try again shortly."
_TOO_MANY = "Too many requests are waiting for the database. Nothing was changed. Try again shortly."
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Turns:
    """Grants turns by the current claim (concurrency/claims.py)."""

    def __init__(
        self, at_once: int, *, kept: tuple[int, int, int] = (0, 0, 0), wait_seconds: float = WAIT_SECONDS
    ) -> None:
        """`kept` is how many turns each class never gets, as `FairQueue` has it."""
        self._wait_seconds = wait_seconds
        # An account's requests are bounded where they are admitted; what has no account is bounded only in all.
        self._queue = FairQueue(
            at_once=at_once,
            waiting=_WAITING,
            waiting_of_one=_WAITING,
            too_many=_TOO_MANY,
            too_many_of_one=_TOO_MANY,
            kept=kept,
        )

    def close(self) -> None:
        """Give up what turns of several processes need."""

    @property
    def waiting(self) -> dict[str, int]:
        """How many wait, by class."""
        return self._queue.waiting

    def has_others(self) -> bool:
        """Return whether others of the class of the current claim have turns besides the one that it has."""
        return self._queue.running[current_claim().priority] > 1

    @asynccontextmanager
    async def take(self) -> AsyncIterator[None]:
        """Wait for a turn, and keep it until the context ends; raises Error UNAVAILABLE if none comes in time."""
        claim = current_claim()
        turn = self._queue.take(claim.client, claim.priority)
        try:
            async with asyncio.timeout(self._wait_seconds):
                await turn.__aenter__()
        except TimeoutError:
            raise unavailable(BUSY) from None
        try:
            yield
        finally:
            await turn.__aexit__(None, None, None)


class DatabaseTurns(NamedTuple):
    """The turns at each of the engines (engines.py). With PostgreSQL they share one pool."""

    reader: Turns
    querier: Turns
    writer: Turns
    history_reader: Turns
    history_writer: Turns


class WriteTimes:
    """How long writes wait for their turn and then keep it, by class."""

    def __init__(self) -> None:
        self._observe_wait: Callable[[str, float], None] = _ignore
        self._observe_turn: Callable[[str, float], None] = _ignore

    def export_metrics(self, metrics: Metrics, turns: Turns) -> None:
        """Export both as histograms, and how many writes and other requests wait for these turns."""
        self._observe_wait = metrics.add_labelled_histogram(
            "write_wait_seconds", "How long writes waited for their turn at the database.", "class", _BUCKETS
        )
        self._observe_turn = metrics.add_labelled_histogram(
            "write_turn_seconds", "How long writes kept their turn at the database.", "class", _BUCKETS
        )
        metrics.add_labelled_gauge(
            "writes_waiting", "Requests that wait for a turn to write.", "class", lambda: turns.waiting
        )

    @contextmanager
    def measuring(self) -> Iterator[Callable[[], None]]:
        """Measure a write. The value is called when its turn has come."""
        claim = current_claim()
        name = claim.priority.name.lower()
        asked_at, began_at = perf_counter(), None

        def begin() -> None:
            nonlocal began_at
            began_at = perf_counter()
            self._observe_wait(name, began_at - asked_at)

        try:
            yield begin
        finally:
            if began_at is not None:
                seconds = perf_counter() - began_at
                self._observe_turn(name, seconds)
                if seconds >= LONG_TURN_SECONDS and self._observe_turn is not _ignore:  # a command does not log it
                    client = None if claim.client is None else str(claim.client)
                    log.warning("long_write_turn", seconds=round(seconds, 3), priority=name, client=client)


def _ignore(_class: str, _seconds: float) -> None:
    """Export nothing."""
