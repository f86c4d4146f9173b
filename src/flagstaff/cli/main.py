"""The entry point: the subcommands, and one clear line for each error."""

import asyncio
import json
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from flagstaff import __version__
from flagstaff.cli import backup, clickhouse, clock, users
from flagstaff.cli import export as exporting
from flagstaff.cli import serve as serving
from flagstaff.cli.doctor import command
from flagstaff.cli.history import export as history
from flagstaff.cli.history.new import new as new_history
from flagstaff.database.data_directory import DataDirectory
from flagstaff.database.migrate import migrate as run_migrations
from flagstaff.settings import Settings, SettingsError
from flagstaff.settings.opentelemetry import OpenTelemetry
from flagstaff.telemetry import configure_logging
from flagstaff.values.errors import Error

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
app.command()(clock.trust_clock)
app.command()(command.doctor)
app.command()(exporting.export)
history.app.command()(new_history)
app.add_typer(history.app)
app.add_typer(clickhouse.app)


def main() -> None:
    """Run the command; an error that the operator can correct is one line on stderr and exit status 1."""
    os.umask(0o077)  # files in the data directory are private, whatever the directory's mode
    configure_logging("auto")  # to standard error; standard output is for a command's result
    try:
        app()
    except (SettingsError, Error) as error:
        reasons = "".join(f" {each}" for each in getattr(error, "fields", ()))
        sys.exit(f"flagstaff: {error}{reasons}")


class _Serve(TyperCommand):
    """The command `serve`, which collects the settings only if its help is asked for."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.epilog = serving.settings_table()
        super().format_help(ctx, formatter)


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


@app.command(cls=_Serve)
def serve(
    workers: Annotated[
        str | None,
        typer.Option("--workers", metavar="N", help="The number of processes, or `auto`; see FLAGSTAFF_WORKERS."),
    ] = None,
) -> None:
    """Serve the API and the dashboard until SIGTERM or Ctrl-C; migrates the database first."""
    given = {} if workers is None else {"FLAGSTAFF_WORKERS": workers}
    serving.serve(Settings.load({**os.environ, **given}), OpenTelemetry.load(os.environ))


@app.command()
def migrate(
    to: Annotated[
        str, typer.Option("--to", metavar="REV", help="The revision to migrate to; `base` empties the database.")
    ] = "head",
    force: Annotated[
        bool, typer.Option("--force", help="Allow a downgrade to drop data that the older revision cannot store.")
    ] = False,
) -> None:
    """Migrate the database to the newest revision, or to another. `serve` migrates to the newest by itself."""
    settings = Settings.load(os.environ)
    directory = DataDirectory(settings.data_dir)
    directory.prepare()
    directory.lock()  # a running server would find the tables changed
    try:
        done = asyncio.run(run_migrations(settings.database_url, settings.data_dir, to, force=force))
    finally:
        directory.unlock()
    for revision in done:
        typer.echo(f"Ran {revision}.")
    typer.echo("The database is already at this revision." if not done else "Done.")


@app.command()
def openapi() -> None:
    """Print the API's description (OpenAPI 3.1) as JSON."""
    from flagstaff.assembly.openapi import describe_api  # noqa: PLC0415 -- no other command waits for it

    typer.echo(json.dumps(describe_api(), indent=2, ensure_ascii=False))
