"""Numbers the commits to SQLite's files, so that a file that has lost confirmed ones can be told from a complete one.

Each commit increments `user_version`, which is in the file itself and so in its write-ahead log. Before the commit is
confirmed, its number is written to a file beside, in `commits/`. A file with a lower number than that has lost commits:
its log was deleted, or an older file is in its place. Whatever else has opened the files in between changes nothing.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import structlog

from flagstaff.values.errors import Code, Error

log = structlog.get_logger(__name__)

FOLDER = "commits"
_NUMBERS = 2**31  # SQLite has 32 bits with a sign, and the numbers begin again
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_NO_BOOT_ID = "-"
_SYNCED = "synced"


class NumberedCommits:
    """The transactions of a connection that writes. All methods are called in the connection's thread."""

    def __init__(self, record: Callable[[int], None]) -> None:
        """`record` is called with the number of each commit that has changed rows, after it is stored."""
        self._record = record
        self._changes = 0

    def begin(self, connection: sqlite3.Connection) -> None:
        """Note that a transaction has begun."""
        self._changes = connection.total_changes

    def commit(self, connection: sqlite3.Connection) -> None:
        """Number the transaction if it has changed rows, and commit it. Raises sqlite3's exceptions."""
        if connection.total_changes == self._changes:
            connection.commit()
            return
        number = (read_number(connection) + 1) % _NUMBERS
        connection.execute(f"PRAGMA user_version = {number}")
        connection.commit()
        self._record(number)


def read_number(connection: sqlite3.Connection) -> int:
    """The number of the newest commit in a file."""
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


class NumberRecord:
    """Writes the number of a file's newest commit. `is_synced` says that commits are on the disk then.

    A power failure may take those that are not.
    """

    def __init__(self, directory: Path, name: str, *, is_synced: bool) -> None:
        self._path = directory / FOLDER / name
        self._known = _SYNCED if is_synced else _boot_id()
        self._fails = False

    def __call__(self, number: int) -> None:
        """Write a number. The first failure after a success is logged: the commit is stored already."""
        # Of one length, so that a kill leaves the number before or this one. It is not synced: at worst it is too low.
        line = f"{number:010} {self._known:<36}\n".encode()
        try:
            with _opened(self._path) as descriptor:
                os.pwrite(descriptor, line, 0)
        except OSError as error:
            if not self._fails:
                log.warning("commit_number_not_written", file=self._path.name, error=error.strerror)
            self._fails = True
        else:
            self._fails = False


def find_confirmed(directory: Path, name: str) -> int | None:
    """The number of a file's newest confirmed commit; None if it is not known. To compare it, read it before the file.

    Of commits that were not synced, it is known only until the machine is started again.
    """
    try:
        number, known = (directory / FOLDER / name).read_text().split()
        return int(number) if known == _SYNCED or known == _boot_id() != _NO_BOOT_ID else None
    except (OSError, ValueError):
        return None


def count_lost(confirmed: int | None, found: int) -> int:
    """The number of confirmed commits that a file lacks, of which `found` is the newest; 0 if it has all of them."""
    lost = 0 if confirmed is None else (confirmed - found) % _NUMBERS
    return lost if lost < _NUMBERS // 2 else 0


def forget_number(directory: Path, name: str) -> None:
    """Expect no commits in a file any more, because another one was made in its place, or the loss is accepted.

    Raises:
        Error: UNAVAILABLE if that cannot be stored.
    """
    try:
        (directory / FOLDER / name).unlink(missing_ok=True)
    except OSError as error:
        message = f"{directory / FOLDER / name} cannot be deleted: {error.strerror}."
        raise Error(Code.UNAVAILABLE, message) from error


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    try:
        descriptor = os.open(path, os.O_WRONLY)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@cache
def _boot_id() -> str:
    """A text that differs after each start of the machine."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return _NO_BOOT_ID
