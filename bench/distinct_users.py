"""Measures the counting of distinct users: `python -m bench.distinct_users [postgresql://…]`.

The PostgreSQL database must be empty, and is full afterwards. Times are processor time of this process only.
"""

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import sqlalchemy as sa

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.database.migrate import migrate
from flagstaff.evaluation.bucketing import bucket
from flagstaff.evaluation.history.layout import NO_BUCKET, Layout, LayoutFlag
from flagstaff.evaluation.history.records import BATCH_IDS, RecordBatch, RecordGroup
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store.batches import find_environment_number, write_batches
from flagstaff.history.store.distinct_users.user_rollups import roll_up_users
from flagstaff.history.store.distinct_users.user_sums import UserSums, sum_users

START = datetime(2026, 8, 1, tzinfo=UTC)
DAYS = 90
BATCH = 10_000
BATCHES = 10


def make_layout(flags: int) -> Layout:
    """A third of the flags in a rollout, a third with rules, a third constant."""
    kinds = ((20, Outcome.NOT_IN_ROLLOUT), (0, Outcome.ON), (0, Outcome.OFF))
    made = [LayoutFlag(uuid4(), f"flag-{place}", *kinds[place % 3]) for place in range(flags)]
    return Layout(
        recorded=tuple(flag for flag in made if flag.default != Outcome.OFF),
        constant=tuple(flag for flag in made if flag.default == Outcome.OFF),
    )


def recorded_of(layout: Layout, user: str) -> bytes:
    """Return the record of a user whom no rule matches."""
    return bytes(bucket(flag.key, user) if flag.rollout_percentage else NO_BUCKET for flag in layout.recorded)


class Measurement:
    """An environment whose users are written and counted, batch by batch."""

    def __init__(self, database: Database, flags: int) -> None:
        self.database, self.layout, self.environment_id = database, make_layout(flags), uuid4()
        self.writing: list[float] = []
        self.counting: list[float] = []

    async def add(self, users: list[str], day: int = 0) -> None:
        """Write a batch and count its users."""
        start = (int(START.timestamp()) + 86_400 * day) * 10**9
        known = {user: recorded_of(self.layout, user) for user in set(users)}
        times = [start + place for place in range(len(users))]
        recorded = [known[user] for user in users]
        group = RecordGroup(self.environment_id, self.layout, times, users, [None] * len(users), recorded)
        began = time.process_time()
        async with self.database.write_history() as connection:
            await write_batches(connection, RecordBatch(random.randrange(BATCH_IDS), [group]))
        written = time.process_time()
        number, more = await self.number(), True
        while more:
            async with self.database.write_history() as connection:
                more = await roll_up_users(connection, number)
        self.writing.append((written - began) / len(users))
        self.counting.append((time.process_time() - written) / len(users))

    async def number(self) -> int:
        """The environment's number in the history."""
        async with self.database.read_history() as connection:
            return await find_environment_number(connection, self.environment_id) or 0

    async def read(self, key: str) -> str:
        """Read the number of a flag's users on all days."""
        began = time.process_time()
        first = int(START.timestamp()) // 86_400
        sums = UserSums(range(first, first + DAYS), range(first, first + DAYS))
        number = await self.number()
        async with self.database.read_history() as connection:
            await sum_users(connection, number, key, sums)
        found = sums.of_all()
        return f"{(time.process_time() - began) * 1000:.1f} ms, {found}"

    async def stored_bytes(self) -> tuple[int, float]:
        """Return the number of rows of flags, and their average size."""
        columns = tables.flag_users.c
        size = sa.func.length(columns.on_users) + sa.func.length(columns.off_users)
        query = sa.select(sa.func.count(), sa.func.avg(size)).where(columns.environment == await self.number())
        async with self.database.read_history() as connection:
            rows, average = (await connection.execute(query)).one()
        return rows, float(average)


def traffic() -> Iterator[tuple[str, Callable[[int], list[str]]]]:
    """Yield kinds of traffic: a name, and the users of a batch by its number."""
    yield "another user each time", lambda batch: [f"user-{batch * BATCH + each}" for each in range(BATCH)]
    yield "20,000 users", lambda _: [f"user-{random.randrange(20_000)}" for _ in range(BATCH)]
    yield "1,000 users", lambda _: [f"user-{random.randrange(1_000)}" for _ in range(BATCH)]


async def measure(database: Database) -> None:
    """Print all figures."""
    for flags in (20, 100, 1_000):
        for name, users in traffic():
            measured = Measurement(database, flags)
            for batch in range(BATCHES):
                await measured.add(users(batch))
            writing, counting = (min(each[-5:]) * 1e6 for each in (measured.writing, measured.counting))
            print(f"{flags:5} flags, {name:24} written in {writing:6.2f} µs, counted in {counting:6.2f} µs each")
    measured = Measurement(database, 20)
    for day in range(DAYS):
        await measured.add([f"user-{random.randrange(100_000)}" for _ in range(BATCH)], day)
    rows, size = await measured.stored_bytes()
    print(f"{DAYS} days of 20 flags: {rows} rows of flags, {size:.0f} bytes each")
    for key in ("flag-0", "flag-2"):
        print(f"reading {key} on {DAYS} days: {await measured.read(key)}")


async def main(url: str | None) -> None:
    """Measure in a new database."""
    with tempfile.TemporaryDirectory() as folder:
        await migrate(url, Path(folder))
        database = Database(url, Path(folder))
        try:
            await measure(database)
        finally:
            await database.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else None))
