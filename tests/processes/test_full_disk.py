"""A database that refuses writes: evaluations are answered, the problem is reported, and recovery is automatic."""

import asyncio
import resource
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.processes.test_lost_files import metrics
from tests.support.api import flag_path, project_path
from tests.support.postgres import PostgresServer
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store, execute, sqlite_store

SETTINGS = {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off", "FLAGSTAFF_API_RATE_LIMIT": "off", "FLAGSTAFF_ACCESS_LOG": "off"}
MIB = 1024**2


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await condition():
            await asyncio.sleep(0.01)


async def assert_a_fault_is_shown_and_ends(
    server: ServerProcess, fault: AbstractAsyncContextManager[None], *, disk_fills: bool = False
) -> None:
    async with RemoteCaller(server.url) as caller:
        await caller.sign_up()
        project = await caller.create_project()
        flag = await caller.create_flag(await caller.get_environment(project))

        async def evaluate() -> None:
            assert (await caller.evaluate(project["sdk_key"])).status_code == 200

        async def is_refused() -> bool:
            return (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 503

        async def is_ready() -> bool:
            return (await caller.get("/ready")).status_code == 200

        async def is_not_ready() -> bool:
            return not await is_ready()

        async def is_told() -> bool:
            return (await metrics(caller))["flagstaff_writes_refused"] == 1

        async def is_measured() -> bool:
            return (await metrics(caller))["flagstaff_disk_free_bytes"] < MIB

        async def has_room() -> bool:
            # This takes a moment: a write may succeed before the disk is measured again.
            return (await metrics(caller))["flagstaff_disk_free_bytes"] > 0

        await evaluate()
        async with fault:
            await until(is_refused)
            await until(is_not_ready)
            ready = (await caller.get("/ready")).json()
            assert "cannot be written" in ready["detail"]
            assert (ready["works"]["evaluations"], ready["works"]["writes"]) == (True, False)
            await until(is_told)
            if disk_fills:
                await until(is_measured)
            await evaluate()
            assert (await caller.get("/ready?for=evaluations")).status_code == 200
        await until(is_ready)
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        await until(has_room)
        assert await server.stop() == 0
    assert "writes_refused" in server.log
    assert "writes_accepted" in server.log
    assert "Traceback" not in server.log


@asynccontextmanager
async def full(folder: Path) -> AsyncIterator[None]:
    """Fill a file system to its last byte."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(1024))
    yield
    filler.unlink()


@asynccontextmanager
async def small_files(server: ServerProcess) -> AsyncIterator[None]:
    """Limit the server's files to a megabyte each, like a quota."""
    _, hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (MIB, hard))
    yield
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (hard, hard))


@asynccontextmanager
async def read_only(server: PostgresServer) -> AsyncIterator[None]:
    """Make PostgreSQL refuse writes, as a standby does, or a provider's server whose disk is full."""
    await execute(server, "ALTER SYSTEM SET default_transaction_read_only = on")
    await execute(server, "SELECT pg_reload_conf()")
    yield
    await execute(server, "ALTER SYSTEM RESET default_transaction_read_only")
    await execute(server, "SELECT pg_reload_conf()")


async def test_files_that_cannot_grow_refuse_changes_until_they_can(
    sqlite_template: Path, data_directory: Path
) -> None:
    async with ServerProcess(sqlite_store(sqlite_template, data_directory), SETTINGS) as server:
        await assert_a_fault_is_shown_and_ends(server, small_files(server))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 16 MiB, if the machine allows mounting one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m,mode=0700", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed; the test with files that cannot grow runs everywhere")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


async def test_a_full_disk_refuses_changes_until_there_is_room(sqlite_template: Path, small_disk: Path) -> None:
    async with ServerProcess(sqlite_store(sqlite_template, small_disk), SETTINGS) as server:
        await assert_a_fault_is_shown_and_ends(server, full(small_disk), disk_fills=True)
    assert "disk_nearly_full" in server.log


async def test_events_are_refused_on_a_full_disk_and_none_that_was_accepted_is_lost(
    sqlite_template: Path, small_disk: Path
) -> None:
    server = ServerProcess(sqlite_store(sqlite_template, small_disk), SETTINGS)
    async with server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        project = await caller.create_project()
        metric = {"key": "checkout-error", "name": "Errors", "kind": "binary", "better": "down"}
        assert (await caller.post(f"{project_path(project)}/metrics", json=metric)).status_code == 201
        accepted = 0

        async def is_refused() -> bool:
            nonlocal accepted
            users = [f"user-{accepted + number}-{'x' * 900}" for number in range(20)]
            events = [{"metric": "checkout-error", "user_id": user} for user in users]
            body = {"environment": "production", "events": events}
            sent = await caller.post("/sdk/v1/events", json=body, headers={"X-SDK-Key": project["sdk_key"]})
            if sent.status_code == 202:
                accepted += len(events)
                return False
            assert (sent.status_code, sent.headers["retry-after"]) == (503, "5"), sent.text
            assert sent.json()["detail"] == "Events cannot be stored now. Send these again shortly."
            return True

        async def is_accepted() -> bool:
            return not await is_refused()

        async def is_written() -> bool:
            return (await metrics(caller))["flagstaff_events_written_total"] == accepted

        async with full(small_disk):
            await until(is_refused)
        await until(is_accepted)
        await until(is_written)
        assert (await metrics(caller))["flagstaff_events_dropped_total"] == 0


async def test_a_postgresql_that_is_read_only_refuses_changes_until_it_is_not(
    outage_postgres: PostgresServer, outage_store: Store
) -> None:
    async with ServerProcess(outage_store, SETTINGS) as server:
        await assert_a_fault_is_shown_and_ends(server, read_only(outage_postgres))


async def test_a_write_that_a_full_disk_refuses_at_its_end_says_that_nothing_was_changed(
    sqlite_template: Path, small_disk: Path
) -> None:
    server = ServerProcess(sqlite_store(sqlite_template, small_disk), SETTINGS)
    async with server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        flag = await caller.create_flag(await caller.get_environment(await caller.create_project()))
        async with full(small_disk):
            refusals: list[httpx.Response] = []
            async with asyncio.timeout(60):
                while len(refusals) < 20:
                    answer = await caller.put(flag_path(flag), json={"description": f"{len(refusals)}" * 500})
                    if answer.status_code == 200:
                        flag = answer.json()  # the write-ahead log had free space
                    else:
                        refusals.append(answer)
            for refused in refusals:
                assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
                assert refused.json()["detail"] == (
                    "flagstaff.sqlite cannot be written because its disk is full. Nothing was changed. Free space on "
                    "the disk, and try again. Evaluations are answered meanwhile."
                )
            assert (await caller.get(flag_path(flag))).json() == flag
            await server.kill()
        await server.start()
        assert (await caller.get(flag_path(flag))).json() == flag
