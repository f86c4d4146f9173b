"""SQLite's files while they are open: the numbers of commits, and logs that are emptied."""

import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from flagstaff.database.database import Database
from flagstaff.database.sqlite.commit_numbers import FOLDER, NumberRecord, count_lost, find_confirmed, forget_number
from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE
from flagstaff.database.sqlite.open_files import LOG_BYTES, OpenFile
from flagstaff.values.errors import Error

_touch = sa.text("UPDATE alembic_version SET version_num = version_num")


@pytest.fixture
async def database(sqlite_template: Path, data_directory: Path) -> AsyncIterator[Database]:
    shutil.copytree(sqlite_template, data_directory, dirs_exist_ok=True)
    database = Database(None, data_directory)
    yield database
    await database.close()


def number_in(directory: Path, name: str = CONFIGURATION_FILE) -> int:
    with closing(sqlite3.connect(directory / name)) as file:
        return int(file.execute("PRAGMA user_version").fetchone()[0])


async def test_a_commit_that_changes_a_row_gets_the_next_number_in_the_file_and_beside_it(
    database: Database, data_directory: Path
) -> None:
    first = number_in(data_directory)
    for expected in (first + 1, first + 2):
        async with database.transaction() as transaction:
            await transaction.connection.execute(_touch)
        assert number_in(data_directory) == find_confirmed(data_directory, CONFIGURATION_FILE) == expected


async def touch_and_fail(database: Database) -> None:
    async with database.transaction() as transaction:
        await transaction.connection.execute(_touch)
        raise LookupError


async def test_a_transaction_that_changes_nothing_or_is_rolled_back_gets_no_number(
    database: Database, data_directory: Path
) -> None:
    first = number_in(data_directory)
    with pytest.raises(LookupError):
        await touch_and_fail(database)
    async with database.transaction() as transaction:
        await transaction.connection.execute(sa.text("SELECT count(*) FROM flags"))
    assert number_in(data_directory) == first
    assert find_confirmed(data_directory, CONFIGURATION_FILE) is None


async def test_a_commit_stays_although_its_number_cannot_be_written(database: Database, data_directory: Path) -> None:
    first = number_in(data_directory)
    (data_directory / "commits").touch()
    async with database.transaction() as transaction:
        await transaction.connection.execute(_touch)
    assert number_in(data_directory) == first + 1


@pytest.mark.parametrize(
    ("confirmed", "found", "lost"),
    [(None, 3, 0), (5, 5, 0), (5, 7, 0), (7, 5, 2), (1, 2**31 - 2, 3), (2**31 - 1, 1, 0)],
)
def test_lost_commits_are_counted_also_where_the_numbers_begin_again(
    confirmed: int | None, found: int, lost: int
) -> None:
    assert count_lost(confirmed, found) == lost


@pytest.mark.parametrize("content", ["", "7", "seven synced", "\0\0\0\0", "7 another-start-of-the-machine"])
def test_a_number_that_cannot_be_read_is_not_known(tmp_path: Path, content: str) -> None:
    (tmp_path / "commits").mkdir()
    (tmp_path / "commits" / HISTORY_FILE).write_text(content)
    assert find_confirmed(tmp_path, HISTORY_FILE) is None


@pytest.mark.parametrize("is_synced", [True, False])
def test_a_number_is_known_until_it_is_forgotten(tmp_path: Path, is_synced: bool) -> None:
    for number in (2**31 - 1, 7):
        NumberRecord(tmp_path, HISTORY_FILE, is_synced=is_synced)(number)
        assert find_confirmed(tmp_path, HISTORY_FILE) == number
    assert (tmp_path / "commits" / HISTORY_FILE).stat().st_mode & 0o777 == 0o600
    forget_number(tmp_path, HISTORY_FILE)
    assert find_confirmed(tmp_path, HISTORY_FILE) is None


async def test_no_connection_is_opened_to_a_file_that_was_replaced(database: Database, data_directory: Path) -> None:
    await database.open_files()
    (data_directory / f"{CONFIGURATION_FILE}-wal").unlink()
    with pytest.raises(Error, match=r"flagstaff.sqlite-wal was deleted or replaced"):
        async with database.read():
            pass
    assert not (data_directory / f"{CONFIGURATION_FILE}-wal").exists()


async def test_the_space_of_a_long_log_is_given_back(tmp_path: Path) -> None:
    path, log = tmp_path / "large.sqlite", tmp_path / "large.sqlite-wal"
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("CREATE TABLE contents (content BLOB)")
        file = OpenFile(path)
        await file.open(is_usable=True)
        try:
            with closing(sqlite3.connect(path, isolation_level=None)) as reader:
                reader.execute("BEGIN")
                reader.execute("SELECT count(*) FROM contents").fetchone()
                for _ in range(3):
                    writer.execute("INSERT INTO contents VALUES (zeroblob(?))", (LOG_BYTES // 2,))
                assert await file.checkpoint() > LOG_BYTES
            assert log.stat().st_size > LOG_BYTES
            assert await file.checkpoint() == 0
            assert log.stat().st_size == 0
        finally:
            await file.close()


def test_a_number_that_cannot_be_written_is_logged_once_until_one_is_written_again(tmp_path: Path) -> None:
    record = NumberRecord(tmp_path, HISTORY_FILE, is_synced=True)
    for _ in range(2):
        (tmp_path / FOLDER).write_text("in the place of the folder")
        with capture_logs() as logs:
            record(1)
            record(2)
        assert [each["event"] for each in logs] == ["commit_number_not_written"]
        (tmp_path / FOLDER).unlink()
        record(3)
        assert find_confirmed(tmp_path, HISTORY_FILE) == 3
        shutil.rmtree(tmp_path / FOLDER)
