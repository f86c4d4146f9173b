"""Several workers on one port, some of which are killed or paused, and their parent."""

import asyncio
import os
import re
import signal
import socket
import stat
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.support.api import Json, flag_path
from tests.support.command import run_flagstaff
from tests.support.ports import free_port
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store
from tests.support.workers import a_caller_of_each, is_running, worker_pids

WORKERS = 2
NOTICED_SECONDS = 2.5  # a pause is noticed within two seconds; the rest is for a machine that is busy with other tests
REPLACED_SECONDS = 5.0
ENVIRON = {
    "FLAGSTAFF_WORKERS": str(WORKERS),
    "FLAGSTAFF_EVALUATE_RATE_LIMIT": "off",
    "FLAGSTAFF_API_RATE_LIMIT": "off",
    "FLAGSTAFF_ACCESS_LOG": "off",
}


def refusal(*arguments: str, **environ: str) -> str:
    """Return the line that a failed start prints."""
    outcome = run_flagstaff("serve", *arguments, environ=environ)
    assert outcome.returncode == 1
    assert "Traceback" not in outcome.stderr
    line = outcome.stderr.splitlines()[-1]
    assert line.startswith("flagstaff: ")
    return line.removeprefix("flagstaff: ")


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.02)


@pytest.fixture
async def server(store: Store) -> AsyncIterator[ServerProcess]:
    async with ServerProcess(store, ENVIRON) as process:
        yield process
        assert "Traceback" not in process.log


def test_a_number_that_is_none_stops_the_start(tmp_path: Path) -> None:
    line = refusal("--workers", "many", FLAGSTAFF_DATA_DIR=str(tmp_path / "data"), FLAGSTAFF_WORKERS="2")
    assert line == "FLAGSTAFF_WORKERS must be a whole number from 1 to 128, or auto, not 'many'."
    assert not (tmp_path / "data").exists()


def test_a_port_in_use_stops_the_start_before_anything_is_created(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0), reuse_port=True) as other:
        port = other.getsockname()[1]
        line = refusal("--workers", "2", FLAGSTAFF_DATA_DIR=str(tmp_path / "data"), FLAGSTAFF_PORT=str(port))
    assert line.startswith(f"Cannot listen on 127.0.0.1:{port}: Address already in use. ")
    assert not (tmp_path / "data").exists()


def test_a_database_that_cannot_be_reached_stops_the_start(tmp_path: Path) -> None:
    url = f"postgresql://flags:hush-hush@127.0.0.1:{free_port()}/flags"
    line = refusal("--workers", "2", FLAGSTAFF_DATA_DIR=str(tmp_path), FLAGSTAFF_DATABASE_URL=url, FLAGSTAFF_PORT="0")
    assert "database cannot be reached" in line


async def test_workers_that_cannot_start_end_the_parent_with_their_error(store: Store) -> None:
    key = store.data_directory / "secret-key"
    key.write_text("k" * 32)
    key.chmod(stat.S_IRUSR | stat.S_IROTH)
    line = await asyncio.to_thread(refusal, **store.environ, FLAGSTAFF_WORKERS="2", FLAGSTAFF_PORT="0")
    assert line.startswith(f"Other users can read or change the secret key {key}")


async def test_a_toggle_is_served_by_every_worker_when_its_response_arrives(server: ServerProcess) -> None:
    project, flag, token = await make_flag(server)
    is_on = True
    async with a_caller_of_each(server, WORKERS, token=token) as callers:
        for turn in range(20):
            assert (await callers[turn % WORKERS].post(f"{flag_path(flag)}/toggle")).status_code == 200
            is_on = not is_on
            for caller in callers:
                answer = await caller.evaluate(project["sdk_key"])
                assert answer.json()["flags"][flag["key"]]["enabled"] is is_on


