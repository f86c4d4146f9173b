"""Fills the history as a server does: batch after batch, with the retention in between."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from bench.volume.costs import Reading, ask, find_postmaster, read_meters, read_sizes
from bench.volume.traffic import PROJECT, Traffic, make_flags
from flagstaff.database.database import Database
from flagstaff.database.migrate import migrate
from flagstaff.history.history_service import History
from flagstaff.history.retention import HistoryRetention
from flagstaff.history.store.distinct_users.user_rollups import roll_up_users
from flagstaff.values.errors import Code, Error
from tests.support.builders import make_account, make_project, store_all

T = TypeVar("T")

ROLL_UP_SECONDS, PURGE_SECONDS = 5, 60  # as in a server
RETENTION = timedelta(days=90)
NEWEST = "SELECT coalesce(max(last_time), 0) FROM history.segments"


@dataclass(slots=True)
class Fill:
    """A history that is being filled. Its clock is the time of the newest evaluation."""

    database: Database
    traffic: Traffic
    postmaster: int
    batch_size: int
    written: int = 0
    spent: dict[str, float] = field(default_factory=dict)  # seconds by kind of work
    own: float = 0.0  # seconds of this process's processor in batches
    longest: float = 0.0

    def now(self) -> datetime:
        """The time that has been reached."""
        return self.traffic.moment(self.written)

    @property
    def retention(self) -> HistoryRetention:
        """The retention, whose clocks are those of the evaluations."""

        async def read_clock(_: Any) -> datetime:
            return self.now()

        return HistoryRetention(self.database, self.now, RETENTION, read_clock=read_clock)

    async def write(self, until: int, is_over: Callable[[], bool]) -> None:
        """Write evaluations up to a number, or until it is over."""
        history, retention = History(self.database, self.now), self.retention
        await retention.prepare_days()
        rolled_up = purged = time.monotonic()
        before, first = await read_meters(self.database, self.postmaster), self.written
        while self.written < until and not is_over():
            with self._timed("traffic"):
                batch = self.traffic.batch(self.written, min(self.batch_size, until - self.written))
            began = time.perf_counter()
            with self._timed("batches"):
                await _insist(lambda: history.record(batch))  # noqa: B023 - awaited at once
            self.longest = max(self.longest, time.perf_counter() - began)
            self.written += batch.size
            if time.monotonic() - rolled_up > ROLL_UP_SECONDS:
                with self._timed("roll-ups"):
                    await _insist(retention.roll_up)
                rolled_up = time.monotonic()
            if time.monotonic() - purged > PURGE_SECONDS:
                with self._timed("purges"):
                    await _insist(retention.purge)
                purged = time.monotonic()
        with self._timed("roll-ups"):
            await _insist(retention.roll_up)
        await self._report(self.written - first, await read_meters(self.database, self.postmaster) - before)

    async def count_users(self) -> None:
        """Count all users that are left to count."""
        before, first = await read_meters(self.database, self.postmaster), await self._uncounted()
        for (number,) in await self._environments():
            more = True
            while more:
                more = await _insist(lambda: self._count_some(number))  # noqa: B023 - awaited at once
        used = await read_meters(self.database, self.postmaster) - before
        each = 1e6 / max(1, first)
        print(f"  users of {first:,} evaluations were left to count: {used.elapsed:.0f} s,", end=" ")
        print(f"processor {used.own * each:.2f} µs here and {used.server * each:.2f} µs in PostgreSQL each", flush=True)

    async def _count_some(self, number: int) -> bool:
        async with self.database.write_history() as connection:
            return await roll_up_users(connection, number)

    async def _uncounted(self) -> int:
        (found,) = await ask(
            self.database,
            "SELECT coalesce(sum(size), 0)::bigint FROM history.segments JOIN history.recorded_environments"
            " ON environment = number WHERE id > counted_segment",
        )
        return int(found)

    async def _environments(self) -> Any:
        async with self.database.read_history() as connection:
            return (await connection.exec_driver_sql("SELECT number FROM history.recorded_environments")).all()

    async def _report(self, count: int, used: Reading) -> None:
        sizes, each = await read_sizes(self.database), 1e6 / max(1, count)
        batches = self.spent.get("batches", 0)
        print(f"{self.written:,} evaluations; the last {count:,}:")
        print(f"  {count / max(batches, 1e-9):,.0f} a second, longest batch {self.longest * 1000:,.0f} ms;", end=" ")
        print(", ".join(f"{name} {seconds:.0f} s" for name, seconds in self.spent.items()))
        print(f"  processor {self.own * each:.2f} µs here for batches", end=" ")
        print(f"and {used.server * each:.2f} µs in PostgreSQL each,", end=" ")
        print(f"{used.log / max(1, count):.0f} bytes of log each")
        per = 1 / max(1, self.written)
        print(f"  {sizes.total * per:.1f} bytes each, of which indexes {sizes.indexes * per:.2f}", end=" ")
        print(f"and rows {sizes.rows * per:.1f}; other tables {sizes.others / 1e6:.0f} MB", flush=True)
        self.spent.clear()
        self.own = self.longest = 0.0

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        began, own = time.perf_counter(), time.process_time()
        yield
        self.spent[name] = self.spent.get(name, 0) + time.perf_counter() - began
        if name == "batches":
            self.own += time.process_time() - own


async def _insist(work: Callable[[], Awaitable[T]]) -> T:
    """Repeat what the database had no time for, as a server does."""
    while True:
        try:
            return await work()
        except Error as error:
            if error.code is not Code.UNAVAILABLE:
                raise
            await asyncio.sleep(1)


async def open_fill(url: str, folder: Path, traffic: Traffic, batch_size: int) -> Fill:
    """Prepare an empty database, or go on with one that was filled before."""
    await migrate(url, folder)
    database = Database(url, folder)
    (accounts,) = await ask(database, "SELECT count(*) FROM public.accounts")
    if not accounts:
        owner = make_account()
        flags: list[Any] = []
        for each in (traffic.production, traffic.staging):
            targeted = make_flags(each.environment)
            flags += [
                each.environment,
                *(one.flag for one in targeted),
                *(rule for one in targeted for rule in one.rules),
            ]
        await store_all(database, owner, make_project(owner.id, id=PROJECT), *flags)
    (newest,) = await ask(database, NEWEST)
    written = traffic.number_after(newest) if newest else 0
    return Fill(database, traffic, await find_postmaster(database), batch_size, written)
