"""Accepts connections in place of the event loop's own server, which stops permanently when descriptors run out.

A connection beyond the bounds is answered and its descriptor released before the next one is accepted.
"""

import asyncio
import socket
import struct
import sys
from array import array
from collections.abc import Callable
from contextlib import ExitStack, suppress

import structlog

from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.http.connections.connection_bounds import ConnectionBounds
from flagstaff.http.connections.protocol import BoundedProtocol
from flagstaff.http.connections.rejections import Rejections

log = structlog.get_logger(__name__)

_AT_ONCE = 16  # before other work runs on the event loop
_PAUSE_SECONDS = 1.0  # after the system has refused to accept connections
_RETRY_AFTER_SECONDS = 10  # by then silent connections have been closed
_DETAIL = "There are too many connections. Close some, or try again later."
# A classic BPF program that drops packets with the flag SYN, which begin connections, and passes all others:
# load the byte with the flags; if SYN (2) is set, go on, else skip one; return 0; return all.
_DROP_SYN = ((0x30, 0, 0, 13), (0x45, 0, 1, 0x02), (0x06, 0, 0, 0), (0x06, 0, 0, 0xFFFFFFFF))
_SO_ATTACH_FILTER = 26
_SETTLE_SECONDS = 0.02  # for connections that are being set up


class Acceptor:
    """One listening socket, from `start` to `close`. Replaces uvicorn's `asyncio.Server`."""

    def __init__(
        self,
        listener: socket.socket,
        make_protocol: Callable[[], BoundedProtocol],
        *,
        bounds: ConnectionBounds,
        rejections: Rejections,
        supervisor: Supervisor,
    ) -> None:
        self._listener = listener
        self._make_protocol = make_protocol
        self._bounds = bounds
        self._rejections = rejections
        self._supervisor = supervisor
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._resume: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start to accept connections."""
        self._listener.setblocking(False)
        self._resume = None
        self._loop.add_reader(self._listener, self._accept)

    async def finish(self) -> None:
        """Begin no more connections, so that `close` resets none: a client's system tries again and is refused.

        Only for a socket that no other process listens on. Other systems than Linux cannot do this.
        """
        if self._listener.fileno() >= 0 and _drop_beginnings(self._listener):
            await asyncio.sleep(_SETTLE_SECONDS)

    def close(self) -> None:
        """Accept the connections that wait already, whose clients have sent requests, and refuse any later ones."""
        if self._listener.fileno() < 0:
            return  # closed before
        while self._accept():
            pass
        if self._resume is not None:
            self._resume.cancel()
        self._loop.remove_reader(self._listener)
        self._listener.close()

    async def wait_closed(self) -> None:
        """Wait for the connections that are being set up."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self) -> bool:
        """Accept connections that wait, and return whether more may."""
        for _ in range(_AT_ONCE):
            try:
                connection, peer = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return False
            except OSError as error:  # no descriptors or no memory: waiting clients wait a little longer
                log.warning("accept_failed", error=str(error), open=self._bounds.open)
                self._loop.remove_reader(self._listener)
                self._resume = self._loop.call_later(_PAUSE_SECONDS, self.start)
                return False
            address = self._bounds.enter(peer[0])
            if address is None:
                self._refuse(connection, peer)
            else:
                task = self._supervisor.spawn("connection", self._open(connection, address))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        return True

    def _refuse(self, connection: socket.socket, peer: tuple[str, int]) -> None:
        answer = self._rejections.refuse(
            503, _DETAIL, peer=peer, event="connection_refused", retry_after_seconds=_RETRY_AFTER_SECONDS
        )
        with connection, suppress(OSError):
            connection.setblocking(False)
            connection.send(answer)

    async def _open(self, connection: socket.socket, address: str) -> None:
        slot = ExitStack()  # closing it again does nothing
        slot.callback(self._bounds.leave, address)
        try:
            protocol = self._make_protocol()
            protocol.on_lost = slot.close
            await self._loop.connect_accepted_socket(lambda: protocol, connection)
        except BaseException as error:
            connection.close()
            slot.close()
            if isinstance(error, OSError):  # the client has already left
                log.debug("connection_not_opened", error=str(error))
            elif isinstance(error, Exception):
                log.exception("connection_failed")
            else:
                raise


def _drop_beginnings(listener: socket.socket) -> bool:
    """Let the kernel drop packets that begin connections; False where that is not possible."""
    if sys.platform != "linux":
        return False
    program = array("B", b"".join(struct.pack("=HBBI", *each) for each in _DROP_SYN))
    address, _ = program.buffer_info()
    try:
        listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("@HP", len(_DROP_SYN), address))
    except OSError:
        return False
    return True
