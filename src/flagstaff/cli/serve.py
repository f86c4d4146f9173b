"""`flagstaff serve`: one process, one event loop, until a signal ends it in good order."""

import asyncio
import gc
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
import uvicorn
import uvloop
from rich.markup import escape

from flagstaff import __version__
from flagstaff.bootstrap import Flagstaff
from flagstaff.domain.errors import Code, Error
from flagstaff.settings import Settings
from flagstaff.telemetry import configure_logging

log = structlog.get_logger(__name__)


def settings_table() -> str:
    """Every setting with its default and meaning, for the help."""
    lines = [f"[bold]{row.variable}[/bold] ({escape(row.default)}): {escape(row.meaning)}" for row in Settings.rows()]
    return "Settings, all from the environment:\n\n" + "\n\n".join(lines)


# Together with what `Flagstaff.stop` takes, within the ten seconds that process managers grant.
_FINISH_REQUESTS_SECONDS = 4
_IDLE_CONNECTION_SECONDS = 75  # longer than the minute for which common proxies keep theirs
_COLLECT_AFTER_ALLOCATIONS = 20_000


class _Server(uvicorn.Server):
    """uvicorn's server, whose caller handles the signals: it would raise them again and so end the process too soon."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; a second SIGINT ends at once what is still under way.

    Raises:
        Error: what `Flagstaff.start` raises; CONFLICT when the address is in use.
    """
    configure_logging(settings.log_format)
    uvloop.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    flagstaff = Flagstaff(settings)
    config = uvicorn.Config(
        flagstaff.asgi,
        host=settings.host,
        port=settings.port,
        http=flagstaff.connection_class,
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_IDLE_CONNECTION_SECONDS,
        timeout_graceful_shutdown=_FINISH_REQUESTS_SECONDS,
    )
    server = _Server(config)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.handle_exit, number, None)
    with _listen(settings) as listener:
        try:
            await flagstaff.start()
            _settle_memory()
            _warn(settings)
            await _greet(flagstaff, settings, listener.getsockname()[1])
            await server.serve(sockets=[listener])
        finally:
            await flagstaff.stop()
    log.info("stopped")


def _settle_memory() -> None:
    """Spare the evaluations the collector's walks: through what was built for good, and after every few hundred."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER_ALLOCATIONS)


def _listen(settings: Settings) -> socket.socket:
    """Bind before anything is opened, so that a taken port changes nothing and answers wait instead of failing."""
    try:
        return socket.create_server((settings.host, settings.port), family=_family(settings.host), backlog=2048)
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        advice = "Stop what listens there or choose another FLAGSTAFF_PORT or FLAGSTAFF_HOST."
        raise Error(Code.CONFLICT, f"Cannot listen on {where}: {error.strerror}. {advice}") from error


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _warn(settings: Settings) -> None:
    """Say what is allowed but hardly meant."""
    if "://0.0.0.0" in settings.public_url or "://[::]" in settings.public_url:
        log.warning("public_url_is_no_address", url=settings.public_url, advice="set FLAGSTAFF_PUBLIC_URL")
    if settings.valkey_url:
        log.warning("valkey_not_used", detail="No version shares rate limits yet; each instance counts its own.")


async def _greet(flagstaff: Flagstaff, settings: Settings, port: int) -> None:
    url = settings.public_url if settings.port else f"http://{settings.host}:{port}"
    log.info("serving", url=url, host=settings.host, port=port)
    store = "PostgreSQL" if settings.database_url else f"SQLite in {settings.data_dir}"
    sys.stdout.write(f"Flagstaff {__version__} serves on {url} ({store}). Ctrl-C stops it.\n")
    if not await flagstaff.accounts.exist():
        first = f"open {url} and register, or follow the quickstart in the README."
        if settings.registration == "closed":
            first = "create the first account with: flagstaff users create EMAIL"
        sys.stdout.write(f"Next: {first}\n")
    sys.stdout.flush()
