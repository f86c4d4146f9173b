"""Starts: what the first start creates and prints, and which errors stop a start with one line."""

import asyncio
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import flagstaff
from flagstaff.database.schema_state import known_revisions
from tests.support.command import run_flagstaff
from tests.support.development_builds import make_earlier, version_of
from tests.support.ports import free_port
from tests.support.remote import RemoteCaller
from tests.support.server import COMMAND, ServerProcess
from tests.support.stores import Store


@pytest.fixture
def fresh_store(tmp_path: Path) -> Store:
    """SQLite in a folder that does not exist yet."""
    return Store(None, tmp_path / "data")


def refusal(*, open_files: int | None = None, **environ: str) -> str:
    """Return the line that a failed start prints."""
    outcome = run_flagstaff("serve", environ=environ, open_files=open_files)
    assert outcome.returncode == 1
    assert outcome.stdout == ""
    assert "Traceback" not in outcome.stderr
    *logged, line = outcome.stderr.splitlines()
    assert all(entry.startswith("{") for entry in logged), outcome.stderr
    assert line.startswith("flagstaff: ")
    return line.removeprefix("flagstaff: ")


def run_before_the_api_is_imported(folder: Path, statement: str) -> dict[str, str]:
    """Return the environment with which an interpreter runs a statement before it imports the management API."""
    return run_before_the_import("flagstaff.assembly.api", folder, statement)


def run_before_the_import(module: str, folder: Path, statement: str) -> dict[str, str]:
    """Return the environment with which an interpreter runs a statement before it imports a module."""
    lines = (
        "import sys",
        "class Finder:",
        "    def find_spec(self, name, path, target=None):",
        f"        if name == {module!r}:",
        f"            {statement}",
        "sys.meta_path.insert(0, Finder())",
    )
    (folder / "sitecustomize.py").write_text("\n".join(lines))
    return {"PYTHONPATH": str(folder)}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_too_few_open_files_are_refused_before_anything_is_made(fresh_store: Store) -> None:
    found = refusal(open_files=24, **fresh_store.environ)
    assert found.startswith("The system lets this process open 24 files. Flagstaff needs at least 64: raise ulimit -Hn")
    assert not fresh_store.data_directory.exists()


def test_a_wrong_value_or_an_unknown_name_stops_the_start_before_anything_is_created(tmp_path: Path) -> None:
    wrong = refusal(FLAGSTAFF_DATA_DIR=str(tmp_path / "data"), FLAGSTAFF_SECRET_KEY="too-short")
    assert wrong.startswith("FLAGSTAFF_SECRET_KEY ")
    assert "too-short" not in wrong
    unknown = refusal(FLAGSTAFF_DATA_DRI=str(tmp_path / "data"))
    assert unknown == "FLAGSTAFF_DATA_DRI is not a setting of Flagstaff; did you mean FLAGSTAFF_DATA_DIR?"
    assert not (tmp_path / "data").exists()


def test_a_database_that_cannot_be_reached_stops_the_start_without_showing_its_password(tmp_path: Path) -> None:
    url = f"postgresql://flags:hush-hush@127.0.0.1:{free_port()}/flags"
    line = refusal(FLAGSTAFF_DATA_DIR=str(tmp_path / "data"), FLAGSTAFF_DATABASE_URL=url, FLAGSTAFF_PORT="0")
    assert "database cannot be reached" in line
    assert "hush-hush" not in line


def test_a_data_directory_that_cannot_be_created_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    line = refusal(FLAGSTAFF_DATA_DIR=str(tmp_path / "file" / "data"), FLAGSTAFF_PORT="0")
    assert line.startswith(f"The data directory {tmp_path}/file/data cannot be used: ")


async def test_a_management_api_that_cannot_be_loaded_ends_the_server(fresh_store: Store, tmp_path: Path) -> None:
    environ = run_before_the_api_is_imported(tmp_path, "raise ImportError('no such library')")
    server = ServerProcess(fresh_store, environ, command=COMMAND)
    await server.launch()
    assert await server.wait() == 1
    assert "no such library" in server.log


