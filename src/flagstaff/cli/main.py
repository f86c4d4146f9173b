"""The command's edge: which subcommands there are, and one clear line for whatever goes wrong."""

import asyncio
import json
import os
import sys
from typing import Annotated

import typer

from flagstaff import __version__
from flagstaff.cli import backup, doctor, users
from flagstaff.cli import serve as serving
from flagstaff.domain.errors import Error
from flagstaff.settings import Settings, SettingsError
from flagstaff.storage.data_directory import DataDirectory
from flagstaff.storage.migrate import migrate as run_migrations
from flagstaff.telemetry import configure_logging
from flagstaff.web.app import describe_api

app = typer.Typer(
    name="flagstaff",
    help="Self-hosted feature flags. Settings are environment variables: see `flagstaff serve --help`.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.add_typer(users.app, name="users")
app.command()(backup.backup)
app.command()(backup.restore)
app.command()(backup.copy)
app.command()(doctor.doctor)


def main() -> None:
    """Run the command; what the operator can mend is one line on stderr and exit status 1."""
    os.umask(0o077)  # what is made in the data directory is nobody else's business, whatever the directory's mode
    configure_logging("auto")  # to standard error: what a command prints is its result
    try:
        app()
    except (SettingsError, Error) as error:
        reasons = "".join(f" {each.field} {each.message}." for each in getattr(error, "fields", ()))
        sys.exit(f"flagstaff: {error}{reasons}")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"flagstaff {__version__}")
        raise typer.Exit


@app.callback()
def flagstaff(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Self-hosted feature flags. Settings are environment variables: see `flagstaff serve --help`."""


@app.command(epilog=serving.settings_table())
def serve() -> None:
    """Serve the API and the dashboard until SIGTERM or Ctrl-C; migrates the database first."""
    serving.serve(Settings.load(os.environ))


@app.command()
def migrate(
    to: Annotated[
        str, typer.Option("--to", metavar="REV", help="The revision to go up or down to; `base` empties the database.")
    ] = "head",
) -> None:
    """Bring the database to the newest revision, or to another. `serve` does the former by itself."""
    settings = Settings.load(os.environ)
    directory = DataDirectory(settings.data_dir)
    directory.prepare()
    directory.lock()  # a server that is at work there would lose the ground under its feet
    try:
        done = asyncio.run(run_migrations(settings.database_url, settings.data_dir, to))
    finally:
        directory.unlock()
    for revision in done:
        typer.echo(f"Ran {revision}.")
    typer.echo("The database is where it should be." if not done else "Done.")


@app.command()
def openapi() -> None:
    """Print the API's description (OpenAPI 3.1) as JSON."""
    typer.echo(json.dumps(describe_api(), indent=2, ensure_ascii=False))
