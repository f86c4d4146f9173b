"""How long a toggle takes: on SQLite, and at one of several instances on a PostgreSQL of its own.

`python -m bench.toggles` prints the median of each run of some toggles, best first. With `--workers 4`, each instance
has so many workers. With `--beside FOLDER`, servers from the sources in another checkout take turns with these. With
`--statements`, it prints instead what one toggle has PostgreSQL do.
"""

import argparse
import asyncio
import re
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.machine import scheduled
from bench.raw_http import Connection, request
from flagstaff.database.migrate import migrate
from tests.support.api import Json, environment_path
from tests.support.postgres import PostgresServer
from tests.support.remote import RemoteCaller
from tests.support.server import COMMAND, ServerProcess
from tests.support.stores import Store, execute, make_postgresql_template, postgresql_store
from tests.support.workers import a_caller_of_each, worker_pids

WARM_UP = 20
CONNECTIONS = 1000  # for 32 instances, with room
_SETTLE_SECONDS = 0.5
_SETTLE_SECONDS_EACH = 0.25  # on a busy machine, many that have just started do not confirm a change in time
_STARTED_AT_ONCE = 4
_ENVIRON = {
    "FLAGSTAFF_SECRET_KEY": "k" * 32,
    "FLAGSTAFF_ACCESS_LOG": "off",
    "FLAGSTAFF_API_RATE_LIMIT": "off",
    "FLAGSTAFF_EVALUATE_RATE_LIMIT": "off",
}


@dataclass(frozen=True)
class Fleet:
    """Servers on one database, all of which have an environment of 20 flags in memory, and how one flag is toggled."""

    postgres: PostgresServer | None
    database_url: str | None
    servers: Sequence[ServerProcess]
    environment: Json
    toggle: bytes

    async def time_toggles(self, times: int) -> list[float]:
        """How long toggles at the first server take, one after the other, in milliseconds, sorted.

        On a machine that is too busy, one can take longer than the five seconds after which it is not confirmed (503).
        """
        connection = await Connection.open(self.servers[0].port)
        taken = []
        try:
            for _ in range(times):
                began = time.perf_counter()
                assert await connection.exchange(self.toggle) in {200, 503}
                taken.append(round((time.perf_counter() - began) * 1000, 3))
        finally:
            connection.close()
        return sorted(taken)

    def processor_seconds(self) -> float:
        """The processor time that all servers have used, with PostgreSQL's processes that are there now."""
        processes = self.postgres.processes if self.postgres else []
        for server in self.servers:
            processes += [server.pid, *worker_pids(server)]
        return scheduled(processes).ran


@asynccontextmanager
async def fleet(
    folder: Path, instances: int, postgres: PostgresServer | None, sources: Path | None = None, of_each: int = 1
) -> AsyncIterator[Fleet]:
    """Servers on a new database, from the sources in a checkout, or these; on SQLite without a PostgreSQL.

    Each has `of_each` workers.
    """
    environ = {**_ENVIRON, "FLAGSTAFF_WORKERS": str(of_each)}
    environ |= {"PYTHONPATH": str(sources / "src")} if sources else {}
    async with AsyncExitStack() as stack:
        url = None
        if postgres:
            url = (await stack.enter_async_context(postgresql_store(postgres, folder))).database_url
        stores = [Store(url, folder / f"{number}" / "data") for number in range(instances)]
        for store in stores:
            store.data_directory.mkdir(parents=True, mode=0o700)
            if url is None:
                await migrate(None, store.data_directory)
        servers = [ServerProcess(store, environ, command=COMMAND if sources else None) for store in stores]
        for server in servers:
            stack.push_async_callback(server.kill)
        for some in range(0, instances, _STARTED_AT_ONCE):
            await asyncio.gather(*(each.start() for each in servers[some : some + _STARTED_AT_ONCE]))
        await asyncio.sleep(instances * _SETTLE_SECONDS_EACH)
        caller = await stack.enter_async_context(RemoteCaller(servers[0].url))
        made = Fleet(postgres, url, servers, *await _prepare(caller, servers, of_each))
        await made.time_toggles(WARM_UP)
        yield made


