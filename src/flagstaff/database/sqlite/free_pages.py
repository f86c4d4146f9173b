"""Free pages of a SQLite file: how many there are, and giving them back to the disk, in turns or all at once.

Deleted rows leave free pages in the file, which new rows use. SQLite gives them back in turns only if the file was made
so (`auto_vacuum`); any other file has to be written anew first.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

from flagstaff.database.files import WORK_PREFIX, sync_directory
from flagstaff.database.sqlite.files import existing

AUTO_VACUUM = "INCREMENTAL"
"""The mode in which a file of the history is made: free pages are given back when they are asked for."""
_INCREMENTAL = 2  # the same as a number


class FreePages(NamedTuple):
    """The bytes of the free pages of a file, and whether they can be given back in turns."""

    bytes: int
    can_be_returned: bool


def find_free_pages(database: sqlite3.Connection) -> FreePages:
    """The free pages of a file."""
    pages, size, mode = (
        int(database.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("freelist_count", "page_size", "auto_vacuum")
    )
    return FreePages(pages * size, mode == _INCREMENTAL)


def return_pages(database: sqlite3.Connection, most: int, seconds: float) -> int:
    """Give back free pages, up to a number of bytes and for so long; return how many bytes. Inside a transaction.

    The file becomes smaller when the write-ahead log is moved to it.
    """
    until, size = perf_counter() + seconds, int(database.execute("PRAGMA page_size").fetchone()[0])
    returned = 0
    while returned + size <= most and perf_counter() < until:
        database.execute("PRAGMA incremental_vacuum(1)")  # Python runs one step of it, which is one page
        returned += size
    return returned


def rewrite(path: Path) -> int:
    """Write a file anew without free pages, so that it gives them back in turns from now on; return the bytes saved.

    The caller holds the lock of its folder. A kill leaves the file as it was, and a folder that the next one to lock
    deletes. Raises sqlite3's exceptions and OSError.
    """
    before = path.stat().st_size
    with TemporaryDirectory(prefix=f"{WORK_PREFIX}compact-", dir=path.parent) as folder:
        made = Path(folder) / path.name
        with closing(sqlite3.connect(existing(path), uri=True, isolation_level=None)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute(f"PRAGMA auto_vacuum = {AUTO_VACUUM}")
            connection.execute("VACUUM INTO ?", (str(made),))
            # The last connection deletes the log, which is empty, and must not be found beside another file.
            connection.execute("PRAGMA journal_mode = DELETE")
        made.chmod(path.stat().st_mode & 0o777)
        with made.open("rb") as file:
            os.fsync(file.fileno())
        made.rename(path)
        sync_directory(path.parent)
    return before - path.stat().st_size