async def test_a_paused_worker_is_replaced_within_seconds_and_its_waiting_connections_get_the_successor(
    server: ServerProcess,
) -> None:
    project, flag, token = await make_flag(server)
    paused = min(worker_pids(server))
    os.kill(paused, signal.SIGSTOP)
    began = time.monotonic()
    async with AsyncExitStack() as opened:
        callers = [await opened.enter_async_context(RemoteCaller(server.url)) for _ in range(20)]
        waiting = [asyncio.create_task(caller.evaluate(project["sdk_key"])) for caller in callers]
        await until(lambda: not is_running(paused))
        assert time.monotonic() - began < NOTICED_SECONDS
        answers = await asyncio.gather(*waiting)
        assert [answer.status_code for answer in answers] == [200] * 20  # about half had been in its queue
        assert time.monotonic() - began < NOTICED_SECONDS + REPLACED_SECONDS
    assert re.search(rf'"pid": {paused}, .*"event": "worker_killed"', server.log)
    async with a_caller_of_each(server, WORKERS, token=token) as callers:
        toggled = await callers[0].post(f"{flag_path(flag)}/toggle")
        assert toggled.status_code == 200
        for caller in callers:
            answer = await caller.evaluate(project["sdk_key"])
            assert answer.json()["flags"][flag["key"]]["enabled"] is False
            async with asyncio.timeout(30):
                while (await caller.get("/ready")).status_code != 200:
                    await asyncio.sleep(0.02)


async def test_a_toggle_waits_for_a_paused_worker_only_until_it_has_been_killed(server: ServerProcess) -> None:
    project, flag, token = await make_flag(server)
    async with a_caller_of_each(server, WORKERS, token=token) as callers:
        for caller in callers:
            await caller.evaluate(project["sdk_key"])
        paused = min(worker_pids(server))
        os.kill(paused, signal.SIGSTOP)
        calls = {asyncio.create_task(caller.get("/health")): caller for caller in callers}
        done, waiting = await asyncio.wait(calls, timeout=20, return_when=asyncio.FIRST_COMPLETED)
        toggled = await calls[done.pop()].post(f"{flag_path(flag)}/toggle")
        assert toggled.status_code == 200
        assert not is_running(paused)
        (call,) = waiting
        with pytest.raises(httpx.TransportError):
            await call
    async with a_caller_of_each(server, WORKERS) as callers:
        for caller in callers:
            assert not (await caller.evaluate(project["sdk_key"])).json()["flags"][flag["key"]]["enabled"]


async def test_a_killed_worker_is_replaced_and_neither_toggles_nor_counts_are_lost(server: ServerProcess) -> None:
    project, flag, token = await make_flag(server)

    async with a_caller_of_each(server, WORKERS, token=token) as callers:
        for caller in callers:
            await caller.evaluate(project["sdk_key"])
        counts = [0.0]
        async with asyncio.timeout(30):
            while counts[-1] < WORKERS:  # a worker's metrics are a second old
                counts.append(await evaluations(callers[0]))
        before = worker_pids(server)
        victim = min(before)
        acknowledged = await toggle_until_killed(callers, flag_path(flag), victim)
    await until(lambda: len(worker_pids(server)) == WORKERS and victim not in worker_pids(server))
    assert (before - {victim}) < worker_pids(server)

    async with a_caller_of_each(server, WORKERS, token=token) as callers:
        for caller in callers:
            async with asyncio.timeout(30):
                while (await caller.get("/ready")).status_code != 200:
                    await asyncio.sleep(0.02)
        stored = (await callers[0].get(flag_path(flag))).json()
        assert stored == acknowledged or stored["updated_at"] > acknowledged["updated_at"]
        for caller in callers:
            answer = await caller.evaluate(project["sdk_key"])
            assert answer.json()["flags"][flag["key"]]["enabled"] is stored["enabled"]
            async with asyncio.timeout(30):
                figures = ""
                while "flagstaff_worker_restarts_total 1.0" not in figures:  # the metrics may be a second old
                    figures = (await caller.get("/metrics")).text
                    await asyncio.sleep(0.02)
            assert "flagstaff_workers 2.0" in figures
            assert await evaluations(caller) >= counts[-1]
    assert '"event": "worker_ended"' in server.log


async def test_a_parent_that_is_killed_leaves_no_process_and_the_next_start_succeeds(server: ServerProcess) -> None:
    workers = worker_pids(server)
    os.kill(min(workers), signal.SIGSTOP)
    await server.kill()
    await until(lambda: not any(is_running(pid) for pid in workers))
    await server.start()
    assert len(worker_pids(server)) == WORKERS


