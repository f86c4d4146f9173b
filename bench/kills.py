"""How long a kill waits while ten other accounts attack: `python -m bench.kills [TEXT] [--postgresql] [--workers 2]`.

With a text, only the attacks whose names contain it run. The server has one core. Each attack gets a new server and a
new database. Beside it, a flag is toggled five times a second and evaluated 200 times a second, each request at its
scheduled time, and a guard gets the events on which it turns off its flag. Prints the same for the quiet server before.
"""

import argparse
import asyncio
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import httpx

from bench.attacks import ATTACKS, Attack, Stage
from bench.machine import Cores, NotReadyError, choose_cores, resident_mib
from bench.places import Place, make_place
from bench.raw_http import Connection, request
from bench.report import print_table
from bench.servers import CHECKOUT, FlagstaffServer, Switches
from bench.steady import Answered, beside, percentile, time_evaluations, time_requests, yield_core
from tests.support.postgres import PostgresServer
from tests.support.stores import Store, make_postgresql_template, postgresql_store

KILLS = 5  # a second
_GUARD_USERS = 120
_GUARD_SECONDS = 30
_STEP_SECONDS = 3
_LATE_SECONDS = 12  # a refused write waits for ten
_OPEN = {f"FLAGSTAFF_{name}_RATE_LIMIT": "off" for name in ("REGISTER", "LOGIN", "LOGIN_FAILURE")}


@dataclass(frozen=True)
class Seen:
    """What the victim saw: the latencies of kills and evaluations, and the seconds until a guard had acted."""

    kills: Sequence[Answered]
    evaluations: Sequence[float]
    guard: float | None

    def cells(self) -> list[str]:
        """The cells of a row: p50 and p99 of kills, those refused, p99 of evaluations, and the guard's delay."""
        kills = [each.seconds * 1_000 for each in self.kills]
        refused = sum(each.status != 200 for each in self.kills)
        guard = "never" if self.guard is None else f"{self.guard:.1f} s"
        return [
            f"{percentile(kills, 0.5):.0f}",
            f"{percentile(kills, 0.99):.0f}",
            f"{refused} of {len(kills)}",
            f"{percentile(self.evaluations, 0.99) * 1_000:.1f}",
            guard,
        ]


@dataclass(frozen=True)
class Victim:
    """An account that kills a flag and has guarded releases, each of a flag of its own."""

    place: Place
    flags: Sequence[dict[str, Any]]

    def toggle(self, _: int) -> bytes:
        """The request of a kill."""
        return request("POST", f"{self.place.path}/flags/{self.flags[0]['id']}/toggle", token=self.place.token)

    @property
    def evaluate(self) -> bytes:
        """The request of an evaluation."""
        body = {"environment": "production", "context": {"user_id": "ada"}}
        return request("POST", "/sdk/v1/evaluate", body, sdk_key=self.place.sdk_key)


def _make_victim(client: httpx.Client, store: Store) -> Victim:
    place = make_place(client, store, "victim", 20)
    metric = {"key": "errors", "name": "Errors", "kind": "binary", "better": "down"}
    client.post(f"/api/projects/{place.project_id}/metrics", json=metric, headers=place.headers).raise_for_status()
    flags = client.get(f"{place.path}/flags", headers=place.headers).json()
    return Victim(place, [each for each in flags if each["rollout_percentage"] not in {0, 50}])


@dataclass(frozen=True)
class Armed:
    """A flag with a guarded release whose users are recorded, and the events on which the guard turns it off."""

    key: str
    user_id: str
    events: bytes


async def _arm(url: str, victim: Victim, flag: dict[str, Any]) -> Armed:
    place, key = victim.place, flag["key"]
    async with httpx.AsyncClient(base_url=url, timeout=_GUARD_SECONDS) as client:
        path = f"{place.path}/flags/{flag['id']}"
        steps = [{"after_seconds": 0, "changes": {"enabled": True, "rollout_percentage": 50}}]
        steps.append({"after_seconds": 3_600, "changes": {"rollout_percentage": 100}})
        release = {"steps": steps, "guards": [{"metric": "errors", "action": "turn_off"}]}
        (await client.post(f"{path}/releases", json=release, headers=place.headers)).raise_for_status()
        await asyncio.sleep(_STEP_SECONDS)  # the first step is served
        (found := await client.get(path, headers=place.headers)).raise_for_status()
        assert found.json()["rollout_percentage"] == 50, found.text
        users = [f"{key}-{number}" for number in range(_GUARD_USERS)]
        treated = [user for user in users if await _is_enabled(client, victim, key, user)]
        await asyncio.sleep(1)  # they are recorded
    body = {"environment": "production", "events": [{"metric": "errors", "user_id": user} for user in treated]}
    return Armed(key, treated[0], request("POST", "/sdk/v1/events", body, sdk_key=place.sdk_key))


async def _is_enabled(client: httpx.AsyncClient, victim: Victim, flag: str, user: str) -> bool:
    body = {"environment": "production", "context": {"user_id": user}}
    answer = await client.post("/sdk/v1/evaluate", json=body, headers={"x-sdk-key": victim.place.sdk_key})
    return bool(answer.raise_for_status().json()["flags"][flag]["enabled"])


