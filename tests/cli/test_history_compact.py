"""`flagstaff history compact`, and what doctor says before and after it."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from flagstaff.database.sqlite.files import HISTORY_FILE
from flagstaff.history.free_space import KEPT_BYTES
from tests.support.api import Json
from tests.support.command import run_flagstaff
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store


@pytest.fixture
def sqlite(sqlite_template: Path, data_directory: Path) -> Store:
    """A store with a history as an earlier version has made it, with much free space."""
    store = sqlite_store(sqlite_template, data_directory)
    with closing(sqlite3.connect(data_directory / HISTORY_FILE, isolation_level=None)) as connection:
        connection.execute("PRAGMA auto_vacuum = NONE")
        connection.execute("VACUUM")
        connection.execute("CREATE TABLE large (content BLOB)")
        for _ in range(10):
            connection.execute("INSERT INTO large VALUES (zeroblob(?))", (KEPT_BYTES // 8,))
        connection.execute("DROP TABLE large")
    return store


def find_history(store: Store) -> Json:
    outcome = run_flagstaff("doctor", "--json", environ=store.environ)
    return next(each for each in json.loads(outcome.stdout) if each["check"] == "history")


def test_doctor_says_what_waits_and_the_command_gives_it_back(sqlite: Store) -> None:
    finding = find_history(sqlite)
    assert (finding["status"], "which the disk does not get back" in finding["found"]) == ("WARN", True)
    assert "flagstaff history compact" in finding["advice"]
    outcome = run_flagstaff("history", "compact", environ=sqlite.environ)
    assert outcome.returncode == 0, outcome.stderr
    assert (sqlite.data_directory / HISTORY_FILE).stat().st_size < 1_000_000
    assert find_history(sqlite)["status"] == "OK"


def leave(store: Store, *names: str) -> list[Path]:
    """Make what commands leave that are killed; return the folders."""
    folders = [store.data_directory / name for name in names]
    for folder in folders:
        folder.mkdir()
        (folder / HISTORY_FILE).write_bytes(b"somebody's evaluations")
    return folders


def find_leftovers(store: Store) -> Json | None:
    outcome = run_flagstaff("doctor", "--json", environ=store.environ)
    return next((each for each in json.loads(outcome.stdout) if each["check"] == "leftovers"), None)


def test_what_a_command_that_was_killed_has_left_is_deleted_and_no_folder_of_an_operator(sqlite: Store) -> None:
    left, own = leave(sqlite, "flagstaff-work-compact-killed", "compact-backups")
    assert run_flagstaff("history", "compact", environ=sqlite.environ).returncode == 0
    assert (left.exists(), own.exists()) == (False, True)


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_doctor_names_what_killed_commands_have_left_and_a_start_deletes_it(sqlite: Store, workers: str) -> None:
    folders = leave(sqlite, "flagstaff-work-compact-killed", "flagstaff-work-new-history-killed")
    finding = find_leftovers(sqlite)
    assert finding is not None
    assert (
        finding["status"],
        "flagstaff-work-compact-killed, flagstaff-work-new-history-killed" in finding["found"],
    ) == ("WARN", True)
    assert "start" in finding["advice"]
    async with ServerProcess(sqlite, {"FLAGSTAFF_WORKERS": workers}):
        assert [each for each in folders if each.exists()] == []
        assert find_leftovers(sqlite) is None


def test_a_link_is_not_followed_when_leftovers_are_deleted(sqlite: Store, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept").touch()
    (sqlite.data_directory / "flagstaff-work-compact-link").symlink_to(other)
    assert run_flagstaff("history", "compact", environ=sqlite.environ).returncode == 0
    assert (other / "kept").exists()


async def test_it_is_refused_beside_a_server_and_a_server_starts_after_it(sqlite: Store) -> None:
    async with ServerProcess(sqlite) as server:
        refused = run_flagstaff("history", "compact", environ=sqlite.environ)
        assert (refused.returncode, "already serves from" in refused.stderr) == (1, True)
        await server.stop()
        assert run_flagstaff("history", "compact", environ=sqlite.environ).returncode == 0
        await server.start()


def test_it_is_refused_without_a_history_and_with_postgresql(data_directory: Path) -> None:
    environ = {"FLAGSTAFF_DATA_DIR": str(data_directory)}
    refused = run_flagstaff("history", "compact", environ=environ)
    assert (refused.returncode, "There is no history yet" in refused.stderr) == (1, True)
    refused = run_flagstaff(
        "history", "compact", environ={**environ, "FLAGSTAFF_DATABASE_URL": "postgresql://localhost/flags"}
    )
    assert (refused.returncode, "autovacuum" in refused.stderr) == (1, True)
