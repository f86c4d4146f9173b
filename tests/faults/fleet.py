"""Three instances, each a real `flagstaff serve`, that reach one PostgreSQL and one Valkey through links of a proxy."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from time import monotonic_ns
from uuid import UUID

import asyncpg
import httpx

from tests.faults.counts import find_recorded_users
from tests.faults.namespaces import Cable, lay_cables
from tests.faults.pages import Shop, open_shop
from tests.faults.proxy import Proxy
from tests.support.api import Json
from tests.support.postgres import PostgresServer
from tests.support.receiver import Receiver
from tests.support.remote import RemoteCaller
from tests.support.sdk_keys import create_key
from tests.support.server import COMMAND, ServerProcess
from tests.support.stores import Store, execute
from tests.support.valkey import ValkeyServer

INSTANCES = 3
LIMIT = 200  # evaluations a minute from one address
DATABASE = "flagstaff"
ENVIRON = {
    "FLAGSTAFF_EVALUATE_RATE_LIMIT": f"{LIMIT}/minute",
    "FLAGSTAFF_API_RATE_LIMIT": "off",
    "FLAGSTAFF_ACCESS_LOG": "off",
    "FLAGSTAFF_LOG_FORMAT": "json",
    "FLAGSTAFF_SECRET_KEY": "k" * 32,
    "FLAGSTAFF_TRUSTED_PROXIES": "127.0.0.0/8",
}
_RECEIVING = {"FLAGSTAFF_WEBHOOK_NETWORKS": "127.0.0.0/8"}  # a setting that the previous release does not know


@dataclass
class Fleet:
    """The instances, with their PostgreSQL, Valkey and proxy.

    `postgres` is the server that the proxy connects to. The links of the proxy have the numbers of the instances;
    `valkey_link` returns those to Valkey.
    """

    postgres: PostgresServer
    valkey: ValkeyServer
    proxy: Proxy
    instances: list[ServerProcess]
    folder: Path
    clock_files: list[Path]
    owner: RemoteCaller
    project: Json
    environment: Json
    stream_key: str
    cables: list[Cable]
    receiver: Receiver
    shop: Shop
    kills: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))

    def delete_postgres(self) -> None:
        """Delete the server, which may be the replica that replaced the first one."""
        self.postgres.delete()

    async def kill(self, instance: int) -> None:
        """Kill an instance (SIGKILL), and record when."""
        self.kills[instance].append(monotonic_ns())
        await self.instances[instance].kill()

    async def fetch(self, statement: str, *parameters: object) -> list[asyncpg.Record]:
        """Run a statement in the instances' database, past the proxy."""
        connection = await asyncpg.connect(self.postgres.url(DATABASE))
        try:
            return await connection.fetch(statement, *parameters)
        finally:
            await connection.close()

    async def until_ready(self, seconds: float) -> None:
        """Wait until every instance is ready; raises TimeoutError."""
        async with asyncio.timeout(seconds), AsyncExitStack() as stack:
            for instance in self.instances:
                caller = await stack.enter_async_context(RemoteCaller(instance.url))
                while not await _is_ready(caller):
                    await asyncio.sleep(0.05)

    async def until_limits_are_shared(self, seconds: float, instances: int = INSTANCES) -> None:
        """Wait until every instance shares its limits with this many instances (1: with none); raises TimeoutError."""
        async with asyncio.timeout(seconds):
            for each in range(INSTANCES):
                while await self.metric(each, "flagstaff_limits_instances") != instances:
                    await asyncio.sleep(0.05)

    async def metric(self, instance: int, name: str) -> int:
        """Return a metric of an instance, at most a second old."""
        async with RemoteCaller(self.instances[instance].url) as caller:
            lines = (await caller.get("/metrics")).text.splitlines()
        return int(float(next(line.split()[1] for line in lines if line.startswith(f"{name} "))))

    async def recorded_users(self, prefix: str, since: datetime) -> Counter[str]:
        """Return how often each user whose id has this prefix is in the evaluation history since a time."""
        return await find_recorded_users(
            self.postgres.url(DATABASE), self.folder, UUID(self.environment["id"]), prefix, since
        )


def valkey_link(instance: int) -> int:
    """The number of an instance's link to Valkey."""
    return INSTANCES + instance


async def _is_ready(caller: RemoteCaller) -> bool:
    try:
        return (await caller.get("/ready")).status_code == 200
    except httpx.TransportError:
        return False


@asynccontextmanager
async def open_fleet(
    folder: Path,
    environ: dict[str, str],
    *,
    faketime: Path | None,
    has_cables: bool = False,
    has_pages: bool = False,
) -> AsyncIterator[Fleet]:
    """Start everything.

    `environ` is added to the instances' settings, and `faketime` is a library that changes clocks. With `has_cables`,
    cables are put between the instances and PostgreSQL if the machine allows it, and with `has_pages`, pages are opened
    if it has a Chromium.
    """
    async with AsyncExitStack() as stack:
        postgres = stack.enter_context(PostgresServer())
        await execute(postgres, f"CREATE DATABASE {DATABASE}")
        cables = stack.enter_context(lay_cables(INSTANCES if has_cables else 0))
        valkey = stack.enter_context(ValkeyServer())
        proxy = await stack.enter_async_context(Proxy(postgres.port, 2 * INSTANCES, cables))
        await proxy.aim(valkey.port, map(valkey_link, range(INSTANCES)))
        instances, clock_files = [], []
        for number, port in enumerate(proxy.ports[:INSTANCES]):
            place = folder / f"instance-{number}"
            place.mkdir()
            store = Store(f"postgresql://postgres@{proxy.hosts[number]}:{port}/{DATABASE}", place / "data")
            clock_files.append(place / "clock")
            values = {**ENVIRON, **_RECEIVING, **environ, **clock_variables(clock_files[-1], faketime)}
            values["FLAGSTAFF_VALKEY_URL"] = f"valkey://127.0.0.1:{proxy.ports[valkey_link(number)]}/0"
            # A forked process already has its libraries.
            command = COMMAND if faketime else None
            instances.append(await stack.enter_async_context(ServerProcess(store, values, command=command)))
        owner = await stack.enter_async_context(RemoteCaller(instances[0].url))
        await owner.sign_up()
        project = await owner.create_project()
        environment = await owner.get_environment(project)
        stream_key: str = (await create_key(owner, project))["key"]
        receiver = await stack.enter_async_context(Receiver())
        shop = await stack.enter_async_context(open_shop(owner, instances, has_pages=has_pages))
        fleet = Fleet(
            postgres,
            valkey,
            proxy,
            instances,
            folder,
            clock_files,
            owner,
            project,
            environment,
            stream_key,
            cables,
            receiver,
            shop,
        )
        stack.callback(fleet.delete_postgres)
        yield fleet


def clock_variables(file: Path, faketime: Path | None) -> dict[str, str]:
    """Return variables with which a file sets the error of a process's wall clock.

    Its monotonic clock stays correct.
    """
    if faketime is None:
        return {}
    file.write_text("+0\n")
    return {
        "LD_PRELOAD": str(faketime),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_CACHE_DURATION": "1",  # without a cache, the instance would be several times slower
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        # For older C libraries. With it, threads that wait for the interpreter's lock do not sleep.
        "FAKETIME_FORCE_MONOTONIC_FIX": "0",
    }
