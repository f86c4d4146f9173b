"""`flagstaff backup`, `restore` and `copy`: write a whole database to a file, from a file, or to another database."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from flagstaff.cli.progress import ended_by_sigterm, progress_bar, spell_size
from flagstaff.database.backup.dump import open_dump
from flagstaff.database.backup.load import check_revision, load
from flagstaff.database.backup.manifest import Manifest
from flagstaff.database.data_directory import DataDirectory
from flagstaff.settings import Settings
from flagstaff.settings.database_urls import parse_database_url
from flagstaff.values.errors import Code, Error

To = Annotated[Path, typer.Argument(metavar="TO", help="The file to write, such as flagstaff.backup.tar.")]
From = Annotated[Path, typer.Argument(metavar="FROM", help="A file written by `flagstaff backup`.")]
Target = Annotated[
    str,
    typer.Option("--to", metavar="URL", help="postgresql://user:password@host/name, or a data directory for SQLite."),
]


def backup(
    to: To,
    without_history: Annotated[
        bool,
        typer.Option("--without-history", help="Leave out the evaluation history, which is by far the largest part."),
    ] = False,
) -> None:
    """Write the database, of either kind, and the secret key to one file, also while the server runs.

    The file contains secrets, and only its owner can read it. It gets its name when it is complete.
    """
    settings = Settings.load(os.environ)
    key = None if settings.secret_key else DataDirectory(settings.data_dir).find_secret_key()
    with ended_by_sigterm():
        manifest = asyncio.run(_back_up(settings, to, key, with_history=not without_history))
    rows = sum(entry.rows for entry in manifest.tables)
    typer.echo(f"Wrote {to}: {rows} rows of {len(manifest.tables)} tables, {spell_size(to.stat().st_size)}.")
    if settings.secret_key is not None:
        typer.echo("It does not contain the secret key: keep FLAGSTAFF_SECRET_KEY as well.")
    elif key is None:
        typer.echo("It does not contain the secret key: there is no file secret-key in the data directory.", err=True)


async def _back_up(settings: Settings, to: Path, key: str | None, *, with_history: bool) -> Manifest:
    from flagstaff.database.backup.writing import (  # noqa: PLC0415 -- `serve` imports this module, too
        open_writer,
        write_backup,
    )

    url = settings.database_url
    # The file first, so that a problem with it is reported before the database is read.
    with open_writer(to) as writer:
        async with open_dump(url, settings.data_dir, with_history=with_history) as dump:
            with progress_bar(sum(dump.rows.values())) as progress:
                return await write_backup(
                    dump,
                    writer,
                    database="postgresql" if url else "sqlite",
                    history=with_history,
                    secret_key=key,
                    progress=progress,
                )


def restore(
    backup_file: From,
    replace: Annotated[
        bool, typer.Option("--replace", help="Allow a database that is not empty, and delete everything in it.")
    ] = False,
) -> None:
    """Fill an empty database from a backup, which may come from either kind of database. Stop the server first.

    The backup is checked before anything changes, and everything is written in one transaction.
    """
    from flagstaff.database.backup.reading import open_backup  # noqa: PLC0415 -- `serve` imports this module, too

    settings = Settings.load(os.environ)
    with ended_by_sigterm(), open_backup(backup_file) as source:
        check_revision(source.revision)
        with progress_bar(source.size) as progress:
            source.check(lambda count: progress("Checking the backup", count))
        key = source.secret_key()
        with _locked(settings.data_dir) as directory, progress_bar(sum(source.rows.values())) as progress:
            asyncio.run(load(settings.database_url, settings.data_dir, source, replace=replace, progress=progress))
            if key is not None and settings.secret_key is None:
                directory.keep_secret_key(key)
    typer.echo(f"Restored {sum(source.rows.values())} rows in the state of {source.manifest.made_at}.")
    if not source.manifest.history:
        typer.echo("The backup was made without the evaluation history.")
    if key is None and settings.secret_key is None:
        typer.echo(
            "The backup has no secret key. Set FLAGSTAFF_SECRET_KEY as before. Without it, run once: flagstaff serve "
            "--new-secret-key. Then all users must log in again."
        )
    elif key is not None and settings.secret_key not in {None, key}:
        typer.echo("FLAGSTAFF_SECRET_KEY differs from the backup's key. All users must log in again.")


def copy(to: Target) -> None:
    """Copy everything to another database: from SQLite to PostgreSQL, back, or to one of the same kind.

    The database named by the settings is only read. The target must be empty and is filled in one transaction. Stop the
    server first: changes that it makes after the copy has begun are not copied.
    """
    settings = Settings.load(os.environ)
    url, directory = _parse_target(to, settings)
    with ended_by_sigterm():
        rows = asyncio.run(_copy(settings, url, directory))
    typer.echo(f"Copied {rows} rows. Next: {_advise(url, directory)}")


async def _copy(settings: Settings, url: str | None, directory: Path) -> int:
    key = None if settings.secret_key else DataDirectory(settings.data_dir).find_secret_key()
    async with open_dump(settings.database_url, settings.data_dir) as dump:
        if dump.is_served or (settings.database_url is None and DataDirectory(settings.data_dir).is_locked()):
            typer.echo("A server is running on the database. Changes from now on are not copied.", err=True)
        total = sum(dump.rows.values())
        with _target(url, directory) as target, progress_bar(total) as progress:
            await load(url, directory, dump, progress=progress)
            if target is not None and key is not None:
                target.keep_secret_key(key)
        return total


@contextmanager
def _target(url: str | None, directory: Path) -> Iterator[DataDirectory | None]:
    """The folder for a copy to SQLite, locked; None for PostgreSQL."""
    if url is not None:
        yield None
        return
    with _locked(directory) as target:
        yield target


@contextmanager
def _locked(path: Path) -> Iterator[DataDirectory]:
    directory = DataDirectory(path)
    with directory.locked():
        yield directory


def _parse_target(to: str, settings: Settings) -> tuple[str | None, Path]:
    """The URL, if the target is PostgreSQL, and the data directory; raises Error INVALID if it is neither."""
    if "://" in to:
        try:
            url = parse_database_url(to)
        except ValueError as error:
            raise Error(Code.INVALID, f"--to {error}; for a data directory, give its path.") from None
        if url == settings.database_url:
            raise Error(Code.INVALID, "--to names the database to copy from. Choose another.")
        return url, settings.data_dir
    directory = Path(to).expanduser()
    if settings.database_url is None and directory.absolute() == settings.data_dir.absolute():
        raise Error(Code.INVALID, "--to names the data directory to copy from. Choose another.")
    return None, directory


def _advise(url: str | None, directory: Path) -> str:
    if url is not None:
        return "set FLAGSTAFF_DATABASE_URL to the new database and start the server."
    return f"unset FLAGSTAFF_DATABASE_URL, set FLAGSTAFF_DATA_DIR={directory.absolute()} and start the server."
