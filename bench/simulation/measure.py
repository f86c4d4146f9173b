"""Measures the delays that the simulation starts with, and toggles to compare it with.

`python -m bench.simulation.measure` writes `measured.json`. It takes about a minute, with a separate PostgreSQL.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from bench.raw_http import Connection, request
from flagstaff.cluster.leases_store import Member
from flagstaff.cluster.notifications import Notifications
from flagstaff.database.database import Database
from flagstaff.flags.snapshots_service import SnapshotSource
from tests.support.postgres import PostgresServer
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store, make_postgresql_template, postgresql_store

FILE = Path(__file__).with_name("measured.json")
COUNTS = (1, 2, 4, 8)
_WARM_UP, _TIMES, _MESSAGES = 20, 100, 2000
_ENVIRON = {"FLAGSTAFF_SECRET_KEY": "k" * 32, "FLAGSTAFF_ACCESS_LOG": "off", "FLAGSTAFF_API_RATE_LIMIT": "off"}
_ENVIRON["FLAGSTAFF_EVALUATE_RATE_LIMIT"] = "off"


async def _times(work: Callable[[], Awaitable[object]], times: int = _TIMES) -> list[float]:
    """Return the sorted durations of a step, in milliseconds."""
    taken = []
    for number in range(_WARM_UP + times):
        began = time.perf_counter()
        await work()
        if number >= _WARM_UP:
            taken.append(round((time.perf_counter() - began) * 1000, 3))
    return sorted(taken)


async def _delays(store: Store, project: UUID, environment: UUID) -> dict[str, list[float]]:
    """Measure the parts of a toggle, one at a time while nothing else runs."""
    assert store.database_url is not None
    database = Database(store.database_url, store.data_directory)
    source = SnapshotSource(database)
    sender, listener = [await asyncpg.connect(store.database_url) for _ in range(2)]
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

    feed = Notifications(store.database_url, "measured")
    async with feed.session():
        delays = {
            "commit": await _times(commit),
            "delivery": await _times(notify),
            "send": await _times(send),
            "reload": await _times(lambda: source.load_environment(project, environment)),
            "renewal": await _times(lambda: feed.renew(Member("measured", "bench", "0"), None)),
            "read": await _times(lambda: feed.read("measured")),
            "message": sorted([round(await flood(), 4) for _ in range(20)]),
        }
        await feed.leave("measured")
    await sender.close()
    await listener.close()
    await database.close()
    return delays


async def _toggles(servers: Sequence[ServerProcess], flag: str, token: str, evaluate: bytes) -> list[float]:
    """Measure toggles at the first of several servers, all of which have loaded the project."""
    for server in servers:
        reader = await Connection.open(server.port)
        assert await reader.exchange(evaluate) == 200
        reader.close()
    connection = await Connection.open(servers[0].port)
    sent = request("POST", f"{flag}/toggle", token=token)
    try:
        return await _times(lambda: connection.exchange(sent))
    finally:
        connection.close()


async def _measure() -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        postgres = stack.enter_context(PostgresServer())
        await make_postgresql_template(postgres, folder)
        shared = await stack.enter_async_context(postgresql_store(postgres, folder))
        servers: list[ServerProcess] = []
        measured: dict[str, Any] = {"toggles": {}}
        for count in COUNTS:
            while len(servers) < count:
                store = Store(shared.database_url, folder / f"{len(servers)}" / "data")
                store.data_directory.parent.mkdir()
                servers.append(await stack.enter_async_context(ServerProcess(store, _ENVIRON)))
            if count == 1:
                caller = await stack.enter_async_context(RemoteCaller(servers[0].url))
                await caller.sign_up()
                project = (await caller.post("/api/projects", json={"name": "Shop"})).json()
                path = f"/api/projects/{project['id']}/environments"
                environment = (await caller.get(path)).json()[0]
                flags = f"{path}/{environment['id']}/flags"
                made = [
                    (await caller.post(flags, json={"name": f"Flag {n}", "key": f"flag-{n}"})).json() for n in range(20)
                ]
                measured["delays"] = await _delays(shared, UUID(project["id"]), UUID(environment["id"]))
                body = {"environment": environment["key"]}
                evaluate = request("POST", "/sdk/v1/evaluate", body, sdk_key=project["sdk_key"])
                token = caller.headers["authorization"].removeprefix("Bearer ")
            taken = await _toggles(servers, f"{flags}/{made[0]['id']}", token, evaluate)
            measured["toggles"][str(count)] = taken
            sys.stdout.write(f"{count} instances: {statistics.median(taken):.1f} ms\n")
        return measured


def main() -> None:
    """Measure, and write the file."""
    measured = asyncio.run(_measure())
    for name, taken in measured["delays"].items():
        sys.stdout.write(f"{name}: {statistics.median(taken):.3f} ms\n")
    FILE.write_text(json.dumps(measured) + "\n")


if __name__ == "__main__":
    main()
