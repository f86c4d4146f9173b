"""Reading whole databases after a process that wrote to them was killed."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from flagstaff.database.sqlite.files import HISTORY_FILE
from tests.support.contents import contents, fill_every_table
from tests.support.stores import Store, sqlite_store

# It writes with a rollback journal, as a restore and a migration do. With a small cache it writes to the file before
# the commit.
WRITE_AND_DIE = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode = DELETE")
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN IMMEDIATE")
connection.execute("DELETE FROM segments")
connection.execute("CREATE TABLE filler (content)")
connection.executemany("INSERT INTO filler VALUES (zeroblob(1000))", [()] * 1000)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
async def full(sqlite_template: Path, data_directory: Path) -> Store:
    """A SQLite database: PostgreSQL recovers by itself before it accepts connections."""
    store = sqlite_store(sqlite_template, data_directory)
    await fill_every_table(store)
    return store


async def test_a_transaction_whose_process_was_killed_is_undone_before_anything_is_read(full: Store) -> None:
    before = await contents(full)
    file = full.data_directory / HISTORY_FILE
    died = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", WRITE_AND_DIE, str(file)])
    assert died.returncode == -signal.SIGKILL
    assert file.with_name(f"{HISTORY_FILE}-journal").stat().st_size > 0
    assert await contents(full) == before
