"""Memory use: of a thousand environments, and after evaluations for a million users."""

import gc
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.evaluations import CONNECTIONS, PATH
from bench.flag_sets import FlagSet, make_mixed_set
from bench.machine import Cores, resident_mib
from bench.servers import FlagstaffServer, Switches
from bench.wrk import put_load
from flagstaff.evaluation.snapshot_assembly import compile_environment


def measure_memory(folder: Path, flags: FlagSet, cores: Cores, *, environments: int, users: int) -> dict[str, float]:
    """Measure both and print them."""
    # In a separate process, whose memory contains nothing else.
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        of_environments = process.submit(_compile_environments, environments).result()
    result = {
        "mib_per_1000_environments_of_100_flags": of_environments / environments * 1000,
        **_serve_users(folder, flags, cores, users),
    }
    print(f"1,000 environments of 100 flags: {result['mib_per_1000_environments_of_100_flags']:.0f} MiB")
    print(f"{result['users']:,.0f} evaluations by as many users: {result['growth_mib']:+.1f} MiB\n")
    return result


def _compile_environments(count: int) -> float:
    held: list[Any] = []
    for warm_up in (True, False):
        before = resident_mib(os.getpid())
        for _ in range(10 if warm_up else count):
            flags = make_mixed_set(100)
            held.append(compile_environment(flags.environment, flags.flags))
        del flags
        gc.collect()
    return resident_mib(os.getpid()) - before


def _serve_users(folder: Path, flags: FlagSet, cores: Cores, users: int) -> dict[str, float]:
    with FlagstaffServer(cores.server, folder / "data", Switches()) as server:
        server.wait_until_it_is_loaded()

        def load(seconds: int, user: int) -> int:
            key = flags.project.sdk_key or ""
            url = server.url + PATH
            return put_load(
                url, core=cores.load, seconds=seconds, connections=CONNECTIONS, sdk_key=key, user=user
            ).requests

        served = warm_up = load(1, 0)
        before = resident_mib(server.pid)
        while served < warm_up + users:
            served += load(5 if users > 100_000 else 1, served)
        return {"users": served - warm_up, "growth_mib": resident_mib(server.pid) - before}
