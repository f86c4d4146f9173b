"""The entry point: `serve`, the other subcommands when they are needed, and one clear line for each error."""

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from flagstaff import __version__
from flagstaff.cli import serve as serving
from flagstaff.settings import Settings, SettingsError
from flagstaff.settings.opentelemetry import OpenTelemetry
from flagstaff.telemetry import configure_logging
from flagstaff.values.errors import Error


class _Commands(TyperGroup):
    """`serve` and, when one of them is needed, the others: their modules would take 0.6 MB of a server's memory."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            self._load_others()
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        self._load_others()
        return super().list_commands(ctx)

    def _load_others(self) -> None:
        from flagstaff.cli.commands import app as others  # noqa: PLC0415

        loaded = get_command(others)
        assert isinstance(loaded, TyperGroup)
        self.commands = {**self.commands, **loaded.commands}


app = typer.Typer(
    name="flagstaff",
    cls=_Commands,
    help="Self-hosted feature flags. Settings are environment variables: see `flagstaff serve --help`.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


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
    accept_loss: Annotated[
        bool,
        typer.Option(
            "--accept-loss", help="Start although SQLite's files lack changes that were confirmed. Use it only once."
        ),
    ] = False,
    new_secret_key: Annotated[
        bool,
        typer.Option(
            "--new-secret-key", help="Make a new secret key if the file of the present one is lost. Use it only once."
        ),
    ] = False,
) -> None:
    """Serve the API and the dashboard until SIGTERM or Ctrl-C; migrates the database first."""
    given = {} if workers is None else {"FLAGSTAFF_WORKERS": workers}
    serving.serve(
        Settings.load({**os.environ, **given}),
        OpenTelemetry.load(os.environ),
        accepts_loss=accept_loss,
        accepts_new_key=new_secret_key,
    )