async def test_a_stop_finishes_the_running_requests_of_every_worker(server: ServerProcess) -> None:
    body = b'{"email": "%s@example.com", "password": "correct horse battery staple"}'
    async with a_caller_of_each(server, WORKERS) as callers:
        names = ("ada", "eve")
        pieces = [Piecemeal(body % name.encode()) for name in names]
        calls = [
            asyncio.create_task(
                caller.post("/auth/register", content=piece.parts(), headers={"content-type": "application/json"})
            )
            for caller, piece in zip(callers, pieces, strict=True)
        ]
        for piece in pieces:
            await piece.begun.wait()
        for caller in callers:  # on another connection; the workers have read everything that was sent before
            assert (await caller.get("/health")).status_code == 200
        server.signal(signal.SIGTERM)
        await until(lambda: is_refusing(server.port))
        for piece in pieces:
            piece.rest.set()
        answers = await asyncio.gather(*calls)
    assert [answer.status_code for answer in answers] == [201, 201]
    assert await server.wait() == 0


async def test_a_worker_that_hangs_is_killed_at_a_stop(server: ServerProcess) -> None:
    workers = worker_pids(server)
    hanging = min(workers)
    os.kill(hanging, signal.SIGSTOP)
    assert await server.stop() == 1
    assert not any(is_running(pid) for pid in workers)
    assert re.search(rf'"pid": {hanging}, .*"event": "worker_killed"', server.log)


class Piecemeal:
    """A body whose second part is sent later."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.begun, self.rest = asyncio.Event(), asyncio.Event()

    async def parts(self) -> AsyncIterator[bytes]:
        """Yield the first bytes, and the other bytes when `rest` is set."""
        yield self._body[:20]
        self.begun.set()
        await self.rest.wait()
        yield self._body[20:]


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    """Freeze a process with a control group: even SIGKILL takes effect only when it is thawed."""
    group = Path(f"/sys/fs/cgroup/freezer/flagstaff-{pid}")
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made: {error}")
    try:
        (group / "cgroup.procs").write_text(str(pid))
        (group / "freezer.state").write_text("FROZEN")
        yield
    finally:
        (group / "freezer.state").write_text("THAWED")
        while (group / "cgroup.procs").read_text():
            time.sleep(0.01)
        group.rmdir()


async def test_a_stop_leaves_a_worker_that_is_frozen(server: ServerProcess) -> None:
    pid = min(worker_pids(server))
    with frozen(pid):
        began = time.monotonic()
        status = await server.stop()
        assert (status, time.monotonic() - began < 6) == (1, True)
        assert re.search(rf'"pid": {pid}, .*"event": "worker_left"', server.log)
    await until(lambda: not is_running(pid))


def is_refusing(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return True
    return False


async def make_flag(server: ServerProcess) -> tuple[Json, Json, str]:
    """Create an account, a project with a flag in production, and return the account's credential."""
    async with RemoteCaller(server.url) as ada:
        await ada.sign_up()
        project = await ada.create_project()
        flag = await ada.create_flag(await ada.get_environment(project))
        return project, flag, ada.headers["authorization"]


async def evaluations(caller: RemoteCaller) -> float:
    """Return how many evaluations all workers have answered."""
    figures = (await caller.get("/metrics")).text
    found = re.search(r'^flagstaff_evaluate_responses_total\{status="200"\} (\S+)$', figures, re.MULTILINE)
    return float(found[1]) if found else 0


async def toggle_until_killed(callers: list[RemoteCaller], path: str, victim: int) -> dict[str, object]:
    """Toggle at each worker until one is killed; return the flag of the last response."""

    async def toggle(caller: RemoteCaller) -> None:
        with suppress(httpx.TransportError):
            while not is_dead.is_set():
                answer = await caller.post(f"{path}/toggle")
                if answer.status_code == 200:
                    flags.append(answer.json())

    flags: list[dict[str, object]] = []
    is_dead = asyncio.Event()
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        for caller in callers:
            group.create_task(toggle(caller))
        while len(flags) < 10:
            await asyncio.sleep(0.01)
        os.kill(victim, signal.SIGKILL)
        known = len(flags)
        while len(flags) < known + 5:
            await asyncio.sleep(0.01)
        is_dead.set()
    return max(flags, key=lambda flag: str(flag["updated_at"]))
