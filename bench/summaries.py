"""Summaries of a large history during evaluations: `python -m bench.summaries`.

A thousand flags over ninety days, evaluated in every minute of the last two and in every hour before. Prints the time
of each kind of summary, and the evaluations' latency with and without them.
"""

import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from bench.machine import NotReadyError, choose_cores
from bench.servers import FlagstaffServer, Switches
from bench.soak import Connection, Place, make_place, percentile
from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.database.sqlite.files import HISTORY_FILE
from flagstaff.history.store.flag_counts import DAY, HOUR

FLAGS, DAYS, BUSY_DAYS = 1000, 90, 2
EVALUATIONS_A_SECOND, SECONDS_EACH = 290, 8
KINDS = ((4, 20), (5, 20))  # in a rollout of 20 % and outside
TODAY = int(datetime.now(UTC).timestamp()) // 60 // DAY * DAY


def make_rows(day: int) -> Iterator[dict[str, Any]]:
    """Yield the counts of a day; the oldest day is 0."""
    start = TODAY - (DAYS - day) * DAY
    minutes = 60 if day >= DAYS - BUSY_DAYS else 1
    for number in range(FLAGS):
        shared = {"environment": 1, "flag_key": f"flag-{number:04}", "version": 1}
        yield {**shared, "span": DAY, "start": start, "counts": make_counts(24)}
        for hour in range(24):
            yield {**shared, "span": HOUR, "start": start + hour * HOUR, "counts": make_counts(minutes)}


def make_counts(parts: int) -> bytes:
    """Return counts for this number of parts."""
    kinds = [(*kind, {part: random.randrange(1, 5000) for part in range(parts)}) for kind in KINDS]
    return msgspec.msgpack.encode(kinds)


async def fill(data: Path, environment_id: UUID) -> None:
    """Write the counts, and print the time and the size."""
    database, file = Database(None, data), data / HISTORY_FILE
    try:
        async with database.write_history() as connection:
            await connection.execute(tables.recorded_environments.insert().values(environment_id=environment_id))
        for day in range(DAYS):
            if day == DAYS - BUSY_DAYS:
                before = file.stat().st_size
            async with database.write_history() as connection:
                await connection.execute(tables.flag_counts.insert(), list(make_rows(day)))
    finally:
        await database.close()
    busy = (file.stat().st_size - before) / BUSY_DAYS / FLAGS
    print(f"{FLAGS:,} flags over {DAYS} days: {file.stat().st_size / 2**20:.0f} MiB")
    print(f"{busy:,.0f} bytes for a flag and a day with evaluations in every minute")


async def evaluate(connections: list[Connection], seconds: float) -> list[float]:
    """Evaluate at a steady rate; return the time of each evaluation."""
    ends_at, took = time.perf_counter() + seconds, []

    async def repeat(connection: Connection) -> None:
        while time.perf_counter() < ends_at:
            began = time.perf_counter()
            await connection.call("POST", "/sdk/v1/evaluate", {"environment": "production"})
            took.append(time.perf_counter() - began)
            await asyncio.sleep(max(0, began + len(connections) / EVALUATIONS_A_SECOND - time.perf_counter()))

    await asyncio.gather(*map(repeat, connections))
    return took


async def measure(url: str, place: Place) -> None:
    """Request each kind of summary repeatedly during evaluations."""
    now = datetime.now(UTC)
    period = f"since={now - timedelta(days=DAYS):%Y-%m-%dT%H:%M:%SZ}&until={now:%Y-%m-%dT%H:%M:%SZ}"
    wanted = {
        "no summaries": None,
        "one flag, 90 days by day": f"{period}&interval=1d&flag_key=flag-0500",
        "one flag, 40 days by hour": f"since={now - timedelta(days=40):%Y-%m-%dT%H:%M:%SZ}&flag_key=flag-0500",
        "1,000 flags, last day by hour": "interval=1h",
        "1,000 flags, 90 days by day": f"{period}&interval=1d",
    }
    connections = [Connection(url, {"X-SDK-Key": place.sdk_key}) for _ in range(8)]
    reader = Connection(url, place.authorization)
    for name, query in wanted.items():
        loading = asyncio.create_task(evaluate(connections, SECONDS_EACH))
        took, size = [], 0
        while query and not loading.done():
            began = time.perf_counter()
            size = len(await reader.call("GET", f"{place.path}/evaluations/summary?{query}"))
            took.append(time.perf_counter() - began)
        evaluations = await loading
        summary = f"{statistics.median(took) * 1000:7.1f} ms, {size / 1e6:5.2f} MB" if took else ""
        p50, p99 = percentile(evaluations, 0.5), percentile(evaluations, 0.99)
        print(f"{name:30} {summary:24} evaluate p50 {p50:5.2f} ms, p99 {p99:6.2f} ms", flush=True)
    for each in [*connections, reader]:
        each.close()


def main() -> None:
    """Fill a history and measure."""
    try:
        cores = choose_cores()
    except NotReadyError as error:
        sys.exit(f"summaries: {error}")
    with tempfile.TemporaryDirectory(prefix="flagstaff-summaries-") as folder:
        data = Path(folder) / "data"
        with FlagstaffServer(cores.server, data, Switches()) as server:
            server.wait_until_it_is_loaded()
            place = asyncio.run(make_place(server, 20))
        asyncio.run(fill(data, UUID(place.path.rpartition("/")[2])))
        with FlagstaffServer(cores.server, data, Switches()) as server:
            server.wait_until_it_is_loaded()
            asyncio.run(measure(server.url, place))


if __name__ == "__main__":
    main()
