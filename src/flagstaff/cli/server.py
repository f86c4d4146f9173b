"""One process that serves with one event loop until a signal ends it."""

import asyncio
import gc
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import cast

import structlog
import uvloop
from uvicorn.config import Config
from uvicorn.server import Server

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.cli.listeners import Sockets
from flagstaff.cli.otel import make_telemetry
from flagstaff.cluster.worker import Worker
from flagstaff.http.connections.acceptor import Acceptor
from flagstaff.http.probes import IS_INTERNAL
from flagstaff.machine.descriptors import RESERVE, raise_limit
from flagstaff.settings import Settings
from flagstaff.settings.opentelemetry import OpenTelemetry

log = structlog.get_logger(__name__)

AT_ONCE = signal.SIGUSR1
"""Ends a worker's running requests, as a second SIGINT does."""
WITHOUT_DRAIN = signal.SIGUSR2
"""Stops a worker as the first SIGINT does."""

# Together with `Flagstaff.stop`, within the ten seconds that process managers allow.
_FINISH_REQUESTS_SECONDS = 3
_IDLE_CONNECTION_SECONDS = 75  # longer than the minute for which common proxies keep connections
_COLLECT_AFTER_ALLOCATIONS = 1_000, 4, 100_000
_SWITCH_SECONDS = 0.0005
_LINGER_SECONDS = 0.5  # for requests on connections that were accepted last
_LOOK_SECONDS = 0.05


