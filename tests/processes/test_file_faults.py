"""A full disk, and damaged and missing files: a running server, doctor and a start say the same cause and step."""

import asyncio
import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from flagstaff.assembly.history import SPOOL_FOLDER
from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE
from tests.processes.test_lost_files import empty, overwrite_pages, remove
from tests.support.api import Json, flag_path
from tests.support.command import run_flagstaff
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

SETTINGS = {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off", "FLAGSTAFF_API_RATE_LIMIT": "off"}
FREE = "Free space on the disk, and try again."
RESTORE = "restore a backup: flagstaff restore FILE"
NEW_HISTORY = "otherwise run: flagstaff history new."


def fill_disk(file: Path) -> None:
    """Fill the file system of a file's folder to its last byte."""
    with (file.parent / "filler").open("ab", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(1024))
        except OSError:
            return


@dataclass(frozen=True)
class Case:
    """A fault of a file, the cause and the step that are said while the server runs and at a start, and by which check.

    `starts` says that the server starts nevertheless, and says it in `/ready`. `again` repeats the fault before that.
    """

    file: str
    make: Callable[[Path], None]
    running: tuple[str, str]
    starting: tuple[str, str]
    check: str
    starts: bool
    again: bool = False


CASES = {
    "disk-full": Case(
        CONFIGURATION_FILE,
        fill_disk,
        (" cannot be written because its disk is full.", FREE),
        (" cannot be written because its disk is full.", FREE),
        "files",
        starts=False,
        again=True,
    ),
    "disk-of-spool-full": Case(
        f"{SPOOL_FOLDER}/any",
        fill_disk,
        ("spool cannot be written because its disk is full.", FREE),
        ("spool cannot be written because its disk is full.", FREE),
        "files",
        starts=True,
    ),
    "configuration-damaged": Case(
        CONFIGURATION_FILE,
        overwrite_pages,
        ("flagstaff.sqlite is damaged", RESTORE),
        ("flagstaff.sqlite is damaged", RESTORE),
        "database",
        starts=False,
    ),
    "configuration-missing": Case(
        CONFIGURATION_FILE,
        remove,
        ("flagstaff.sqlite was deleted or replaced", "put the file back or restore a backup"),
        ("flagstaff.sqlite is missing, but there is a history", RESTORE),
        "database",
        starts=False,
    ),
    "history-damaged": Case(
        HISTORY_FILE,
        overwrite_pages,
        ("history.sqlite is damaged", NEW_HISTORY),
        ("history.sqlite is damaged", NEW_HISTORY),
        "history",
        starts=True,
    ),
    "history-missing": Case(
        HISTORY_FILE,
        remove,
        ("history.sqlite was deleted or replaced", NEW_HISTORY),
        ("history.sqlite is missing", NEW_HISTORY),
        "history",
        starts=True,
    ),
    "history-empty": Case(
        HISTORY_FILE,
        empty,
        ("history.sqlite was deleted or replaced", NEW_HISTORY),
        ("history.sqlite is empty", NEW_HISTORY),
        "history",
        starts=True,
    ),
}


@pytest.fixture
def disk(data_directory: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """The data directory; for the cases of full disks, the folder that fills is a file system of 16 MiB."""
    name = request.getfixturevalue("name")
    if not name.startswith("disk"):
        yield data_directory
        return
    folder = data_directory / SPOOL_FOLDER if "spool" in name else data_directory
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m,mode=0700", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine allows no mounts")
    yield data_directory
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def examine(store: Store) -> dict[str, str]:
    """Return what each failing check of doctor says."""
    outcome = run_flagstaff("doctor", "--json", environ=store.environ)
    assert "Traceback" not in outcome.stderr
    assert outcome.returncode == 1, outcome.stdout
    failing = [each for each in json.loads(outcome.stdout) if each["status"] == "FAIL"]
    return {each["check"]: f"{each['found']} {each['advice']}" for each in failing}


def says(said: str, expected: tuple[str, str]) -> bool:
    """Return whether a text has a cause and a step. Doctor puts the step on a line of its own."""
    cause, step = expected
    return cause.removesuffix(".") in said and step in said


async def until_ready_says(caller: RemoteCaller, expected: tuple[str, str], project: Json, flag: Json) -> None:
    """Go on with changes and evaluations until `/ready` says it."""
    said = ""
    try:
        async with asyncio.timeout(60):
            while not says(said, expected):
                await caller.post(f"{flag_path(flag)}/toggle")
                assert (await caller.evaluate(project["sdk_key"])).status_code == 200
                answer = await caller.get("/ready")
                said = answer.json().get("detail", "") if answer.status_code == 503 else ""
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"/ready says {said!r}") from None


@pytest.mark.parametrize("name", CASES)
async def test_a_running_server_doctor_and_a_start_say_the_same(sqlite_template: Path, disk: Path, name: str) -> None:
    case, store = CASES[name], sqlite_store(sqlite_template, disk)
    async with ServerProcess(store, SETTINGS) as server:
        async with RemoteCaller(server.url) as caller:
            await caller.sign_up()
            project = await caller.create_project()
            flag = await caller.create_flag(await caller.get_environment(project))
            assert (await caller.evaluate(project["sdk_key"])).status_code == 200  # which is answered from memory then
            case.make(disk / case.file)
            await until_ready_says(caller, case.running, project, flag)
            found = await asyncio.to_thread(examine, store)
            check = "database" if "was deleted" in case.running[0] else case.check
            assert says(found.get(check, ""), case.running), found
        assert await server.stop() == 0
        if case.again:
            case.make(disk / case.file)
        before = len(server.log)
        await server.launch()
        if case.starts:
            async with RemoteCaller(server.url) as caller:
                await until_answered(caller, case.starting)
        else:
            assert await server.wait() == 1
            assert says(server.log[before:].splitlines()[-1], case.starting), server.log[before:]
        found = await asyncio.to_thread(examine, store)
        assert says(found.get(case.check, ""), case.starting), found
        assert "Traceback" not in server.log


async def until_answered(caller: RemoteCaller, expected: tuple[str, str]) -> None:
    """Wait until a server that starts says it in `/ready`."""
    async with asyncio.timeout(60):
        while not await _is_said(caller, expected):
            await asyncio.sleep(0.05)


async def _is_said(caller: RemoteCaller, expected: tuple[str, str]) -> bool:
    try:
        return says((await caller.get("/ready")).json().get("detail", ""), expected)
    except httpx.TransportError:
        return False


@pytest.mark.parametrize("name", ["disk-full"])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_first_start_and_commands_on_a_full_disk_end_in_one_line(disk: Path, name: str, workers: str) -> None:
    fill_disk(disk / CONFIGURATION_FILE)
    environ = {"FLAGSTAFF_DATA_DIR": str(disk), "FLAGSTAFF_PORT": "0", "FLAGSTAFF_WORKERS": workers}
    for command in (["serve"], ["migrate"], ["history", "compact"], ["users", "promote", "ada@example.com"]):
        outcome = run_flagstaff(*command, environ=environ)
        assert outcome.returncode == 1
        assert "Traceback" not in outcome.stderr
        assert FREE in outcome.stderr.splitlines()[-1], (command, outcome.stderr)
