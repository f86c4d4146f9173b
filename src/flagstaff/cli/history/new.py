"""`flagstaff history new`: begins a new history in place of one that is missing or damaged."""

import asyncio
import os
from datetime import UTC, datetime

import typer

from flagstaff.database.data_directory import DataDirectory
from flagstaff.database.new_history import begin_new_history, begin_new_schema
from flagstaff.settings import Settings


def new() -> None:
    """Begin a new, empty history if the present one is missing or damaged. With SQLite, stop the server first.

    What is there is kept under another name. Servers then write the evaluations that wait on disk to the new history.
    """
    settings = Settings.load(os.environ)
    now = datetime.now(UTC)
    if settings.database_url is not None:
        schema = asyncio.run(begin_new_schema(settings.database_url, settings.data_dir, now))
        if schema is not None:
            typer.echo(f"The previous history is now in the schema {schema}.")
        typer.echo("There is a new, empty history. Servers use it within seconds.")
        return
    with DataDirectory(settings.data_dir).locked():
        aside = asyncio.run(begin_new_history(settings.data_dir, now))
    if aside is not None:
        typer.echo(f"The previous history is now {aside}.")
    typer.echo("There is a new, empty history. Start the server.")
