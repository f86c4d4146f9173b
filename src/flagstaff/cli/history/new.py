"""`flagstaff history new`: begins a new history in place of one that is missing or damaged."""

import asyncio
import os
from datetime import UTC, datetime

import typer

from flagstaff.database.data_directory import DataDirectory
from flagstaff.database.new_history import begin_new_history
from flagstaff.settings import Settings
from flagstaff.values.errors import Code, Error


def new() -> None:
    """Begin a new, empty history if SQLite's is missing or damaged. Stop the server first.

    A damaged file is kept under another name. The next start writes the evaluations that wait on disk to the new file.
    """
    settings = Settings.load(os.environ)
    if settings.database_url is not None:
        raise Error(Code.INVALID, "This command is for SQLite. With PostgreSQL, restore a backup.")
    directory = DataDirectory(settings.data_dir)
    directory.prepare()
    directory.lock()
    try:
        aside = asyncio.run(begin_new_history(settings.data_dir, datetime.now(UTC)))
    finally:
        directory.unlock()
    if aside is not None:
        typer.echo(f"The previous history is now {aside}.")
    typer.echo("There is a new, empty history. Start the server.")
