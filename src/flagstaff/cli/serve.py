"""`flagstaff serve`: one process with one event loop, which a signal ends cleanly."""

import asyncio
import gc
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import cast

import structlog
import uvicorn
import uvloop
from rich.markup import escape

from flagstaff import __version__
from flagstaff.bootstrap import Flagstaff
from flagstaff.domain.errors import Code, Error
from flagstaff.runtime.descriptors import RESERVE, raise_limit
from flagstaff.settings import Settings
from flagstaff.telemetry import configure_logging
from flagstaff.web.edge.acceptor import Acceptor

log = structlog.get_logger(__name__)


def settings_table() -> str:
    """Every setting with its default and meaning, for the help."""
    lines = [f"[bold]{row.variable}[/bold] ({escape(row.default)}): {escape(row.meaning)}" for row in Settings.rows()]
    return "Settings, all from the environment:\n\n" + "\n\n".join(lines)


# Together with `Flagstaff.stop`, within the ten seconds that process managers allow.
_FINISH_REQUESTS_SECONDS = 4
_IDLE_CONNECTION_SECONDS = 75  # longer than the minute for which common proxies keep connections
_COLLECT_AFTER_ALLOCATIONS = 20_000
_SWITCH_SECONDS = 0.0005


class _Server(uvicorn.Server):
    """uvicorn's server with two differences.

    The caller handles signals, because uvicorn would raise them again and end the process too soon. And connections are
    bounded.
    """

    def __init__(self, config: uvicorn.Config, flagstaff: Flagstaff) -> None:
        super().__init__(config)
        self._flagstaff = flagstaff
        self._acceptors: list[Acceptor] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        make_protocol = partial(
            self._flagstaff.connection_class, config=self.config, server_state=self.server_state, app_state={}
        )
        self.servers = []
        for listener in sockets or ():
            acceptor = self._flagstaff.make_acceptor(listener, make_protocol)
            acceptor.start()
            self._acceptors.append(acceptor)
            self.servers.append(cast("asyncio.Server", acceptor))
        self.started = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # uvicorn ends only the connections that it knows when it begins, and waits for any that come later.
        for acceptor in self._acceptors:
            acceptor.close()
            await acceptor.wait_closed()
        await self._flagstaff.streams.stop()  # they would take all of the time that running requests have
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def serve(settings: Settings) -> None:
    """Serve until SIGTERM, SIGINT or SIGHUP; a second SIGINT ends running requests at once.

    Raises:
        Error: what `Flagstaff.start` raises; CONFLICT when the address is in use.
    """
    configure_logging(settings.log_format)
    uvloop.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    flagstaff = Flagstaff(settings)
    _make_room_for_connections(flagstaff)
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
    server = _Server(config, flagstaff)
    begun = asyncio.Event()
    _obey_signals(server, begun)
    with _listen(settings) as listener:
        try:
            await flagstaff.start()
            begun.set()
            _settle_memory()
            _favour_the_event_loop()
            _warn(settings)
            _greet(settings, listener.getsockname()[1])
            await server.serve(sockets=[listener])
        except asyncio.CancelledError:
            if not server.should_exit:
                raise
        finally:
            await flagstaff.stop()
    log.info("stopped")


def _favour_the_event_loop() -> None:
    """Let the event loop interrupt a thread that uses the interpreter after half a millisecond instead of five.

    A thread that reads megabytes from SQLite keeps the interpreter almost without pause.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)


def _obey_signals(server: _Server, begun: asyncio.Event) -> None:
    """Make signals end the server; until it has begun, also a start that waits, for example for a migration."""
    loop, main = asyncio.get_running_loop(), asyncio.current_task()

    def end(number: int) -> None:
        server.handle_exit(number, None)
        if main is not None and not begun.is_set():
            main.cancel()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
            continue  # nohup: the server outlives its terminal
        loop.add_signal_handler(number, end, number)


def _settle_memory() -> None:
    """Keep garbage collection off evaluations: exclude what was built at the start, and collect less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER_ALLOCATIONS)


def _make_room_for_connections(flagstaff: Flagstaff) -> None:
    wanted = flagstaff.connection_bounds.most
    room = raise_limit(wanted)
    flagstaff.connection_bounds.keep_within(room)
    if room < wanted:
        log.warning(
            "few_descriptors",
            connections=room,
            wanted=wanted,
            advice=f"allow {wanted + RESERVE} open files (LimitNOFILE= in systemd, ulimit -n), "
            "or lower FLAGSTAFF_MAX_CONNECTIONS",
        )


def _listen(settings: Settings) -> socket.socket:
    """Bind before anything is opened: a port in use changes nothing, and early clients wait instead of failing."""
    try:
        return socket.create_server((settings.host, settings.port), family=_family(settings.host), backlog=2048)
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        advice = "Stop the program that listens there, or choose another FLAGSTAFF_PORT or FLAGSTAFF_HOST."
        raise Error(Code.CONFLICT, f"Cannot listen on {where}: {error.strerror}. {advice}") from error


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _warn(settings: Settings) -> None:
    """Warn about settings that are allowed but probably not intended."""
    if "://0.0.0.0" in settings.public_url or "://[::]" in settings.public_url:
        log.warning("public_url_is_no_address", url=settings.public_url, advice="set FLAGSTAFF_PUBLIC_URL")


def _greet(settings: Settings, port: int) -> None:
    url = settings.public_url if settings.port else f"http://{settings.host}:{port}"
    log.info("serving", url=url, host=settings.host, port=port)
    store = "PostgreSQL" if settings.database_url else f"SQLite in {settings.data_dir}"
    sys.stdout.write(f"Flagstaff {__version__} serves on {url} ({store}). Ctrl-C stops it.\n")
    sys.stdout.flush()
