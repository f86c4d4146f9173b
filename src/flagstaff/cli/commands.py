"""The subcommands besides `serve`, which are loaded only when one of them, or a list of all, is needed."""

import asyncio
import json
import os
from typing import Annotated

import typer

from flagstaff.cli import backup, clickhouse, clock, users
from flagstaff.cli import export as exporting
from flagstaff.cli.doctor import command
from flagstaff.cli.history.compact import compact
from flagstaff.cli.history.erase import erase as erase_user
from flagstaff.cli.history.export import export as export_history
from flagstaff.cli.history.export_events import export_events
from flagstaff.cli.history.new import new as new_history
from flagstaff.cli.history.user import user as user_data
from flagstaff.database.data_directory import DataDirectory
from flagstaff.database.migrate import migrate as run_migrations
from flagstaff.settings import Settings

app = typer.Typer()
app.add_typer(users.app, name="users")
app.command()(backup.backup)
app.command()(backup.restore)
app.command()(backup.copy)
app.command()(clock.trust_clock)
app.command()(command.doctor)
app.command()(exporting.export)
history = typer.Typer(name="history", help="The evaluation history.", no_args_is_help=True)
history.command()(export_history)
history.command()(export_events)
history.command()(new_history)
history.command()(compact)
history.command()(erase_user)
history.command()(user_data)
app.add_typer(history)
app.add_typer(clickhouse.app)


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
    with DataDirectory(settings.data_dir).locked():  # a running server would find the tables changed
        done = asyncio.run(run_migrations(settings.database_url, settings.data_dir, to, force=force))
    for revision in done:
        typer.echo(f"Ran {revision}.")
    typer.echo("The database is already at this revision." if not done else "Done.")


@app.command()
def openapi() -> None:
    """Print the API's description (OpenAPI 3.1) as JSON."""
    from flagstaff.assembly.openapi import describe_api  # noqa: PLC0415 -- no other command waits for it

    typer.echo(json.dumps(describe_api(), indent=2, ensure_ascii=False))