async def test_a_worker_that_cannot_load_the_management_api_ends_the_start(fresh_store: Store, tmp_path: Path) -> None:
    in_workers = "import os; os.register_at_fork(after_in_child=lambda: sys.modules.update({name: None}))"
    environ = {**run_before_the_api_is_imported(tmp_path, in_workers), "FLAGSTAFF_WORKERS": "2"}
    server = ServerProcess(fresh_store, environ, command=COMMAND)
    await server.launch()
    assert await server.wait() == 1
    assert "flagstaff: A worker ended with status 1 before all of them served." in server.log
    assert " serves on " not in server.log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_start_ends_with_status_0_while_its_modules_are_imported(
    fresh_store: Store, tmp_path: Path, number: signal.Signals
) -> None:
    end = f"import os; os.kill(os.getpid(), {number:d})"
    server = ServerProcess(fresh_store, run_before_the_import("uvloop", tmp_path, end), command=COMMAND)
    await server.launch()
    assert await server.wait() == 0
    assert server.log == ""


def test_signals_are_handled_before_anything_is_imported_that_takes_long() -> None:
    source = str(Path(flagstaff.__file__).parents[1])
    program = f"""
import os, signal, sys
sys.path.insert(0, {source!r})
before = set(sys.modules)
from flagstaff.cli.starting import end_by_signals
print(*sorted(set(sys.modules) - before))
"""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["flagstaff", "flagstaff.cli", "flagstaff.cli.starting"]


async def test_another_command_is_ended_by_a_signal_while_its_modules_are_imported(tmp_path: Path) -> None:
    end = f"import os; os.kill(os.getpid(), {signal.SIGTERM:d})"
    environ = {"PATH": os.environ["PATH"], **run_before_the_import("typer", tmp_path, end)}
    command = (sys.executable, "-m", "flagstaff", "backup", str(tmp_path / "copy"))
    process = await asyncio.create_subprocess_exec(*command, env=environ)
    assert await process.wait() == -signal.SIGTERM  # 0 would say that there is a backup


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_a_server_that_accepts_its_first_connection_stops_with_status_0(fresh_store: Store, workers: str) -> None:
    server = ServerProcess(fresh_store, {"FLAGSTAFF_WORKERS": workers}, command=COMMAND)
    await server.launch()
    async with asyncio.timeout(120):
        while not is_accepting(server.port):
            await asyncio.sleep(0.001)
    server.signal(signal.SIGTERM)
    assert await server.wait() == 0
    assert "Traceback" not in server.log


