"""Write a million evaluations into a new store and time what reads them.

`python -m bench.history [--attributes none|few|many] [postgresql://…]`: with `few`, an evaluation has three attributes
whose values repeat, and with `many` also the id of a session. The PostgreSQL database must be empty; it is left full.

`--single RATE` writes and counts evaluations of single flags instead, so many a second, as single_flags.py describes.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec

from bench.single_flags import Load
from flagstaff.database.database import Database
from flagstaff.database.migrate import migrate
from flagstaff.database.sqlite.files import HISTORY_FILE
from flagstaff.evaluation.history.filters import EvaluationFilter, FlagFilter
from flagstaff.evaluation.history.layout import NO_BUCKET, Layout, LayoutFlag
from flagstaff.evaluation.history.records import BATCH_IDS, RecordBatch, RecordGroup
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store import rollups
from flagstaff.history.store.batches import list_recorded_environments, write_batches
from flagstaff.history.store.pages import list_evaluations
from flagstaff.history.store.sums import sum_by_interval

EVALUATIONS = 1_000_000
BATCH = 5_000
USERS = 200_000
FLAGS = 20
START = datetime(2026, 11, 20, tzinfo=UTC)
GAP_NANOSECONDS = 86_400 * 10**9 // EVALUATIONS
FEW = {
    "plan": ["free", "pro", "team"],
    "country": [f"C{number}" for number in range(30)],
    "app_version": [f"{number // 10}.{number % 10}.0" for number in range(30)],
}


def make_layout(attributes: str = "none") -> Layout:
    """A third of the flags in a rollout, a third with rules, a third constant."""
    flags = [
        LayoutFlag(
            uuid4(),
            f"flag-{place}",
            (20, 0, 0)[place % 3],
            (Outcome.NOT_IN_ROLLOUT, Outcome.ON, Outcome.OFF)[place % 3],
        )
        for place in range(FLAGS)
    ]
    return Layout(
        recorded=tuple(flag for flag in flags if flag.default != Outcome.OFF),
        constant=tuple(flag for flag in flags if flag.default == Outcome.OFF),
        attributes={"none": (), "few": tuple(FEW), "many": (*FEW, "session")}[attributes],
    )


def make_attributes(layout: Layout) -> list[bytes] | None:
    """Return the attributes of a batch that a layout names."""
    if not layout.attributes:
        return None
    found = [{name: random.choice(values) for name, values in FEW.items()} for _ in range(BATCH)]
    if "session" in layout.attributes:
        found = [{**each, "session": str(uuid4())} for each in found]
    return [msgspec.json.encode(each) for each in found]


def make_batch(environment_id: Any, layout: Layout, first: int) -> RecordBatch:
    """A batch, `first` evaluations after the start."""
    in_rollout = [flag.default == Outcome.NOT_IN_ROLLOUT for flag in layout.recorded]
    start = int(START.timestamp()) * 10**9
    times = [start + place * GAP_NANOSECONDS for place in range(first, first + BATCH)]
    users = [f"user-{random.randrange(USERS)}" for _ in times]
    emails = [f"{user}@example.com" for user in users]
    recorded = [bytes(random.randrange(100) if each else NO_BUCKET for each in in_rollout) for _ in times]
    group = RecordGroup(environment_id, layout, times, users, emails, recorded, make_attributes(layout))
    return RecordBatch(random.randrange(BATCH_IDS), [group])


async def timed(name: str, work: Callable[[], Awaitable[Any]], repeat: int = 7) -> None:
    """Print how long a step takes."""
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        outcome = await work()
        times.append((time.perf_counter() - started) * 1000)
    print(f"{name:52} {statistics.median(times):8.1f} ms  (worst {max(times):.1f})  {outcome}")


async def main(url: str | None, attributes: str, single: float | None) -> None:
    """Write, then read."""
    with tempfile.TemporaryDirectory() as folder:
        await migrate(url, Path(folder))
        database = Database(url, Path(folder))
        try:
            if single is None:
                await run(database, Path(folder), make_layout(attributes))
                return
            load = Load(database, single)
            await load.run()
            print(await load.report())
            print(f"    {await size_of(database, Path(folder)) / load.evaluations:.1f} bytes each on disk")
        finally:
            await database.close()


async def size_of(database: Database, folder: Path) -> int:
    """The bytes on disk."""
    if not database.is_postgresql:
        return (folder / HISTORY_FILE).stat().st_size
    async with database.read_history() as connection:
        partitions = "SELECT sum(pg_total_relation_size(relid))::bigint FROM pg_partition_tree('history.segments')"
        return (await connection.exec_driver_sql(partitions)).scalar() or 0


async def run(database: Database, folder: Path, layout: Layout) -> None:
    """Write, then read, in an open database."""
    environment_id = uuid4()
    spent, longest = 0.0, 0.0
    for first in range(0, EVALUATIONS, BATCH):
        batch = make_batch(environment_id, layout, first)
        started = time.perf_counter()
        async with database.write_history() as connection:
            await write_batches(connection, batch)
        spent += time.perf_counter() - started
        longest = max(longest, time.perf_counter() - started)
    print(f"{EVALUATIONS:,} evaluations of {FLAGS} flags in batches of {BATCH:,}")
    print(f"written in {spent / EVALUATIONS * 1e6:.2f} µs each; longest batch {longest * 1000:.0f} ms")
    print(f"{await size_of(database, folder) / EVALUATIONS:.1f} bytes each")
    async with database.read_history() as connection:
        number = (await list_recorded_environments(connection))[environment_id]

    async def page(wanted: EvaluationFilter, before: bytes | None = None) -> str:
        async with database.read_history() as connection:
            found = await list_evaluations(connection, number, wanted, limit=50, before=before)
        return f"{len(found.items)} items{', more' if found.next_before else ''}"

    async def summary(interval: int) -> str:
        minute = int(START.timestamp()) // 60
        async with database.read_history() as connection:
            day = range(minute, minute + 1440)
            sums = await sum_by_interval(connection, number, day, day[::interval], max_cells=100_000)
        intervals = [len([*intervals]) for _, intervals in sums.take()]
        return f"{sum(intervals):,} intervals of {len(intervals)} flags"

    async def roll_up() -> None:
        more = True
        while more:
            async with database.write_history() as connection:
                more = await rollups.roll_up(connection, number)

    middle = START + timedelta(hours=12)
    rollout, ruled, constant = "flag-0", "flag-1", "flag-2"
    await timed("newest page", lambda: page(EvaluationFilter()))
    await timed("page before noon", lambda: page(EvaluationFilter(until=middle)))
    await timed("a user (about 5 evaluations)", lambda: page(EvaluationFilter(user_id="user-77")))
    await timed("an email (about 5 evaluations)", lambda: page(EvaluationFilter(user_email="USER-78@example.com")))
    await timed("an unknown user", lambda: page(EvaluationFilter(user_id="nobody")))
    await timed("a flag", lambda: page(EvaluationFilter(flag=FlagFilter(key=rollout))))
    await timed("a rollout, on", lambda: page(EvaluationFilter(flag=FlagFilter(key=rollout, enabled=True))))
    await timed("a flag never off, off", lambda: page(EvaluationFilter(flag=FlagFilter(key=ruled, enabled=False))))
    await timed("a constant flag, on", lambda: page(EvaluationFilter(flag=FlagFilter(key=constant, enabled=True))))
    await timed("an unknown flag", lambda: page(EvaluationFilter(flag=FlagFilter(key="nothing"))))
    await timed("summary of a day by hour, before the roll-up", lambda: summary(60))
    await timed("rolling a day up", roll_up, repeat=1)
    await timed("summary of a day by hour", lambda: summary(60))
    await timed("summary of a day by minute", lambda: summary(1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attributes", choices=["none", "few", "many"], default="none")
    parser.add_argument("url", nargs="?")
    parser.add_argument("--single", type=float, metavar="RATE")
    given = parser.parse_args()
    asyncio.run(main(given.url, given.attributes, given.single))
