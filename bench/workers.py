"""One worker and two: `python -m bench.workers` prints requests per second of processor time, and memory.

The server may use all cores, and the load takes a part of them, so compare processor time, not requests per second.
"""

import argparse
import asyncio
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from bench.evaluations import PATH
from bench.flag_sets import FlagSet, make_mixed_set, store_flag_sets
from bench.machine import cpu_seconds
from bench.servers import FlagstaffServer, Switches
from bench.wrk import put_load
from tests.support.processes import children_of

FLAGS = 20
CONNECTIONS = 16


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="flagstaff-workers-") as folder:
        data = Path(folder) / "data"
        data.mkdir()
        flags = make_mixed_set(FLAGS)
        asyncio.run(store_flag_sets(data, [flags]))
        for _ in range(given.rounds):
            for workers in (1, 2):
                _measure(data, flags, workers, given.seconds)


def _measure(data: Path, flags: FlagSet, workers: int, seconds: int) -> None:
    cores = ",".join(str(core) for core in sorted(os.sched_getaffinity(0)))
    with FlagstaffServer(cores, data, Switches(), {"FLAGSTAFF_WORKERS": str(workers)}) as server:
        server.wait_until_it_is_loaded()
        serving = [server.pid] if workers == 1 else children_of(server.pid)
        url, key = server.url + PATH, flags.sdk_key
        put_load(url, core=cores, seconds=1, connections=CONNECTIONS, sdk_key=key)
        every = {server.pid, *serving}
        before = {pid: cpu_seconds(pid) for pid in every}
        load = put_load(url, core=cores, seconds=seconds, connections=CONNECTIONS, sdk_key=key)
        used = {pid: cpu_seconds(pid) - before[pid] for pid in every}
        print(
            f"{workers} workers: {load.requests / sum(used.values()):,.0f} requests per CPU-second, "
            f"{load.requests_per_second:,.0f} per second, CPU of each {_shown(used[pid] for pid in serving)} s; "
            f"memory: private {_shown(_mib(pid, 'Private_') for pid in serving)} MiB, "
            f"proportional in all {sum(_mib(pid, 'Pss:') for pid in every):.0f} MiB",
            flush=True,
        )


def _mib(pid: int, kind: str) -> float:
    """Return the memory of these kinds that a process uses."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(kind)) / 1024


def _shown(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.1f}" for value in values)


if __name__ == "__main__":
    main()
