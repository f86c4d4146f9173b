"""Files that cannot be written: a start, changes, /ready and doctor say the same cause and step."""

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from flagstaff.assembly.history import SPOOL_FOLDER
from flagstaff.cli.doctor.findings import Status
from flagstaff.cli.doctor.machine_checks import check_files
from flagstaff.database.data_directory import DataDirectory
from flagstaff.database.database import Database
from flagstaff.database.readiness import Readiness
from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE, inspect_files
from flagstaff.values.errors import Error
from tests.support.command import run_flagstaff
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store

OTHER = 65534  # the user nobody, on most systems
_touch = sa.text("UPDATE alembic_version SET version_num = version_num")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user, and mount")


@pytest.fixture
def folder(sqlite_template: Path) -> Iterator[Path]:
    """A data directory below folders that every user can pass."""
    top = Path(tempfile.mkdtemp(prefix="flagstaff-files-"))
    top.chmod(0o755)
    folder = shutil.copytree(sqlite_template, top / "data")
    for name in (CONFIGURATION_FILE, HISTORY_FILE):
        with closing(sqlite3.connect(folder / name)) as file:
            file.execute("PRAGMA journal_mode = WAL")
    yield folder
    shutil.rmtree(top)


@contextmanager
def another_user() -> Iterator[None]:
    os.seteuid(OTHER)
    try:
        yield
    finally:
        os.seteuid(0)


def give(folder: Path, *, but: Path) -> None:
    """Give a directory to another user, except for one file."""
    for path in (folder, *folder.iterdir()):
        if path != but:
            os.chown(path, OTHER, OTHER)


async def try_to_write(folder: Path) -> tuple[str, str]:
    """Return what a refused change says, and then /ready."""
    database = Database(None, folder)
    try:
        with pytest.raises(Error) as refused:
            async with database.transaction() as transaction:
                await transaction.connection.execute(_touch)
        with pytest.raises(Error) as unready:
            await Readiness(database, lambda: True, list, list).check()
    finally:
        await database.close()
    return refused.value.message, unready.value.message


@needs_root
async def test_a_change_ready_and_doctor_say_that_a_file_belongs_to_another_user(folder: Path) -> None:
    file = folder / CONFIGURATION_FILE
    file.chmod(0o644)
    give(folder, but=file)
    with another_user():
        messages = await try_to_write(folder)
        finding = check_files(folder, is_sqlite=True)
    assert finding.status is Status.FAIL
    for said in (*messages, f"{finding.found} {finding.advice}"):
        assert "flagstaff.sqlite cannot be written, because it belongs to another user (id 0)" in said
        assert "chown -R USER" in said


@needs_root
@pytest.mark.parametrize("ending", ["", "-wal"])
async def test_a_start_and_doctor_say_that_a_file_cannot_be_opened_because_of_its_owner(
    folder: Path, ending: str
) -> None:
    file = folder / f"{CONFIGURATION_FILE}{ending}"
    file.touch()
    file.chmod(0o600)
    give(folder, but=file)
    with another_user():
        with pytest.raises(Error) as refused:
            inspect_files(folder)
        finding = check_files(folder, is_sqlite=True)
    for said in (refused.value.message, f"{finding.found} {finding.advice}"):
        assert f"{file.name} cannot be written, because it belongs to another user (id 0)" in said
        assert "chown -R USER" in said


@needs_root
async def test_a_start_and_doctor_say_that_the_file_system_is_read_only(folder: Path) -> None:
    with read_only(folder):
        with pytest.raises(Error) as refused:
            DataDirectory(folder).lock()
        finding = check_files(folder, is_sqlite=True)
    for said in (refused.value.message, f"{finding.found} {finding.advice}"):
        assert "cannot be written, because its file system is read-only" in said
        assert "Mount it for writing" in said


@needs_root
@pytest.mark.parametrize("is_sqlite", [True, False])
async def test_doctor_says_that_evaluations_cannot_wait_in_a_folder_of_another_user(
    folder: Path, is_sqlite: bool
) -> None:
    spool = folder / SPOOL_FOLDER
    spool.mkdir(0o755)
    give(folder, but=spool)
    with another_user():
        finding = check_files(folder, is_sqlite=is_sqlite)
    assert "spool cannot be written, because it belongs to another user (id 0)" in finding.found


@needs_root
async def test_ready_and_doctor_say_that_evaluations_cannot_wait_on_a_read_only_file_system(folder: Path) -> None:
    store = Store(None, folder)
    async with ServerProcess(store) as server, RemoteCaller(server.url) as caller:
        with read_only(folder / SPOOL_FOLDER):
            async with asyncio.timeout(30):
                while (ready := await caller.get("/ready")).status_code == 200:
                    await asyncio.sleep(0.1)
            outcome = await asyncio.to_thread(run_flagstaff, "doctor", "--json", environ=store.environ)
        finding = next(each for each in json.loads(outcome.stdout) if each["check"] == "files")
        for said in (ready.json()["detail"], f"{finding['found']} {finding['advice']}"):
            assert "spool cannot be written, because its file system is read-only" in said
            assert "Mount it for writing" in said
        assert ready.json()["works"] == {"evaluations": True, "writes": True, "history": True}


@needs_root
def test_doctor_of_root_warns_of_a_file_that_the_owner_of_the_directory_may_not_write(folder: Path) -> None:
    give(folder, but=folder / HISTORY_FILE)
    finding = check_files(folder, is_sqlite=True)
    assert (finding.status, finding.found.split()[0]) == (Status.WARN, HISTORY_FILE)
    assert "chown -R USER" in finding.advice


def test_files_that_can_be_written_are_fine(folder: Path) -> None:
    assert check_files(folder, is_sqlite=True).status is Status.OK


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Mount a directory over itself, for reading only."""
    if subprocess.run(["mount", "--bind", folder, folder], check=False, capture_output=True).returncode:
        pytest.skip("this machine allows no mounts")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
        yield
    finally:
        subprocess.run(["umount", folder], check=True)
