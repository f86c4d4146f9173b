"""`flagstaff serve` with several workers: prepares the data directory once, and forks processes that serve on one port.

Forked processes share the memory of the parent and start in a fraction of a second. The parent therefore has neither a
thread nor an event loop, and opens no database.
"""

import asyncio
import gc
import signal
import socket
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import closing
from typing import Any

import structlog

from flagstaff.assembly.edge import preload_api
from flagstaff.cli import server
from flagstaff.cli.listeners import Listeners
from flagstaff.cli.parent import Parent
from flagstaff.cluster.worker import Worker, WorkerBoard
from flagstaff.database.data_directory import DataDirectory
from flagstaff.settings import Settings
from flagstaff.settings.opentelemetry import OpenTelemetry
from flagstaff.telemetry import configure_logging
from flagstaff.values.errors import Code, Error

log = structlog.get_logger(__name__)


def serve_with_workers(
    settings: Settings,
    count: int,
    signals: Sequence[signal.Signals],
    prepare: Callable[[], Coroutine[Any, Any, None]],
    greet: Callable[[int], None],
    open_telemetry: OpenTelemetry | None = None,
) -> None:
    """Serve with this many workers until one of the signals.

    `prepare` is done in a process of its own before they start, and `greet` is called with the port once all serve.

    Raises:
        Error: what `Flagstaff.start` and `Listeners` raise; INVALID on other systems than Linux.
        SystemExit: with status 1 when workers had to be killed at the end.
    """
    if sys.platform != "linux":
        raise Error(Code.INVALID, "Several workers need Linux. Set FLAGSTAFF_WORKERS to 1.")
    preload_api(settings.path_prefix)  # before the port is open: connections wait for processes that handle signals
    with closing(Listeners(settings.host, settings.ports, count)) as listeners:
        directory = DataDirectory(settings.data_dir)
        directory.prepare()
        directory.lock()  # the workers inherit the lock, which the last of the processes releases by its end
        directory.warn_if_open()
        board = WorkerBoard(count)
        secret_key = ""

        def read_key() -> None:
            nonlocal secret_key
            secret_key = settings.secret_key or directory.secret_key()

        def work(slot: int, channel: socket.socket) -> None:
            board.heartbeats.start(slot)
            sockets = listeners.take(slot)
            listeners.close(but=slot)
            configure_logging(settings.log_format, worker=slot)
            worker = Worker(slot, board, channel, secret_key)
            ends = (signal.SIGTERM, server.WITHOUT_DRAIN, server.AT_ONCE)
            server.run(settings, lambda: sockets, ends, lambda _: worker.tell_started(), worker, open_telemetry)

        gc.collect()
        gc.freeze()  # a collection in a worker would otherwise copy what it shares with the others
        parent = Parent(listeners, board, work=work, signals=signals, drain_seconds=settings.drain_seconds)
        killed = parent.run(
            prepare=lambda _: asyncio.run(prepare()), on_prepared=read_key, on_served=lambda: greet(listeners.port)
        )
    log.info("stopped")
    if killed:
        sys.exit(1)
