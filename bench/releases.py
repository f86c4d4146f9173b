"""`python -m bench.releases`: the cost of events, the time until a guard turns a flag off, and a large release.

The large release has a million users. Servers are real processes on all cores, and everything is on loopback.
"""

import argparse
import asyncio
import os
import random
import secrets
import sqlite3
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from math import log
from pathlib import Path
from uuid import UUID

from bench.raw_http import Connection, request
from bench.report import print_table
from flagstaff.database.database import Database
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.history.records import BATCH_IDS, RecordBatch, RecordGroup
from flagstaff.history.store.batches import write_batches
from flagstaff.history.store.events import write_events
from flagstaff.metrics.events import EventBatch, EventGroup, EventRow
from flagstaff.releases.statistics import binary
from flagstaff.releases.statistics.binary import EventSplit
from flagstaff.snapshots.snapshots_service import SnapshotSource
from tests.support.api import Json
from tests.support.postgres import PostgresServer
from tests.support.releases import (
    create_metric,
    create_release,
    read_release,
    read_results,
    release_path,
    send_events,
    until_results,
    until_step,
)
from tests.support.remote import RemoteCaller
from tests.support.server import COMMAND, ServerProcess
from tests.support.stores import Store, execute

ENVIRON = {
    "FLAGSTAFF_API_RATE_LIMIT": "off",
    "FLAGSTAFF_EVALUATE_RATE_LIMIT": "off",
    "FLAGSTAFF_EVENT_RATE_LIMIT": "off",
    "FLAGSTAFF_ACCESS_LOG": "off",
    "FLAGSTAFF_SECRET_KEY": "s" * 64,
}
EACH = 100
EVENTS, EVENTS_A_SECOND, CONNECTIONS = 500_000, 150_000, 4
KINDS: dict[str, Json] = {
    "errors": {"metric": "errors"},
    "latencies": {"metric": "latency", "value": 12.5},
    "errors with ids": {"metric": "errors", "id": ""},
}
TRIALS = 20
EVALUATIONS, SECONDS = 50, 10
RATE, TURNS, BUSY_SECONDS = 300, 10, 120
HALF: Json = {"after_seconds": 0, "changes": {"enabled": True, "rollout_percentage": 50}}
LATER: Json = {"after_seconds": 80_000, "changes": {"rollout_percentage": 100}}
_TICKS = os.sysconf("SC_CLK_TCK")
_BATCH = 5_000


async def main() -> None:
    """Measure, and print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=1_000_000, help="users, and events, of the large release")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="flagstaff-bench-") as folder:
        data = Path(folder)
        costs = [await _cost(data / kind, kind) for kind in KINDS]
        print_table(("a hundred in a request, SQLite", "", "µs of processor time each", "bytes"), costs)
        print_table(("a release of many users, SQLite", "", "value"), await _large(data / "large", options.users))
        rows = [("1 instance, SQLite", "", *await _decide([Store(None, data / "one")]))]
        with PostgresServer() as postgres:
            await execute(postgres, "CREATE DATABASE flagstaff")
            stores = [Store(postgres.url("flagstaff"), data / name) for name in "abc"]
            rows.append(("3 instances, PostgreSQL", "", *await _decide(stores)))
            print_table(("from the deciding event to off everywhere", "", "p50 ms", "p99 ms"), rows)
            await execute(postgres, "CREATE DATABASE busy")
            stores = [Store(postgres.url("busy"), data / name) for name in ("x", "y", "z")]
            print_table((f"3 instances, {RATE} users a second", "", "ended", "after s", "users"), await _busy(stores))
            postgres.delete()


async def _cost(data: Path, kind: str) -> tuple[str, str, str, str]:
    """Return a server's processor time per event of requests with a hundred, until all are stored, and the bytes."""
    async with _one_server(data) as (server, ada):
        project = await ada.create_project()
        await create_metric(ada, project)
        await create_metric(ada, project, key="latency", kind="value")
        requests = [
            request("POST", "/sdk/v1/events", body, sdk_key=project["sdk_key"]) for body in _bodies(KINDS[kind])
        ]
        size, before, began = _size(data), _processor_seconds(server.pid), time.perf_counter()

        async def send(first: int) -> None:
            connection = await Connection.open(server.port)
            for number in range(first, len(requests), CONNECTIONS):
                await asyncio.sleep(began + number * EACH / EVENTS_A_SECOND - time.perf_counter())
                assert await connection.exchange(requests[number]) == 202
            connection.close()

        await asyncio.gather(*map(send, range(CONNECTIONS)))
        rate = EVENTS / (time.perf_counter() - began)
        await _until_stored(data, EVENTS)
        spent = _processor_seconds(server.pid) - before
        name = f"{kind}, {rate:,.0f} a second"
        return name, "", f"{spent / EVENTS * 1e6:.2f}", f"{(_size(data) - size) / EVENTS:.0f}"