async def _prepare(caller: RemoteCaller, servers: Sequence[ServerProcess], of_each: int) -> tuple[Json, bytes]:
    await caller.sign_up()
    project = await caller.create_project()
    environment = await caller.get_environment(project)
    flags = f"{environment_path(environment)}/flags"
    made = [(await caller.post(flags, json={"name": f"Flag {n}", "key": f"flag-{n}"})).json() for n in range(20)]
    for server in servers:
        async with a_caller_of_each(server, of_each) as callers:
            for each in callers:
                assert (await each.evaluate(project["sdk_key"], environment["key"])).status_code == 200
    token = caller.headers["authorization"].removeprefix("Bearer ")
    return environment, request("POST", f"{flags}/{made[0]['id']}/toggle", token=token)


async def trace(postgres: PostgresServer, toggled: Fleet) -> list[str]:
    """The statements that PostgreSQL gets while a toggle is made, those of background tasks included."""
    for setting in ("log_statement = 'all'", "log_line_prefix = '@@%a '"):
        await execute(postgres, f"ALTER SYSTEM SET {setting}")
    await execute(postgres, "SELECT pg_reload_conf()")
    await asyncio.sleep(_SETTLE_SECONDS)
    await toggled.time_toggles(2)
    await asyncio.sleep(_SETTLE_SECONDS)
    before = len(postgres.log)
    await toggled.time_toggles(1)
    lines = postgres.log[before:].split("@@")
    found = [re.sub(r"(LOG: +)?(execute \w+|statement): ", "", " ".join(each.split())) for each in lines]
    return [each for each in found if " DETAIL: " not in each and each]


async def _measure(asked: argparse.Namespace) -> None:
    checkouts = [None, *([asked.beside] if asked.beside else [])]
    with (
        PostgresServer(settings={"max_connections": str(CONNECTIONS)}) as postgres,
        tempfile.TemporaryDirectory() as folder,
    ):
        await make_postgresql_template(postgres, Path(folder))
        for count in asked.instances or (0, 1, 3):
            name = f"{count} on PostgreSQL" if count else "SQLite"
            async with AsyncExitStack() as stack:
                fleets = {
                    checkout: await stack.enter_async_context(
                        fleet(
                            Path(folder) / f"{count}-{number}",
                            count or 1,
                            postgres if count else None,
                            checkout,
                            asked.workers,
                        )
                    )
                    for number, checkout in enumerate(checkouts)
                }
                if asked.statements:
                    statements = await trace(postgres, fleets[None])
                    sys.stdout.write("\n".join((f"{name}: {len(statements)} statements", *statements, "")))
                    continue
                runs: dict[Path | None, list[list[float]]] = {checkout: [] for checkout in fleets}
                used: dict[Path | None, list[float]] = {checkout: [] for checkout in fleets}
                for _ in range(asked.rounds):
                    for checkout, each in fleets.items():
                        before = each.processor_seconds()
                        runs[checkout].append(await each.time_toggles(asked.toggles))
                        used[checkout].append((each.processor_seconds() - before) * 1000 / asked.toggles)
            for checkout, found in runs.items():
                medians = " ".join(f"{each:.1f}" for each in sorted(map(statistics.median, found)))
                best = min(found, key=statistics.median)
                sys.stdout.write(
                    f"{name}, {checkout or 'these sources'}: best run p50 {statistics.median(best):.1f} ms, "
                    f"p90 {best[len(best) * 9 // 10]:.1f} ms, least {min(map(min, found)):.1f} ms; medians {medians}; "
                    f"processor time of one at best {min(used[checkout]):.1f} ms, with what else they did meanwhile\n"
                )
                sys.stdout.flush()


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, action="append", help="on PostgreSQL; 0 is SQLite (default: 0, 1, 3)")
    parser.add_argument("--workers", type=int, default=1, help="of each instance")
    parser.add_argument("--toggles", type=int, default=40, help="in a run")
    parser.add_argument("--rounds", type=int, default=5, help="runs")
    parser.add_argument("--beside", type=Path, help="another checkout, to take turns with")
    parser.add_argument("--statements", action="store_true", help="print the statements of one toggle instead")
    asyncio.run(_measure(parser.parse_args()))


if __name__ == "__main__":
    main()
