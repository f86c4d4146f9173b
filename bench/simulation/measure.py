"""Measures the delays that the simulation starts with, and toggles to compare it with.

`python -m bench.simulation.measure` writes `measured.json`. It takes some minutes, with a PostgreSQL of its own.
With `--only inputs` or `--only rows`, the other part of the file stays as it is.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from bench.simulation.usage import describe, measure_usage
from bench.toggles import CONNECTIONS, Fleet, fleet
from flagstaff.cluster.leases_store import Member
from flagstaff.cluster.notifications import Notifications
from flagstaff.database.database import Database
from flagstaff.flags.snapshots_service import SnapshotSource
from tests.support.postgres import PostgresServer
from tests.support.stores import make_postgresql_template

FILE = Path(__file__).with_name("measured.json")
COUNTS = (1, 2, 3, 4, 8, 16, 32)
INPUTS = (1, 4)  # the numbers of instances of which the simulation knows the processor time
_WARM_UP, _TIMES, _MESSAGES, _SLEEPERS, _RUNS, _RUN = 20, 100, 2000, 20, 5, 30


async def _times(work: Callable[[], Awaitable[object]], times: int = _TIMES) -> list[float]:
    """Return the sorted durations of a step, in milliseconds."""
    taken = []
    for number in range(_WARM_UP + times):
        began = time.perf_counter()
        await work()
        if number >= _WARM_UP:
            taken.append(round((time.perf_counter() - began) * 1000, 3))
    return sorted(taken)


async def _delays(measured: Fleet, data: Path) -> dict[str, list[float]]:
    """What a toggle consists of, one at a time while nothing else runs."""
    url = measured.database_url
    assert url is not None
    project, environment = UUID(measured.environment["project_id"]), UUID(measured.environment["id"])
    database = Database(url, data)
    source = SnapshotSource(database)
    sender, listener = [await asyncpg.connect(url) for _ in range(2)]
    arrived: asyncio.Queue[str] = asyncio.Queue()
    await listener.add_listener("bench", lambda *given: arrived.put_nowait(given[-1]))
    await sender.execute("CREATE TEMPORARY TABLE written (number int); INSERT INTO written VALUES (0)")

    async def commit() -> None:
        async with sender.transaction():
            await sender.execute("UPDATE written SET number = number + 1")

    async def notify() -> None:
        await sender.fetch("SELECT pg_notify('bench', 'x')")
        await arrived.get()

    async def send() -> None:
        await sender.fetch("SELECT pg_notify('elsewhere', 'x')")

    async def flood() -> float:
        began = time.perf_counter()
        await sender.fetch("SELECT pg_notify('bench', n::text) FROM generate_series(1, $1::int) AS n", _MESSAGES)
        for _ in range(_MESSAGES):
            await arrived.get()
        return (time.perf_counter() - began) * 1000 / _MESSAGES

    feed = Notifications(url, "measured")
    async with feed.session():
        delays = {
            "commit": await _times(commit),
            "delivery": await _times(notify),
            "send": await _times(send),
            "reload": await _times(lambda: source.load_environment(project, environment)),
            "renewal": await _times(lambda: feed.renew(Member("measured", "bench", "0"), None)),
            "read": await _times(lambda: feed.read("measured")),
            "message": sorted([round(await flood(), 4) for _ in range(20)]),
            "wake": await _wakes(url, send),
        }
        await feed.leave("measured")
    await sender.close()
    await listener.close()
    await database.close()
    return delays


async def _wakes(url: str, send: Callable[[], Awaitable[None]]) -> list[float]:
    """The processor time of sessions that listen to another channel for one notification, in milliseconds, sorted."""
    async with AsyncExitStack() as stack:
        sessions = []
        for _ in range(_SLEEPERS):
            session = await asyncpg.connect(url)
            stack.push_async_callback(session.close)
            await session.add_listener("nothing", lambda *_: None)
            sessions.append(await session.fetchval("SELECT pg_backend_pid()"))
        before = [_processor_milliseconds(each) for each in sessions]
        for _ in range(_TIMES):
            await send()
            await asyncio.sleep(0.005)  # so that each wakes them
        after = [_processor_milliseconds(each) for each in sessions]
    return sorted(round((now - then) / _TIMES, 4) for now, then in zip(after, before, strict=True))


def _processor_milliseconds(process: int) -> float:
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1e6


async def _toggles(measured: Fleet) -> list[float]:
    """The run with the lowest median of several: other work on the machine adds to all, and to some much."""
    return min([await measured.time_toggles(_RUN) for _ in range(_RUNS)], key=statistics.median)


async def _measure(only: str | None) -> None:
    measured: dict[str, Any] = json.loads(FILE.read_text()) if only else {}
    measured = {"delays": {}, "usage": {}, "toggles": {}} | measured
    inputs, rows = only != "rows", only != "inputs"
    with (
        tempfile.TemporaryDirectory() as folder,
        PostgresServer(settings={"max_connections": str(CONNECTIONS)}) as postgres,
    ):
        await make_postgresql_template(postgres, Path(folder))
        for count in COUNTS if rows else INPUTS:
            async with fleet(Path(folder) / f"{count}", count, postgres) as made:
                if inputs and count == 1:
                    measured["delays"] = await _delays(made, Path(folder))
                if inputs and count in INPUTS:
                    usage = measured["usage"][str(count)] = await measure_usage(made)
                    _say(f"{count} instances, ms of processor time: {describe(usage)}")
                if rows:
                    taken = measured["toggles"][str(count)] = await _toggles(made)
                    _say(f"{count} instances: {statistics.median(taken):.1f} ms")
            FILE.write_text(json.dumps(measured) + "\n")
    for name, sample in measured["delays"].items():
        _say(f"{name}: {statistics.median(sample):.3f} ms")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Measure, and write the file after each number of instances."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("inputs", "rows"), help="what the simulation starts with, or is compared to")
    asyncio.run(_measure(parser.parse_args().only))


if __name__ == "__main__":
    main()