async def _time_guard(url: str, victim: Victim, armed: Armed, after_seconds: float) -> float | None:
    """Return the seconds from the events of a harmful flag until it is off in evaluations; None after 30."""
    await asyncio.sleep(after_seconds)
    connection = await Connection.open(int(url.rpartition(":")[2]))
    assert await connection.exchange(armed.events) == 202
    connection.close()
    sent = time.monotonic()
    async with httpx.AsyncClient(base_url=url, timeout=_GUARD_SECONDS) as client:
        while time.monotonic() < sent + _GUARD_SECONDS:
            if not await _is_enabled(client, victim, armed.key, armed.user_id):
                return time.monotonic() - sent
            await asyncio.sleep(0.05)
    return None


async def _watch(url: str, victim: Victim, armed: Armed, seconds: float) -> Seen:
    port = int(url.rpartition(":")[2])
    kills, evaluations, guard = await asyncio.gather(
        time_requests(port, victim.toggle, KILLS, seconds, connections=64, late_seconds=_LATE_SECONDS),
        time_evaluations(port, victim.evaluate, seconds),
        _time_guard(url, victim, armed, seconds / 4),
    )
    return Seen(kills, evaluations, guard)


@contextmanager
def _attacking(attack: Attack, stage: Stage) -> Iterator[Any]:
    """Run the attack in a process until the block ends; yield its counts of answers, by hundreds of the status."""
    context = multiprocessing.get_context("spawn")
    counts = context.Array("i", 6)
    process = context.Process(target=_attack, args=(ATTACKS.index(attack), stage, counts), daemon=True)
    with beside(process, lambda: any(counts[:])):
        yield counts


def _attack(place: int, stage: Stage, counts: Any) -> None:
    yield_core()

    def count(status: int) -> None:
        counts[status // 100] += 1

    asyncio.run(ATTACKS[place].run(stage, count))  # type: ignore[arg-type]


def _measure(attack: Attack, store: Store, cores: Cores, asked: argparse.Namespace) -> list[list[str]]:
    settings = {**_OPEN, "FLAGSTAFF_API_RATE_LIMIT": "1200/minute", "FLAGSTAFF_WEBHOOK_NETWORKS": "127.0.0.0/8"}
    settings["FLAGSTAFF_WORKERS"] = str(asked.workers)
    if store.database_url:
        settings["FLAGSTAFF_DATABASE_URL"] = store.database_url
    with FlagstaffServer(cores.server, store.data_directory, Switches(), settings, checkout=asked.checkout) as server:
        server.wait_until_it_is_loaded()
        with httpx.Client(base_url=server.url, timeout=120) as client:
            victim = _make_victim(client, store)
            stage = attack.prepare(client, store, int(server.url.rpartition(":")[2]))
        first, second = (asyncio.run(_arm(server.url, victim, flag)) for flag in victim.flags[1:3])
        quiet = asyncio.run(_watch(server.url, victim, first, asked.seconds / 2))
        stored = _bytes_of(store)
        with _attacking(attack, stage) as counts:
            noisy = asyncio.run(_watch(server.url, victim, second, asked.seconds))
            answers = " ".join(f"{n}xx {count}" for n, count in enumerate(counts) if count)
        more = f"{(_bytes_of(store) - stored) / 1e6:.0f}"
        peak = f"{resident_mib(server.pid, peak=True):.0f}" if asked.workers == 1 else ""
        return [["quiet", *quiet.cells(), "", "", ""], [attack.name, *noisy.cells(), more, peak, answers]]


def _bytes_of(store: Store) -> int:
    """The bytes of SQLite's files; on PostgreSQL, of the tables and their logs."""
    if store.database_url is None:
        return sum(each.stat().st_size for each in store.data_directory.rglob("*") if each.is_file())
    return asyncio.run(_database_size(store.database_url))


async def _database_size(url: str) -> int:
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        size: int = await connection.fetchval("SELECT pg_database_size(current_database())")
        return size
    finally:
        await connection.close()


def main() -> None:
    """Measure each attack and print a table."""
    parser = argparse.ArgumentParser(prog="bench.kills", description="Time kills beside ten hostile accounts.")
    parser.add_argument("text", nargs="*", help="run only attacks whose names contain it")
    parser.add_argument("--postgresql", action="store_true", help="on a PostgreSQL of its own instead of SQLite")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--checkout", type=Path, default=CHECKOUT, help="another checkout, which must be built")
    parser.set_defaults(template=False)
    parser.add_argument("--seconds", type=float, default=20, help="how long each attack takes")
    asked = parser.parse_args()
    try:
        cores = choose_cores()
    except NotReadyError as error:
        sys.exit(f"bench: {error}")
    wanted = " ".join(asked.text)
    rows = []
    with ExitStack() as stack:
        postgres = stack.enter_context(PostgresServer()) if asked.postgresql else None
        os.sched_setaffinity(0, {cores.load})
        for attack in (each for each in ATTACKS if wanted in each.name):
            rows += asyncio.run(_prepared(attack, postgres, cores, asked))
    heads = ("attack", "kill p50, ms", "p99", "refused", "evaluate p99", "guard", "MB stored", "peak MB", "answers")
    print_table(heads, rows)


async def _prepared(
    attack: Attack, postgres: PostgresServer | None, cores: Cores, asked: argparse.Namespace
) -> list[list[str]]:
    with tempfile.TemporaryDirectory(prefix="flagstaff-bench-") as folder:
        data = Path(folder) / "data"
        data.mkdir(mode=0o700)
        async with AsyncExitStack() as stack:
            store = Store(None, data)
            if postgres:
                if not asked.template:
                    await make_postgresql_template(postgres, data)
                    asked.template = True
                store = await stack.enter_async_context(postgresql_store(postgres, data))
            # The functions of the bench have event loops of their own.
            return await asyncio.to_thread(_measure, attack, store, cores, asked)


if __name__ == "__main__":
    main()
