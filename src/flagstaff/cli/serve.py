"""`flagstaff serve`: one process, or several workers under a parent."""

import asyncio
import signal
from functools import partial

import structlog
from rich.markup import escape

from flagstaff.assembly.migrating import prepare
from flagstaff.assembly.secret_keys import require_secret_key
from flagstaff.cli import server
from flagstaff.cli.greeting import greet, is_first_start
from flagstaff.cli.listeners import listen
from flagstaff.cli.otel import require_sdk
from flagstaff.database.data_directory import DataDirectory
from flagstaff.database.files import give_to_owner
from flagstaff.database.sqlite.files import inspect_files
from flagstaff.machine.cores import usable_cores
from flagstaff.machine.descriptors import require_enough
from flagstaff.settings import Settings
from flagstaff.settings.opentelemetry import OpenTelemetry
from flagstaff.telemetry import configure_logging

log = structlog.get_logger(__name__)


def settings_table() -> str:
    """Every setting with its default and meaning, for the help."""
    lines = [f"[bold]{row.variable}[/bold] ({escape(row.default)}): {escape(row.meaning)}" for row in Settings.rows()]
    return "Settings, all from the environment:\n\n" + "\n\n".join(lines)


def serve(
    settings: Settings,
    open_telemetry: OpenTelemetry | None,
    *,
    accepts_loss: bool = False,
    accepts_new_key: bool = False,
) -> None:
    """Serve until SIGTERM, SIGINT or SIGHUP; a second SIGINT ends running requests at once.

    `open_telemetry` says which traces and metrics are sent. `accepts_loss` allows a start with SQLite's files that lack
    confirmed changes, and `accepts_new_key` one with a new secret key in place of one that is lost.

    Raises:
        Error: UNAVAILABLE when it needs packages that are not installed; CONFLICT when the
            address is in use or too few files can be opened; what `Flagstaff.start` raises.
    """
    configure_logging(settings.log_format)
    require_enough()
    if open_telemetry is not None:
        require_sdk()
    if accepts_loss and settings.database_url is None:
        _accept_loss(settings)
    workers = usable_cores() if settings.workers == "auto" else settings.workers

    is_first = is_first_start(settings)

    def say_served(port: int) -> None:
        _warn(settings)
        greet(settings, port, workers, is_first=is_first)

    signals = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # under nohup, the server outlives its terminal
        signals.append(signal.SIGHUP)
    try:
        if workers == 1:
            asyncio.run(require_secret_key(settings, may_be_new=accepts_new_key))
            listener = partial(listen, settings.host, settings.ports)
            server.run(settings, listener, signals, say_served, open_telemetry=open_telemetry)
        else:
            from flagstaff.cli.workers import serve_with_workers  # noqa: PLC0415 -- with ctypes, only where settings ask

            prepare_all = partial(prepare, settings, workers, accepts_new_key=accepts_new_key)
            serve_with_workers(settings, workers, signals, prepare_all, say_served, open_telemetry)
    finally:
        give_to_owner(settings.data_dir)


def _accept_loss(settings: Settings) -> None:
    with DataDirectory(settings.data_dir).locked():
        for name, lost in inspect_files(settings.data_dir).accept_loss().items():
            log.warning("loss_accepted", file=name, changes=lost)


def _warn(settings: Settings) -> None:
    """Warn about settings that are allowed but probably not intended."""
    if "://0.0.0.0" in settings.public_url or "://[::]" in settings.public_url:
        log.warning("public_url_is_no_address", url=settings.public_url, advice="set FLAGSTAFF_PUBLIC_URL")
