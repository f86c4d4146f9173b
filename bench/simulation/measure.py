"""Measures the processor time that the simulation starts with, and toggles to compare it with.

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

import asyncpg

from bench.machine import scheduled
from bench.simulation.delays import BESIDE, CROWDED
from bench.simulation.usage import describe, measure_usage
from bench.toggles import CONNECTIONS, Fleet, fleet
from tests.support.postgres import PostgresServer
from tests.support.stores import make_postgresql_template

FILE = Path(__file__).with_name("measured.json")
COUNTS = (1, 2, 3, 4, 8, 16, 32)
INPUTS = (1, BESIDE, CROWDED)  # the processor time that the simulation starts with
_TIMES, _MESSAGES, _SLEEPERS, _RUNS, _RUN = 100, 2000, 20, 5, 30


async def _steps(url: str) -> dict[str, list[float]]:
    """The processor time of what grows with the instances, in milliseconds, sorted, while nothing else runs."""
    sender, listener = [await asyncpg.connect(url) for _ in range(2)]
    arrived: asyncio.Queue[str] = asyncio.Queue()
    await listener.add_listener("bench", lambda *given: arrived.put_nowait(given[-1]))
    session = await sender.fetchval("SELECT pg_backend_pid()")

    async def send() -> None:
        await sender.fetch("SELECT pg_notify('elsewhere', 'x')")

    async def send_some() -> float:
        before = scheduled([session]).ran
        for _ in range(_TIMES):
            await send()
        return (scheduled([session]).ran - before) * 1000 / _TIMES

    async def flood() -> float:
        before = time.process_time()
        await sender.fetch("SELECT pg_notify('bench', n::text) FROM generate_series(1, $1::int) AS n", _MESSAGES)
        for _ in range(_MESSAGES):
            await arrived.get()
        return (time.process_time() - before) * 1000 / _MESSAGES

    steps = {
        "message": [await flood() for _ in range(20)],
        "send": [await send_some() for _ in range(20)],
        "wake": await _wakes(url, send),
    }
    await sender.close()
    await listener.close()
    return {name: sorted(round(each, 4) for each in sample) for name, sample in steps.items()}


async def _wakes(url: str, send: Callable[[], Awaitable[None]]) -> list[float]:
    """The processor time of sessions that listen to another channel for one notification."""
    async with AsyncExitStack() as stack:
        sessions = []
        for _ in range(_SLEEPERS):
            session = await asyncpg.connect(url)
            stack.push_async_callback(session.close)
            await session.add_listener("nothing", lambda *_: None)
            sessions.append(await session.fetchval("SELECT pg_backend_pid()"))
        before = [scheduled([each]).ran for each in sessions]
        for _ in range(_TIMES):
            await send()
            await asyncio.sleep(0.005)  # so that each wakes them
        after = [scheduled([each]).ran for each in sessions]
    return [(now - then) * 1000 / _TIMES for now, then in zip(after, before, strict=True)]


async def _toggles(measured: Fleet) -> list[float]:
    """The run with the lowest median of several: other work on the machine adds to all, and to some much."""
    return min([await measured.time_toggles(_RUN) for _ in range(_RUNS)], key=statistics.median)


async def _measure(only: str | None) -> None:
    measured: dict[str, Any] = json.loads(FILE.read_text()) if only else {}
    measured = {"steps": {}, "usage": {}, "toggles": {}} | measured
    inputs, rows = only != "rows", only != "inputs"
    with (
        tempfile.TemporaryDirectory() as folder,
        PostgresServer(settings={"max_connections": str(CONNECTIONS)}) as postgres,
    ):
        await make_postgresql_template(postgres, Path(folder))
        for count in COUNTS if rows else INPUTS:
            async with fleet(Path(folder) / f"{count}", count, postgres) as made:
                if inputs and count == 1:
                    assert made.database_url is not None
                    measured["steps"] = await _steps(made.database_url)
                if inputs and count in INPUTS:
                    usage = measured["usage"][str(count)] = await measure_usage(made)
                    _say(f"{count} instances, ms of processor time: {describe(usage)}")
                if rows:
                    taken = measured["toggles"][str(count)] = await _toggles(made)
                    _say(f"{count} instances: {statistics.median(taken):.1f} ms")
            FILE.write_text(json.dumps(measured) + "\n")
    for name, sample in measured["steps"].items():
        _say(f"{name}: {statistics.median(sample):.4f} ms")


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
