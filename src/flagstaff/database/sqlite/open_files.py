"""SQLite's files as a process has them open, and connections that keep them so and empty their write-ahead logs.

Who deletes a write-ahead log under a running server changes nothing for it: it goes on with the deleted file, and all
that was committed since the last checkpoint ends with the process. While one connection is open, SQLite itself neither
deletes nor replaces a file, so other files under their names are somebody else's doing.
"""

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from flagstaff.database.files import find_status
from flagstaff.database.sqlite.connection_thread import use_write_ahead_log
from flagstaff.database.sqlite.driver import Connection, connect
from flagstaff.database.sqlite.files import OPEN_ENDINGS, describe_replaced, existing
from flagstaff.values.errors import unavailable

CHECKPOINT_SECONDS = 5.0
"""How often the logs are emptied into their files. SQLite itself does so after a commit, for a log of 1,000 pages."""
LOG_BYTES = 64 * 1024**2
"""Of a longer log, which readers have kept from being used from its start again, the space is given back."""
_OPEN_MILLISECONDS = 5_000  # for so long it waits for a worker that opens the same file, or recovers its log
_TRUNCATE_MILLISECONDS = 100  # for so long it waits for readers, and writers wait for it

Identity = tuple[int, int]  # a file's device and number, which a file of the same name does not share


class OpenFile:
    """A file of SQLite's with the files beside it, as they were when it was opened, and a connection that keeps it."""

    def __init__(self, path: Path) -> None:
        """Nothing is opened yet, and anything is expected under the names."""
        self.path = path
        self._connection: Connection | None = None
        self._found: dict[str, Identity | None] = {}

    async def open(self, *, is_usable: bool) -> None:
        """Open the file if it is usable, and note which files there are. Raises sqlite3's exceptions."""
        if is_usable and self._connection is None:
            connection = await connect(existing(self.path))
            try:
                await connection.call(_prepare)
            except BaseException:
                connection.stop()
                raise
            self._connection = connection
        endings = OPEN_ENDINGS if self._connection else OPEN_ENDINGS[:1]
        self._found = {ending: _identity(Path(f"{self.path}{ending}")) for ending in endings}

    @property
    def numbers(self) -> Mapping[str, int]:
        """The numbers (inodes) of the files that are open, by name."""
        found = self._found.items() if self._connection else ()
        return {f"{self.path.name}{ending}": each[1] for ending, each in found if each is not None}

    def find_problem(self) -> str | None:
        """Why a write would be lost with this process, and what to do; None if all files are the ones that are open."""
        for ending, identity in self._found.items():
            if _identity(Path(f"{self.path}{ending}")) != identity:
                return describe_replaced(f"{self.path.name}{ending}")
        return None

    def require(self) -> None:
        """Raise Error UNAVAILABLE if `find_problem` finds one."""
        problem = self.find_problem()
        if problem is not None:
            raise unavailable(problem)

    async def checkpoint(self) -> int:
        """Move what is in the log to the file; return how many bytes had to stay because something reads from before.

        Also from a log that was deleted: so what was committed to it is not lost. Raises sqlite3's exceptions.
        """
        return 0 if self._connection is None else await self._connection.call(_checkpoint)

    async def empty_log(self) -> bool:
        """Move all that is in the log to the file, and make it empty; return False if a reader has kept it from that.

        Raises sqlite3's exceptions.
        """
        return self._connection is None or await self._connection.call(_empty_log)

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            await self._connection.close()
        self._connection = None


def _prepare(database: sqlite3.Connection) -> None:
    database.execute(f"PRAGMA busy_timeout = {_OPEN_MILLISECONDS}")
    use_write_ahead_log(database)
    database.execute("SELECT count(*) FROM sqlite_master").fetchall()  # the first read opens the files beside it
    database.execute(f"PRAGMA busy_timeout = {_TRUNCATE_MILLISECONDS}")


def _checkpoint(database: sqlite3.Connection) -> int:
    page_bytes = int(database.execute("PRAGMA page_size").fetchone()[0])
    _, pages, moved = map(int, database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone())
    if pages * page_bytes > LOG_BYTES:
        _, pages, moved = map(int, database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())
    return max(pages - moved, 0) * page_bytes


def _empty_log(database: sqlite3.Connection) -> bool:
    is_busy, pages, _ = map(int, database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())
    return not is_busy and pages <= 0


def _identity(path: Path) -> Identity | None:
    """None if there is no such file."""
    found = find_status(path)
    return (found.st_dev, found.st_ino) if found else None
