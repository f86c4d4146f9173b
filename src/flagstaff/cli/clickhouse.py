"""`flagstaff clickhouse`: prepares a ClickHouse server for evaluations and events."""

import os

import typer

from flagstaff.history.clickhouse.table import EVENT_TABLE, create_statement
from flagstaff.settings import Settings

app = typer.Typer(name="clickhouse", help="The copy of the history in ClickHouse.", no_args_is_help=True)


@app.callback()
def clickhouse() -> None:
    """Keep `schema` a subcommand: a single one would take its place."""


@app.command()
def schema() -> None:
    """Print the statements that create the tables for evaluations and, if the settings name one, for events."""
    settings = Settings.load(os.environ)
    typer.echo(create_statement(settings.clickhouse_table), nl=False)
    if settings.clickhouse_events_table is not None:
        typer.echo(create_statement(settings.clickhouse_events_table, EVENT_TABLE), nl=False)
