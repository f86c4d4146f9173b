"""How long the counts and users of single flags stay unknown while a server answers them at a steady rate.

`python -m bench.single_flags_served RATE [--seconds 120] [--url postgresql://…]`: a server on one core answers RATE
OFREP evaluations a second of 1,000 flags for 200,000 users, and records, writes and counts them itself. The load and
this process share the other core. A PostgreSQL database must be empty; it is left full. Every two seconds, the bench
looks whether the distinct users of all flags are known, and how old the oldest evaluation is that is not yet counted.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.flag_sets import FlagSet, make_ofrep_set, store_flag_sets
from bench.machine import Cores, NotReadyError, check_tools, choose_cores, cpu_seconds
from bench.servers import FlagstaffServer, Switches
from bench.single_flags import FLAGS, look, measure_stored
from flagstaff.database.database import Database

CONNECTIONS = 100
LOOK_SECONDS = 2.0


@dataclass
class Waits:
    """What was seen while the server was under load."""

    looks: int = 0
    unknown: int = 0
    oldest_seconds: float = 0.0


async def measure(rate: float, seconds: int, url: str | None) -> None:
    """Load a server, look at its history meanwhile, and print what was seen."""
    check_tools()
    cores = choose_cores()
    os.sched_setaffinity(0, {cores.load})
    flags = make_ofrep_set(FLAGS)
    with tempfile.TemporaryDirectory(prefix="flagstaff-bench-") as folder:
        data = Path(folder) / "data"
        data.mkdir(mode=0o700)
        await store_flag_sets(data, [flags], url)
        settings = {"FLAGSTAFF_DATABASE_URL": url} if url else {}
        database = Database(url, data)
        try:
            with FlagstaffServer(cores.server, data, Switches(), settings) as server:
                server.wait_until_it_is_loaded()
                await _load_and_look(server, database, flags, cores, rate, seconds)
        finally:
            await database.close()


async def _load_and_look(
    server: FlagstaffServer, database: Database, flags: FlagSet, cores: Cores, rate: float, seconds: int
) -> None:
    used = cpu_seconds(server.pid)
    load = await asyncio.create_subprocess_exec(
        *_load_command(server.url, flags, cores, rate, seconds), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    waits = Waits()
    loaded = asyncio.create_task(load.communicate())
    while not loaded.done():
        await asyncio.wait({loaded}, timeout=LOOK_SECONDS)
        await _look(database, flags, waits)
    used = cpu_seconds(server.pid) - used
    said, _ = loaded.result()
    print(said.decode())
    stored = await measure_stored(database)
    print(f"{rate:,.0f} a second: {stored.segments:,} segments of {stored.bytes:,} bytes")
    print(f"    the server used {used / seconds:.0%} of its core")
    print(
        f"    users unknown {waits.unknown} times of {waits.looks}; an evaluation waited {waits.oldest_seconds:.0f} s"
    )


async def _look(database: Database, flags: FlagSet, waits: Waits) -> None:
    seen = await look(database, flags.environment.id, time.time())
    waits.looks += 1
    waits.unknown += seen.users is None
    waits.oldest_seconds = max(waits.oldest_seconds, seen.oldest_seconds)


def _load_command(url: str, flags: FlagSet, cores: Cores, rate: float, seconds: int) -> tuple[str, ...]:
    wait = round(CONNECTIONS / rate * 1000)
    wrk = ("taskset", "-c", str(cores.load), "wrk", "--threads=1", f"--connections={CONNECTIONS}", "--latency")
    script = Path(__file__).with_name("single.lua")
    return (*wrk, f"--duration={seconds}s", f"--script={script}", url, "--", flags.sdk_key, str(FLAGS), str(wait))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rate", type=float)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--url")
    given = parser.parse_args()
    try:
        asyncio.run(measure(given.rate, given.seconds, given.url))
    except NotReadyError as error:
        sys.exit(f"bench: {error}")