class _Server(Server):
    """uvicorn's server with three differences.

    The caller handles signals, because uvicorn would raise them again and end the process too soon. Connections are
    bounded. And the management API is loaded while evaluations are answered; if it cannot be, the server ends.
    """

    def __init__(self, config: Config, flagstaff: Flagstaff, drain_seconds: int, *, is_worker: bool = False) -> None:
        super().__init__(config)
        self._is_worker = is_worker
        self._flagstaff = flagstaff
        self._drain_seconds = drain_seconds
        self._acceptors: list[Acceptor] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept users' connections on the first socket, and the internal port's connections on the second one."""
        edge, self.servers = self._flagstaff.edge, []
        for listener, is_internal in zip(sockets or (), (False, True), strict=False):
            make_protocol = partial(
                edge.internal_connection_class if is_internal else edge.connection_class,
                config=self.config,
                server_state=self.server_state,
                app_state={IS_INTERNAL: is_internal},
            )
            acceptor = edge.make_acceptor(listener, make_protocol, is_internal=is_internal)
            acceptor.start()
            self._acceptors.append(acceptor)
            self.servers.append(cast("asyncio.Server", acceptor))
        self.started = True

    async def main_loop(self) -> None:
        self._loading = self._flagstaff.foundation.supervisor.spawn("load-api", self._load_api())
        await super().main_loop()

    async def _load_api(self) -> None:
        await self._flagstaff.edge.load_api()
        gc.freeze()  # without a collection, which would hold the event loop, where evaluations are answered already

    async def on_tick(self, counter: int) -> bool:
        """Do what is repeated, and return whether to stop; raises what prevents the loading of the management API."""
        if self._loading.done():
            self._loading.result()
        return await super().on_tick(counter)

    def end(self, number: int) -> None:
        """Begin to stop; only SIGTERM, which process managers send, begins with a drain."""
        if number != signal.SIGTERM:
            self._drain_seconds = 0
        self.handle_exit(number, None)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        drains = self._drain_seconds > 0
        self._flagstaff.begin_drain()
        if drains:
            await self._wait(lambda: self._drain_seconds)
        # uvicorn ends only the connections that it knows when it begins, and waits for any that come later.
        for acceptor in self._acceptors:
            if not self._is_worker:  # whose socket its parent keeps for a successor
                await acceptor.finish()
            acceptor.close()
            await acceptor.wait_closed()
        if drains:
            await self._wait(lambda: _LINGER_SECONDS if self.server_state.connections else 0)
        await self._flagstaff.serving.streams.stop()  # they would take all of the time that running requests have
        await super().shutdown(sockets)

    async def _wait(self, find_seconds: Callable[[], float]) -> None:
        """Wait until this many seconds are over or a second SIGINT comes."""
        began = time.monotonic()
        while time.monotonic() - began < find_seconds() and not self.force_exit:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_SECONDS)  # uvicorn sets `force_exit` without an event

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def run(
    settings: Settings,
    listen: Callable[[], Sockets],
    signals: Sequence[signal.Signals],
    greet: Callable[[int], None],
    worker: Worker | None = None,
    open_telemetry: OpenTelemetry | None = None,
) -> None:
    """Serve until one of the signals; a second SIGINT ends running requests at once.

    `listen` returns the listening sockets, and `greet` is called with the first one's port once the server serves. A
    `worker` serves beside others on the same data directory, which their parent has prepared.

    Raises:
        Error: what `Flagstaff.start` and `listen` raise.
    """
    uvloop.run(_run(settings, listen, signals, greet, worker, open_telemetry))


async def _run(
    settings: Settings,
    listen: Callable[[], Sockets],
    signals: Sequence[signal.Signals],
    greet: Callable[[int], None],
    worker: Worker | None,
    open_telemetry: OpenTelemetry | None,
) -> None:
    flagstaff = Flagstaff(settings, worker=worker, telemetry=make_telemetry(settings, open_telemetry, worker))
    _make_room_for_connections(flagstaff)
    config = Config(
        flagstaff.edge.asgi,
        host=settings.host,
        port=settings.port,
        http=flagstaff.edge.connection_class,
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        reset_contextvars=True,  # a pipelined request would begin with the log's ids and the span of the one before
        timeout_keep_alive=_IDLE_CONNECTION_SECONDS,
        timeout_graceful_shutdown=_FINISH_REQUESTS_SECONDS,
    )
    server = _Server(config, flagstaff, settings.drain_seconds, is_worker=worker is not None)
    begun = asyncio.Event()
    _obey_signals(signals, server, begun)
    with ExitStack() as opened:
        listeners = [opened.enter_context(each) for each in listen()]
        try:
            await flagstaff.start()
            if worker is not None:
                await flagstaff.edge.load_api()  # its parent has imported it, so this takes only a few milliseconds
            begun.set()
            _settle_memory()
            _favour_the_event_loop()
            greet(listeners[0].getsockname()[1])
            await server.serve(sockets=listeners)
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


def _obey_signals(signals: Sequence[signal.Signals], server: _Server, begun: asyncio.Event) -> None:
    """Make signals end the server; until it has begun, also a start that waits, for example for a migration."""
    loop, main = asyncio.get_running_loop(), asyncio.current_task()

    def end(number: int) -> None:
        server.end(signal.SIGINT if number == AT_ONCE else number)
        if main is not None and not begun.is_set():
            main.cancel()

    for number in signals:
        loop.add_signal_handler(number, end, number)


def _settle_memory() -> None:
    """Keep garbage collection off evaluations: exclude what was built at the start, and collect less often.

    A collection holds the event loop for a tenth to half of a microsecond for each object in it. So the young ones are
    few, and so are the middle ones, and all are looked at only after 100,000 passes over these, which pauses of long
    work and long lists add to. This is rare, and not too rare: 2,000 passes leave at most 300 objects of garbage.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER_ALLOCATIONS)


def _make_room_for_connections(flagstaff: Flagstaff) -> None:
    wanted = flagstaff.serving.connection_bounds.most
    room = raise_limit(wanted)
    flagstaff.serving.connection_bounds.keep_within(room)
    if room < wanted:
        log.warning(
            "few_descriptors",
            connections=room,
            wanted=wanted,
            advice=f"allow {wanted + RESERVE} open files (LimitNOFILE= in systemd, ulimit -n), "
            "or lower FLAGSTAFF_MAX_CONNECTIONS",
        )
