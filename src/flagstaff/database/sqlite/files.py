"""SQLite's two files as they are found before they are used: whether one is missing, empty, damaged or foreign.

Nothing here creates a file: an empty one beside a filled one would hide that its content is gone.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from urllib.parse import quote

from flagstaff.database import tables
from flagstaff.database.data_directory import DataDirectory
from flagstaff.database.situations import find_file_situation
from flagstaff.database.sqlite.commit_numbers import count_lost, find_confirmed, forget_number, read_number
from flagstaff.values.errors import Code, Error

CONFIGURATION_FILE = "flagstaff.sqlite"
HISTORY_FILE = "history.sqlite"
OPEN_ENDINGS = ("", "-wal", "-shm")  # what SQLite appends to the name of a file for those beside it that are open
COMPANIONS = (*OPEN_ENDINGS, "-journal")

_LOCK_SECONDS = 30
_VERSION = "alembic_version"
_NEW_HISTORY = (
    "Stop the server. Put the file back if you have it; otherwise run: flagstaff history new. Then start the server."
)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class State(Enum):
    """The state of a file."""

    MISSING = "missing"
    EMPTY = "empty"
    DAMAGED = "damaged"
    FOREIGN = "foreign"
    FILLED = "filled"


_Found = tuple[State, str | None, int]  # of a file, the revision if it has one, and the number of its newest commit


@dataclass(frozen=True, slots=True)
class Files:
    """The state of both files, and the revision of the configuration if it has one.

    `lost_commits` and `lost_history_commits` are the numbers of confirmed commits that they lack.
    """

    directory: Path
    configuration: State
    history: State
    revision: str | None
    lost_commits: int
    lost_history_commits: int

    @property
    def are_new(self) -> bool:
        """True if neither file has anything yet."""
        unused = (State.MISSING, State.EMPTY)
        return self.configuration in unused and self.history in unused

    def require_configuration(self) -> None:
        """Raise Error CONFLICT if the configuration cannot be used and may not be made anew."""
        path, history = self.directory / CONFIGURATION_FILE, self.directory / HISTORY_FILE
        if self.configuration is State.DAMAGED:
            raise Error(
                Code.CONFLICT,
                f"{path} is damaged. Nothing was changed. Move it and {HISTORY_FILE}, with the files whose names begin "
                "with theirs, to another folder, and restore a backup: flagstaff restore FILE",
            )
        if self.configuration is State.FOREIGN:
            raise Error(
                Code.CONFLICT,
                f"{path} is not a database of Flagstaff: its tables are another program's, or its revision is missing. "
                f"Nothing was changed. Move it, with the files whose names begin with {CONFIGURATION_FILE}, to another "
                f"folder. Then put Flagstaff's {CONFIGURATION_FILE} back, or restore a backup: flagstaff restore FILE",
            )
        if self.configuration is not State.FILLED and not self.are_new:
            raise Error(
                Code.CONFLICT,
                f"{path} is {self.configuration.value}, but there is a history of evaluations in {history}. Nothing "
                f"was changed. Put {CONFIGURATION_FILE} back. Or move the files whose names begin with {HISTORY_FILE} "
                "to another folder, and restore a backup: flagstaff restore FILE",
            )
        if self.lost_commits:
            raise Error(
                Code.CONFLICT,
                f"{describe_loss(CONFIGURATION_FILE, self.lost_commits)} Nothing was changed. Put {CONFIGURATION_FILE} "
                f"and {CONFIGURATION_FILE}-wal back, or restore a backup: flagstaff restore --replace FILE. To go on "
                "without the lost changes, run: flagstaff serve --accept-loss",
            )

    def accept_loss(self) -> dict[str, int]:
        """Expect no lost commits any more; return how many each file lacks. Raises Error UNAVAILABLE if that fails."""
        found = {CONFIGURATION_FILE: self.lost_commits, HISTORY_FILE: self.lost_history_commits}
        lost = {name: commits for name, commits in found.items() if commits}
        for name in lost:
            forget_number(self.directory, name)
        return lost

    @property
    def history_problem(self) -> str | None:
        """The reason why the history cannot be used beside this configuration, and what to do; None if it can."""
        if self.configuration is not State.FILLED:
            return None
        if self.history is not State.FILLED:
            return unusable_history(f"{HISTORY_FILE} is {self.history.value}")
        if self.lost_history_commits:
            return (
                f"{describe_loss(HISTORY_FILE, self.lost_history_commits)} Evaluations are answered, and kept on disk "
                f"for the history. Stop the server. Put {HISTORY_FILE} and {HISTORY_FILE}-wal back and start the "
                "server. To go on without the lost evaluations, run: flagstaff serve --accept-loss"
            )
        return None


def unusable_history(found: str) -> str:
    """Return what to do about a history in this state."""
    return f"{found}. Evaluations are answered, and kept on disk for the history. {_NEW_HISTORY}"


def describe_loss(name: str, commits: int) -> str:
    """Return what has happened to a file that lacks confirmed commits."""
    return (
        f"{name} lacks the last {commits} changes that were confirmed: its {name}-wal was deleted while it was needed, "
        "or an older file is in its place."
    )


def inspect_files(directory: Path) -> Files:
    """The state of both files.

    Raises:
        Error: CONFLICT if a server is running and has other files open, UNAVAILABLE if one cannot be opened.
    """
    require_files_of_server(directory)
    confirmed, confirmed_history = (find_confirmed(directory, name) for name in (CONFIGURATION_FILE, HISTORY_FILE))
    configuration, revision, number = _inspect(directory / CONFIGURATION_FILE, _look_at_configuration)
    history, _, history_number = _inspect(directory / HISTORY_FILE, _look_at_history)
    lost = count_lost(confirmed, number) if configuration is State.FILLED else 0
    lost_history = count_lost(confirmed_history, history_number) if history is State.FILLED else 0
    return Files(directory, configuration, history, revision, lost, lost_history)


def require_files_of_server(directory: Path) -> None:
    """Raise Error CONFLICT if a server is running on a directory and has other files open than those that are there.

    Opening them would create new files beside the server's, without the changes that it has confirmed.
    """
    if name := DataDirectory(directory).find_replaced_file():
        raise Error(Code.CONFLICT, describe_replaced(name))


def describe_replaced(name: str) -> str:
    """Return what to do about a file of the running server, such as flagstaff.sqlite-wal, that is gone or another."""
    happened = f"{name} was deleted or replaced while the server was running. Nothing was changed."
    if name == HISTORY_FILE:
        return f"{happened} {_NEW_HISTORY}"
    if name == CONFIGURATION_FILE:
        return f"{happened} Stop the server, put the file back or restore a backup, and start it again."
    return (
        f"{happened} The server has it open, and writes what it contains to {name.rpartition('-')[0]} within seconds. "
        "Then stop the server, and start it again."
    )


def find_damage(path: Path, *, is_thorough: bool = False) -> str | None:
    """The first damage that SQLite finds when it reads the whole file; None if there is none.

    A thorough search compares indexes with their tables, which takes several times as long.

    Raises Error UNAVAILABLE if the file cannot be opened.
    """
    try:
        with closing(_open(path)) as connection:
            check = "integrity_check" if is_thorough else "quick_check"
            found = connection.execute(f"PRAGMA {check}(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise _unreadable(path, error) from error
        return str(error)
    return None if found == "ok" else str(found).replace("\n", " ")


def is_damage(error: BaseException | None) -> bool:
    """Return whether SQLite has found a file damaged, or not to be a database."""
    return isinstance(error, sqlite3.Error) and (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _DAMAGED


def _inspect(path: Path, look: Callable[[sqlite3.Connection], _Found]) -> _Found:
    if not path.exists():
        return State.MISSING, None, 0
    try:
        with closing(_open(path)) as connection:  # this also completes or undoes what a kill has left
            return look(connection)
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise _unreadable(path, error) from error
        return State.DAMAGED, None, 0


def _look_at_configuration(connection: sqlite3.Connection) -> _Found:
    names = _table_names(connection)
    revision = None
    if _VERSION in names:
        revision = next((found for (found,) in connection.execute("SELECT version_num FROM alembic_version")), None)
    others = names - {_VERSION}
    if others and (revision is None or others.isdisjoint(tables.metadata.tables)):
        return State.FOREIGN, None, 0
    return State.EMPTY if revision is None else State.FILLED, revision, read_number(connection)


def _look_at_history(connection: sqlite3.Connection) -> _Found:
    return State.FILLED if _table_names(connection) else State.EMPTY, None, read_number(connection)


def _table_names(connection: sqlite3.Connection) -> set[str]:
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return {name for (name,) in found}


def _open(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(existing(path), uri=True, timeout=_LOCK_SECONDS, isolation_level=None)


def existing(path: Path) -> str:
    """The name under which SQLite opens a file only if it exists."""
    return f"file:{quote(str(path.absolute()))}?mode=rw"


def paths_of(path: Path) -> list[Path]:
    """A file, the files beside it, and their directory: what must be writable to change it."""
    return [*(path.with_name(f"{path.name}{ending}") for ending in COMPANIONS), path.parent]


def list_files(directory: Path) -> list[Path]:
    """List what must be writable for any change: both files, the files beside them, and their directory."""
    return [each for name in (CONFIGURATION_FILE, HISTORY_FILE) for each in paths_of(directory / name)]


def _unreadable(path: Path, error: sqlite3.Error) -> Error:
    if situation := find_file_situation(*paths_of(path)):
        return Error(Code.UNAVAILABLE, situation.message)
    return Error(Code.UNAVAILABLE, f"{path} cannot be opened: {error}. Nothing was changed.")
