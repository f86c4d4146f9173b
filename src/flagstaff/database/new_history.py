"""Begins a new, empty history beside the configuration, and sets one that cannot be used aside. Only with SQLite."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from flagstaff.database import tables
from flagstaff.database.files import sync_directory
from flagstaff.database.migrate import migrate
from flagstaff.database.schema_state import known_revisions
from flagstaff.database.sqlite_files import COMPANIONS, HISTORY_FILE, Files, State, find_damage, inspect_files
from flagstaff.values.errors import Code, Error


async def begin_new_history(directory: Path, now: datetime) -> Path | None:
    """Replace a history that is missing, empty or damaged; return where the previous file is now, if there was one.

    The caller holds the directory's lock. A kill leaves the previous file or none; then the command can be repeated.

    Raises:
        Error: CONFLICT, and nothing has changed, if the history is not damaged or there is no configuration.
    """
    found = inspect_files(directory)
    found.require_configuration()
    revision = _require_revision(found)
    await _require_damage(found)
    with TemporaryDirectory(prefix="new-history-", dir=directory) as folder:
        # As the first start makes it, at the revision of the configuration beside it.
        await migrate(None, Path(folder), revision)
        made = Path(folder) / HISTORY_FILE
        _number_from(made, now)
        aside = _set_aside(directory, now)
        made.rename(directory / HISTORY_FILE)
        sync_directory(directory)
    return aside


def _require_revision(found: Files) -> str:
    if found.revision is None or (found.history is not State.FILLED and found.history_problem is None):
        raise Error(Code.CONFLICT, f"There is no history in {found.directory} yet. The next start creates it.")
    if found.revision not in known_revisions():
        raise Error(
            Code.CONFLICT,
            f"The database is at revision {found.revision}, which is unknown to this version of Flagstaff. Run this "
            "command of the newer version.",
        )
    return found.revision


async def _require_damage(found: Files) -> None:
    path = found.directory / HISTORY_FILE
    if found.history is State.FILLED and await asyncio.to_thread(find_damage, path, is_thorough=True) is None:
        raise Error(
            Code.CONFLICT,
            f"{path} is not damaged. Nothing was changed. To begin a new history all the same, first move the files "
            f"whose names begin with {HISTORY_FILE} to another folder.",
        )


def _number_from(path: Path, now: datetime) -> None:
    """Let segments have higher numbers than in any history before, so that exports and copies do not skip them."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        number = int(now.timestamp() * 1000)
        connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (tables.segments.name, number))


def _set_aside(directory: Path, now: datetime) -> Path | None:
    aside = directory / f"history-{now:%Y%m%dT%H%M%SZ}.sqlite"
    for ending in COMPANIONS:
        path = directory / f"{HISTORY_FILE}{ending}"
        if path.exists():
            path.rename(directory / f"{aside.name}{ending}")
    return aside if aside.exists() else None
