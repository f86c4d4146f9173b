"""One worker and two: `python -m bench.workers` prints requests per second of processor time, and memory.

One worker shares a core with its load, and two workers share two cores with two loads. Two servers of one worker each
show what the machine costs: with the load of each on its own core, and on the other's, which is where half of the load
of two workers comes from. Compare processor time: of the servers' processes, without that of the load.
"""

import argparse
import asyncio
import os
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from bench.evaluations import PATH
from bench.flag_sets import FlagSet, make_mixed_set, store_flag_sets
from bench.machine import cpu_seconds
from bench.servers import FlagstaffServer, Switches
from bench.wrk import Load, put_load
from tests.support.processes import children_of

FLAGS = 20
CONNECTIONS = 8
"""Of each load."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    first, second, *_ = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="flagstaff-workers-") as folder:
        flags = make_mixed_set(FLAGS)
        data = [Path(folder) / name for name in ("one", "other")]
        for each in data:
            each.mkdir()
            asyncio.run(store_flag_sets(each, [flags]))
        both = f"{first},{second}"
        measure = partial(_measure, data, flags, given.seconds)
        for _ in range(given.rounds):
            measure("one worker", [(str(first), 1)], [(first, 0)])
            measure("two workers", [(both, 2)], [(first, 0), (second, 0)])
            measure("two servers", [(str(first), 1), (str(second), 1)], [(first, 0), (second, 1)])
            measure("two servers, crossed", [(str(first), 1), (str(second), 1)], [(second, 0), (first, 1)])


def _measure(
    data: Sequence[Path],
    flags: FlagSet,
    seconds: int,
    name: str,
    servers: Sequence[tuple[str, int]],
    loads: Sequence[tuple[int, int]],
) -> None:
    """Measure servers, each with its cores and workers, under loads, each from a core to one of the servers."""
    with ExitStack() as stack:
        started = [
            stack.enter_context(FlagstaffServer(cores, folder, Switches(), {"FLAGSTAFF_WORKERS": str(workers)}))
            for folder, (cores, workers) in zip(data, servers, strict=False)
        ]
        for server in started:
            server.wait_until_it_is_loaded()
        serving = [
            pid
            for server, (_, workers) in zip(started, servers, strict=True)
            for pid in ([server.pid] if workers == 1 else children_of(server.pid))
        ]
        every = {server.pid for server in started} | set(serving)
        pool = stack.enter_context(ThreadPoolExecutor(len(loads)))

        def put(seconds: int) -> list[Load]:
            return list(
                pool.map(
                    lambda load: put_load(
                        started[load[1]].url + PATH,
                        core=load[0],
                        seconds=seconds,
                        connections=CONNECTIONS,
                        sdk_key=flags.sdk_key,
                    ),
                    loads,
                )
            )

        put(1)
        before = {pid: cpu_seconds(pid) for pid in every}
        requests = sum(load.requests for load in put(seconds))
        used = {pid: cpu_seconds(pid) - before[pid] for pid in every}
        print(
            f"{name}: {requests / sum(used.values()):,.0f} requests per CPU-second, {requests / seconds:,.0f} per "
            f"second, CPU of each {_shown(used[pid] for pid in serving)} s; "
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
