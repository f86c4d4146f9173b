"""`flagstaff clickhouse`: prepares a ClickHouse server for evaluations."""

import os

import typer

from flagstaff.history.clickhouse.table import create_statement
from flagstaff.settings import Settings

app = typer.Typer(name="clickhouse", help="The copy of the history in ClickHouse.", no_args_is_help=True)


@app.callback()
def clickhouse() -> None:
    """Keep `schema` a subcommand: a single one would take its place."""


@app.command()
def schema() -> None:
    """Print the statement that creates the table that FLAGSTAFF_CLICKHOUSE_TABLE names."""
    typer.echo(create_statement(Settings.load(os.environ).clickhouse_table), nl=False)
