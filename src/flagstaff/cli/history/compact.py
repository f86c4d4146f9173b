"""`flagstaff history compact`: gives the free space in SQLite's file of the history back to the disk, all at once."""

import os
import shutil
import sqlite3

import typer

from flagstaff.cli.progress import spell_size
from flagstaff.database.data_directory import DataDirectory
from flagstaff.database.sqlite.files import HISTORY_FILE, State, inspect_files
from flagstaff.database.sqlite.free_pages import rewrite
from flagstaff.settings import Settings
from flagstaff.values.errors import Code, Error


def compact() -> None:
    """Write SQLite's file of the history anew, without its free space. Stop the server first.

    Servers give free space back by themselves, except in a file that an earlier version has made. After this command
    they do so in this file, too. It needs as much free disk as the history takes afterwards.
    """
    settings = Settings.load(os.environ)
    if settings.database_url is not None:
        raise Error(Code.INVALID, "PostgreSQL uses free space again by itself (autovacuum). Nothing was changed.")
    with DataDirectory(settings.data_dir).locked():
        found = inspect_files(settings.data_dir)
        found.require_configuration()
        if found.history is not State.FILLED or found.history_problem is not None:
            raise Error(Code.CONFLICT, found.history_problem or "There is no history yet. Nothing was changed.")
        path = settings.data_dir / HISTORY_FILE
        try:
            saved = rewrite(path)
        except (sqlite3.Error, OSError) as error:
            free = spell_size(shutil.disk_usage(settings.data_dir).free)
            message = f"{path} cannot be written anew: {error}. Nothing was changed; {free} of the disk are free."
            raise Error(Code.UNAVAILABLE, message) from error
    typer.echo(
        f"{HISTORY_FILE} has {spell_size(path.stat().st_size)} now, {spell_size(max(saved, 0))} less. Start the server."
    )