def _bodies(event: Json) -> Iterator[Json]:
    for start in range(0, EVENTS, EACH):
        ids = ({"id": str(number)} if "id" in event else {} for number in range(start, start + EACH))
        events = [{**event, **each, "user_id": f"user-{start + place}"} for place, each in enumerate(ids)]
        yield {"environment": "production", "events": events}


async def _busy(stores: Sequence[Store]) -> list[tuple[str, str, str, str, str]]:
    """Run two releases at the same time, one of which doubles the rate of errors from 2 %."""
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(ServerProcess(each, ENVIRON, command=COMMAND)) for each in stores]
        callers = [await stack.enter_async_context(RemoteCaller(each.url)) for each in servers]
        ada = callers[0]
        await ada.sign_up()
        for caller in callers[1:]:
            await caller.log_in()
        project = await ada.create_project()
        environment = await ada.get_environment(project)
        guards = [{"metric": "errors", "action": "turn_off"}]
        await create_metric(ada, project)
        harmful = await ada.create_flag(environment, key="harmful", enabled=False)
        harmless = await ada.create_flag(environment, key="harmless", enabled=False)
        steps = [
            {"after_seconds": 0, "changes": {"enabled": True, "rollout_percentage": 5}},
            *({"after_seconds": 10, "changes": {"rollout_percentage": each}} for each in (25, 50, 100)),
        ]
        releases = [
            await create_release(ada, harmful, HALF, LATER, guards=guards),
            await create_release(ada, harmless, *steps, guards=guards),
        ]
        for release in releases:
            await until_step(ada, release, 0)
        began, users = time.perf_counter(), 0
        ended: dict[str, tuple[str, float, int]] = {}
        generator = random.Random(7)
        while len(ended) < len(releases) and time.perf_counter() - began < BUSY_SECONDS:
            due = time.perf_counter() + 1 / TURNS
            turn = [f"u-{number}" for number in range(users, users + RATE // TURNS)]
            users += len(turn)
            asked = (
                callers[at % 3].evaluate(project["sdk_key"], context={"user_id": each}) for at, each in enumerate(turn)
            )
            answers = await asyncio.gather(*asked)
            events = [
                {"metric": "errors", "user_id": user}
                for user, answer in zip(turn, answers, strict=True)
                if generator.random() < (0.04 if answer.json()["flags"]["harmful"]["enabled"] else 0.02)
            ]
            await send_events(callers[users % 3], project["sdk_key"], *events)
            if users % RATE == 0:
                for name, release in zip(("harmful", "harmless"), releases, strict=True):
                    state = (await read_release(ada, release))["state"]
                    if name not in ended and state not in ("scheduled", "running"):
                        ended[name] = state, time.perf_counter() - began, users
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
        return [(name, "", state, f"{after:.0f}", f"{count:,}") for name, (state, after, count) in ended.items()]


async def _decide(stores: Sequence[Store]) -> tuple[str, str]:
    """Return the time from the response to the deciding event until no instance serves the flag."""
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(ServerProcess(each, ENVIRON, command=COMMAND)) for each in stores]
        callers = [await stack.enter_async_context(RemoteCaller(each.url)) for each in servers]
        await callers[0].sign_up()
        for caller in callers[1:]:
            await caller.log_in()
        project = await callers[0].create_project()
        environment = await callers[0].get_environment(project)
        await create_metric(callers[0], project)
        took = [await _decide_once(callers, project, environment, trial) for trial in range(TRIALS)]
    return f"{statistics.median(took):.0f}", f"{_p99(took):.0f}"


async def _decide_once(callers: Sequence[RemoteCaller], project: Json, environment: Json, trial: int) -> float:
    ada, key, name = callers[0], project["sdk_key"], f"flag-{trial}"
    flag = await ada.create_flag(environment, key=name, enabled=False)
    release = await create_release(ada, flag, HALF, LATER, guards=[{"metric": "errors", "action": "turn_off"}])
    await until_step(ada, release, 0)
    wanted = next(
        number
        for number in range(1, 99)
        if binary.log_evidence([EventSplit(number, 0, 0.5)], harm_is_more=True) >= log(20)
    )
    treated, number = list[str](), 0
    while len(treated) < wanted:
        user, number = f"u-{trial}-{number}", number + 1
        answer = await callers[number % len(callers)].evaluate(key, context={"user_id": user})
        if answer.json()["flags"][name]["enabled"]:
            treated.append(user)
    await send_events(ada, key, *({"metric": "errors", "user_id": user} for user in treated[:-1]))
    await until_results(ada, release, lambda found: _counted(found) == wanted - 1 and _exposed(found) >= wanted)
    await send_events(callers[-1], key, {"metric": "errors", "user_id": treated[-1]})
    began = time.perf_counter()

    async def until_off(caller: RemoteCaller) -> None:
        while (await caller.evaluate(key, context={"user_id": treated[-1]})).json()["flags"][name]["enabled"]:  # noqa: ASYNC110
            await asyncio.sleep(0.002)

    await asyncio.gather(*map(until_off, callers))
    return (time.perf_counter() - began) * 1000


def _counted(results: Json) -> int:
    return sum(arm["events"] for arm in results["metrics"][0]["arms"])


def _exposed(results: Json) -> int:
    """Return the users with the flag."""
    users: int = results["metrics"][0]["arms"][1]["users"]
    return users


async def _large(data: Path, users: int) -> list[tuple[str, str, str]]:
    """Run a release with many users and events, which another process has stored: its counting, and its page."""
    async with _one_server(data) as (_, ada):
        project = await ada.create_project()
        environment = await ada.get_environment(project)
        await create_metric(ada, project)
        flag = await ada.create_flag(environment, enabled=False)
        release = await create_release(ada, flag, HALF, LATER, guards=[{"metric": "errors", "action": "notify"}])
        await until_step(ada, release, 0)
        size = _size(data)
        began = time.perf_counter()
        await _store_users(Store(None, data), UUID(project["id"]), UUID(environment["id"]), users)
        evaluations = asyncio.create_task(_time_evaluations(ada, project["sdk_key"]))
        async with asyncio.timeout(1800):
            while _counted(await read_results(ada, release)) < users:  # noqa: ASYNC110 - another process counts
                await asyncio.sleep(0.2)
        took = time.perf_counter() - began
        beside = await evaluations
        pages = []
        for _ in range(500):  # fewer would make the slowest one of all the p99
            at = time.perf_counter()
            (await ada.get(f"{release_path(release)}/results")).raise_for_status()
            pages.append((time.perf_counter() - at) * 1000)
        return [
            ("users and events", "", f"{users:,} each"),
            ("stored and counted, a second", "", f"{users / took:,.0f}"),
            ("evaluate meanwhile, p50 / p99 ms", "", f"{statistics.median(beside):.2f} / {_p99(beside):.2f}"),
            ("page of results, p50 / p99 ms", "", f"{statistics.median(pages):.1f} / {_p99(pages):.1f}"),
            ("bytes of a user with its evaluation and event", "", f"{(_size(data) - size) / users:.0f}"),
        ]


async def _store_users(store: Store, project_id: UUID, environment_id: UUID, users: int) -> None:
    """Write an evaluation and an event of each of many users to the history, as an instance writes them."""
    database = Database(None, store.data_directory)
    try:
        snapshot = await SnapshotSource(database).load_first(project_id, environment_id)
        assert snapshot is not None
        for start in range(0, users, _BATCH):
            names = [f"user-{number}" for number in range(start, min(users, start + _BATCH))]
            recorded = [evaluate(snapshot, name, None)[1] for name in names]
            now = time.time_ns()
            group = RecordGroup(
                environment_id, snapshot.layout, [now] * len(names), names, [None] * len(names), recorded
            )
            async with database.write_history() as connection:
                await write_batches(connection, RecordBatch(secrets.randbelow(BATCH_IDS), [group]))
            at = now // 1000 + 1
            events = EventGroup(environment_id, [EventRow("errors", name, at, None, None) for name in names], {})
            async with database.write_history() as connection:
                await write_events(connection, EventBatch(secrets.randbits(61), at, [events]))
    finally:
        await database.close()


async def _time_evaluations(caller: RemoteCaller, sdk_key: str) -> list[float]:
    """Return the milliseconds of evaluations that arrive at a steady rate, each from its scheduled start."""
    took: list[float] = []

    async def ask(due: float) -> None:
        (await caller.evaluate(sdk_key)).raise_for_status()
        took.append((time.perf_counter() - due) * 1000)

    async with asyncio.TaskGroup() as group:
        began = time.perf_counter()
        for number in range(EVALUATIONS * SECONDS):
            due = began + number / EVALUATIONS
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            group.create_task(ask(due))
    return took


@asynccontextmanager
async def _one_server(data: Path) -> AsyncIterator[tuple[ServerProcess, RemoteCaller]]:
    async with ServerProcess(Store(None, data), ENVIRON, command=COMMAND) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        yield server, caller


def _processor_seconds(pid: int) -> float:
    """Return the processor time that a process has used, including its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


async def _until_stored(data: Path, count: int) -> None:
    async with asyncio.timeout(300):
        while True:
            with closing(sqlite3.connect(data / "history.sqlite")) as connection:
                (found,) = connection.execute("SELECT coalesce(sum(size), 0) FROM event_segments").fetchone()
            if found >= count:
                return
            await asyncio.sleep(0.2)


def _size(data: Path) -> int:
    """Return the bytes in use in the history's file."""
    with closing(sqlite3.connect(data / "history.sqlite")) as connection:
        (pages,), (free,), (size,) = (
            connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "freelist_count", "page_size")
        )
    return int((pages - free) * size)


def _p99(values: Sequence[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]


if __name__ == "__main__":
    asyncio.run(main())
