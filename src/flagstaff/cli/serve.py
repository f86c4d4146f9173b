"""`flagstaff serve`: one process, or several workers under a parent."""

import signal
import sys
from functools import partial

import structlog
from rich.markup import escape

from flagstaff import __version__
from flagstaff.cli import server
from flagstaff.cli.listeners import listen
from flagstaff.cli.otel import require_sdk
from flagstaff.cli.workers import serve_with_workers
from flagstaff.evaluation import loops
from flagstaff.runtime.cores import usable_cores
from flagstaff.settings import Settings
from flagstaff.settings.opentelemetry import OpenTelemetry
from flagstaff.telemetry import configure_logging

log = structlog.get_logger(__name__)


def settings_table() -> str:
    """Every setting with its default and meaning, for the help."""
    lines = [f"[bold]{row.variable}[/bold] ({escape(row.default)}): {escape(row.meaning)}" for row in Settings.rows()]
    return "Settings, all from the environment:\n\n" + "\n\n".join(lines)


def serve(settings: Settings, open_telemetry: OpenTelemetry | None) -> None:
    """Serve until SIGTERM, SIGINT or SIGHUP; a second SIGINT ends running requests at once.

    `open_telemetry` says which traces and metrics are sent.

    Raises:
        Error: UNAVAILABLE when it needs packages that are not installed; CONFLICT when the
            address is in use; what `Flagstaff.start` raises.
    """
    configure_logging(settings.log_format)
    if open_telemetry is not None:
        require_sdk()
    workers = usable_cores() if settings.workers == "auto" else settings.workers

    def greet(port: int) -> None:
        _warn(settings)
        _greet(settings, port, workers)

    signals = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # under nohup, the server outlives its terminal
        signals.append(signal.SIGHUP)
    if workers == 1:
        listener = partial(listen, settings.host, settings.port)
        server.run(settings, listener, signals, greet, open_telemetry=open_telemetry)
    else:
        serve_with_workers(settings, workers, signals, greet, open_telemetry)


def _warn(settings: Settings) -> None:
    """Warn about settings that are allowed but probably not intended."""
    if "://0.0.0.0" in settings.public_url or "://[::]" in settings.public_url:
        log.warning("public_url_is_no_address", url=settings.public_url, advice="set FLAGSTAFF_PUBLIC_URL")


def _greet(settings: Settings, port: int, workers: int) -> None:
    url = settings.public_url if settings.port else f"http://{settings.host}:{port}"
    evaluation = "compiled" if loops.WHY_NOT_COMPILED is None else "in Python"
    log.info("serving", url=url, host=settings.host, port=port, workers=workers, evaluation=evaluation)
    store = "PostgreSQL" if settings.database_url else f"SQLite in {settings.data_dir}"
    means = store if workers == 1 else f"{store}, {workers} workers"
    sys.stdout.write(f"Flagstaff {__version__} serves on {url} ({means}). Ctrl-C stops it.\n")
    sys.stdout.flush()
