"""Erases one user among ten million evaluations: `python -m bench.erasure [--evaluations 10000000] [postgresql://…]`.

A million evaluations of 200,000 users are written as `bench.history` writes them, and their segments are copied until
there are so many. The PostgreSQL database must be empty; it is left full. The processor time is that of this process.
"""

import argparse
import asyncio
import tempfile
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import sqlalchemy as sa

from bench.history import BATCH, EVALUATIONS, GAP_NANOSECONDS, START, USERS, make_batch, make_layout, size_of
from flagstaff.assembly.bootstrap import utc_now
from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.database.migrate import migrate
from flagstaff.database.tables import microseconds
from flagstaff.history.erased_users import Digests, Subject
from flagstaff.history.store import erasing
from flagstaff.history.store.batches import write_batches
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.people.copies import Copies
from flagstaff.people.eraser import Eraser
from flagstaff.people.erasures_service import Erasures
from tests.support.builders import store_environment

SECRET_KEY = "k" * 40
USER = Subject("user-77", "user-77@example.com")
SECOND = 1_000_000  # microseconds
_PROBE_SECONDS = 0.001


@dataclass
class Longest:
    """The longest times, in seconds, for which the event loop was held and the database's writer was waited for."""

    database: Database
    hold: float = 0.0
    hold_processor: float = 0.0
    writer: float = 0.0

    async def watch_loop(self) -> None:
        """Note how late a task goes on, and how much processor time its thread has used meanwhile."""
        while True:
            due, used = time.perf_counter() + _PROBE_SECONDS, time.thread_time()
            await asyncio.sleep(_PROBE_SECONDS)
            self.hold = max(self.hold, time.perf_counter() - due)
            self.hold_processor = max(self.hold_processor, time.thread_time() - used)

    async def watch_writer(self) -> None:
        """Note how long somebody else waits to write."""
        while True:
            began = time.perf_counter()
            async with self.database.write_history() as connection:
                await connection.execute(sa.select(1))
            self.writer = max(self.writer, time.perf_counter() - began)
            await asyncio.sleep(10 * _PROBE_SECONDS)


async def main(url: str | None, evaluations: int) -> None:
    """Fill a history, erase a user, and print what that takes."""
    with tempfile.TemporaryDirectory(prefix="flagstaff-bench-") as folder:
        await migrate(url, Path(folder))
        database = Database(url, Path(folder))
        await database.open_files()
        try:
            environment = await store_environment(database)
            await fill(database, environment.id, evaluations)
            size = await size_of(database, Path(folder))
            print(f"{evaluations:,} evaluations of {USERS:,} users in {size / 1e6:,.0f} MB", flush=True)
            await erase(database, environment.project_id)
        finally:
            await database.close()


async def fill(database: Database, environment_id: UUID, evaluations: int) -> None:
    """Write evaluations of a day, and their segments again for each earlier day."""
    layout, written = make_layout(), min(evaluations, EVALUATIONS)
    for first in range(0, written, BATCH):
        async with database.write_history() as connection:
            await write_batches(connection, make_batch(environment_id, layout, first))
    segments = tables.segments
    names = [each.name for each in segments.columns if each.name not in ("id", "first_time", "last_time")]
    newest = microseconds(START)
    for day in range(1, evaluations // written):
        back = day * (EVALUATIONS * GAP_NANOSECONDS // 1000)
        times = (segments.c.first_time - back, segments.c.last_time - back)
        copied = sa.select(*(segments.c[name] for name in names), *times).where(segments.c.first_time >= newest)
        async with database.write_history() as connection:
            await connection.execute(segments.insert().from_select([*names, "first_time", "last_time"], copied))
        await database.checkpoint()


async def erase(database: Database, project_id: UUID) -> None:
    """Erase the user as a server does, beside somebody who writes, and print the costs."""
    sealer, digests = Sealer(SECRET_KEY), Digests(SECRET_KEY)
    erasures = Erasures(database, utc_now, digests, sealer, SECRET_KEY)
    eraser = Eraser(database, utc_now, sealer, timedelta(days=1), utc_now, Copies(database, {}))
    began = time.perf_counter()
    preview = await erasures.preview_everywhere(project_id, USER)
    previewed = time.perf_counter() - began
    segments, size = await count(database)
    (erasure,) = await erasures.request_everywhere(project_id, USER, preview.confirmation)
    longest = Longest(database)
    watching = [asyncio.create_task(each()) for each in (longest.watch_loop, longest.watch_writer)]
    began, used = time.perf_counter(), time.process_time()
    await eraser.run(erasure.id)
    took, spent = time.perf_counter() - began, time.process_time() - used
    for each in watching:
        each.cancel()
    done = await erasures.find(erasure)
    print(f"preview: {previewed:.2f} s")
    print(f"erasure: {done.stage}, {done.evaluations} evaluations in {took:.2f} s, {spent:.2f} s of processor time")
    print(f"longest hold of the event loop: {longest.hold * 1e3:.1f} ms, {longest.hold_processor * 1e3:.1f} ms of work")
    print(f"longest wait for the writer: {longest.writer * 1e3:.1f} ms")
    print(f"rewritten: {segments} segments, {size:,} bytes")


async def count(database: Database) -> tuple[int, int]:
    """The segments that an erasure will rewrite, and the bytes of what it will write in their place."""
    found, size, after, until = 0, 0, 0, microseconds(utc_now()) + SECOND
    while True:
        async with database.read_history() as connection:
            some = await erasing.find_segments(connection, 1, USER, after=after, until=until)
            rewritten = await erasing.rewrite_segments(connection, 1, some.ids, USER, until)
        found += len(rewritten)
        size += sum(len(value) for each in rewritten for value in each.values.values())
        if some.next_after is None:
            return found, size
        after = some.next_after


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evaluations", type=int, default=10_000_000)
    parser.add_argument("url", nargs="?")
    given = parser.parse_args()
    asyncio.run(main(given.url, given.evaluations))