def is_accepting(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


async def test_a_stop_begins_while_the_management_api_is_loaded(fresh_store: Store, tmp_path: Path) -> None:
    may_load = tmp_path / "may-load"
    os.mkfifo(may_load)
    environ = run_before_the_api_is_imported(tmp_path, f"open({str(may_load)!r}).close()")
    async with ServerProcess(fresh_store, environ, command=COMMAND) as server, RemoteCaller(server.url) as caller:
        managing = asyncio.create_task(caller.get("/api/projects"))
        assert (await caller.get("/health")).status_code == 200
        server.signal(signal.SIGTERM)
        answer = await managing  # it is still not loaded
        assert (answer.status_code, "The server is stopping." in answer.json()["detail"]) == (503, True)
        may_load.write_text("")
        assert await server.wait() == 0


async def test_garbage_collection_does_not_look_at_the_loaded_management_api(
    fresh_store: Store, tmp_path: Path
) -> None:
    count = "import atexit, gc; atexit.register(lambda: print('looks at', len(gc.get_objects())))"
    async with (
        ServerProcess(fresh_store, run_before_the_api_is_imported(tmp_path, count), command=COMMAND) as server,
        RemoteCaller(server.url) as caller,
    ):
        assert (await caller.get("/openapi.json")).status_code == 200
        assert await server.stop() == 0
        found = re.search(r"looks at (\d+)", server.log)
        assert found is not None
        assert int(found[1]) < 20_000  # the management API has 80,000 objects


async def test_probes_and_evaluations_are_answered_while_the_management_api_is_loaded(
    fresh_store: Store, tmp_path: Path
) -> None:
    may_load = tmp_path / "may-load"
    os.mkfifo(may_load)
    environ = run_before_the_api_is_imported(tmp_path, f"open({str(may_load)!r}).close()")
    async with ServerProcess(fresh_store, environ, command=COMMAND) as server, RemoteCaller(server.url) as caller:
        managing = asyncio.create_task(caller.get("/api/projects"))
        for path in ("/health", "/ready", "/metrics"):
            assert (await caller.get(path)).status_code == 200
        assert (await caller.post("/sdk/v1/evaluate", json={"user": {"id": "ada"}})).status_code == 401
        assert not managing.done()
        may_load.write_text("")
        assert (await managing).status_code == 401
        assert (await caller.get("/openapi.json")).status_code == 200


async def test_a_second_server_on_the_same_folder_or_port_is_refused_and_the_first_continues(
    fresh_store: Store,
) -> None:
    async with ServerProcess(fresh_store) as first, RemoteCaller(first.url) as caller:
        await caller.sign_up()
        same_folder = refusal(FLAGSTAFF_DATA_DIR=str(fresh_store.data_directory), FLAGSTAFF_PORT="0")
        assert same_folder.startswith(
            f"Another Flagstaff (process {first.pid}) already serves from {fresh_store.data_directory}."
        )
        elsewhere = fresh_store.data_directory.with_name("other")
        same_port = refusal(FLAGSTAFF_DATA_DIR=str(elsewhere), FLAGSTAFF_PORT=str(first.port))
        assert same_port.startswith(f"Cannot listen on 127.0.0.1:{first.port}: ")
        assert "FLAGSTAFF_PORT" in same_port
        assert (await caller.get("/ready")).status_code == 200
        await caller.create_project()


async def test_a_first_start_creates_a_private_folder_and_prints_its_address(
    fresh_store: Store,
) -> None:
    async with ServerProcess(fresh_store, command=COMMAND) as server:
        folder = fresh_store.data_directory
        assert mode(folder) == 0o700
        assert mode(folder / "secret-key") == 0o600
        said = [line for line in server.log.splitlines() if not line.startswith("{")]
        assert re.fullmatch(
            rf"Flagstaff \S+ serves on {server.url} \(SQLite in {folder}\)\. Ctrl-C stops it\.", said[0]
        )
        assert said[1:] == []
        assert '"policy": "common passwords accepted"' in server.log
        assert server.log.count('"event": "migrated"') == 1
        secret = (folder / "secret-key").read_text()

        async with RemoteCaller(server.url) as caller:
            await caller.sign_up()
            assert await server.stop() == 0
            await server.start()
            assert (await caller.get("/api/me")).status_code == 200, "the token did not survive the restart"
        assert (folder / "secret-key").read_text() == secret
        assert secret not in server.log


async def test_a_start_takes_the_data_of_the_last_development_build_over_and_refuses_older_ones(store: Store) -> None:
    async with ServerProcess(store) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        project = await caller.create_project()
        assert await server.stop() == 0
        await make_earlier(store, "0031")
        assert "revision 0031, which only development builds before 1.0 had" in refusal(
            open_files=None, **store.environ
        )
        assert (await version_of(store))[0] == "0031"
        await make_earlier(store)
        await server.start()
        assert server.log.count('"event": "migrated"') == 1
        assert (await caller.get(f"/api/projects/{project['id']}")).json() == project
    assert (await version_of(store))[0] == known_revisions()[-1]


@pytest.mark.parametrize("switch", ["on", "off"])
async def test_the_access_log_can_be_switched_off(fresh_store: Store, switch: str) -> None:
    async with ServerProcess(fresh_store, {"FLAGSTAFF_ACCESS_LOG": switch}) as server:
        async with RemoteCaller(server.url) as caller:
            await caller.get("/health")
        await server.stop()
        assert ('"path": "/health"' in server.log) is (switch == "on")


async def test_no_secret_reaches_the_log(fresh_store: Store) -> None:
    async with ServerProcess(fresh_store) as server:
        async with RemoteCaller(server.url) as caller:
            await caller.sign_up()
            project = await caller.create_project()
            await caller.evaluate(project["sdk_key"])
            await caller.post("/auth/login", json={"email": "ada@example.com", "password": "a wrong password"})
            token = caller.headers["authorization"].removeprefix("Bearer ")
        await server.stop()
        for secret in (token, project["sdk_key"], "correct horse", "a wrong password"):
            assert secret not in server.log
