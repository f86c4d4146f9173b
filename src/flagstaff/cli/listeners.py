"""The sockets that listen for connections: one, or one for each worker on the same port."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from flagstaff.values.errors import Code, Error

_BACKLOG = 2048


def listen(host: str, port: int) -> socket.socket:
    """Bind before anything is opened: a port in use changes nothing, and early clients wait instead of failing.

    Raises:
        Error: CONFLICT when the address is in use or cannot be used.
    """
    listener = _bind(host, port, is_shared=False)
    with _explained(host, port):
        listener.listen(_BACKLOG)
    return listener


class Listeners:
    """A socket for each worker, all on one port, among which the kernel distributes new connections.

    The parent keeps them open, so that connections which wait for a worker that was killed get its successor.
    """

    def __init__(self, host: str, port: int, count: int) -> None:
        """Bind all of them; raises what `listen` does."""
        with ExitStack() as opened:
            # The first one is bound alone, which fails if anyone listens there, also workers of another server.
            first = opened.enter_context(_bind(host, port, is_shared=False))
            first.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            self._host, self.port = host, first.getsockname()[1]
            others = [opened.enter_context(_bind(host, self.port, is_shared=True)) for _ in range(1, count)]
            self._sockets: list[socket.socket | None] = [first, *others]
            with _explained(host, self.port):
                for listener in (first, *others):
                    listener.listen(_BACKLOG)
            opened.pop_all()

    def take(self, slot: int) -> socket.socket:
        """The socket of a worker, opened again if it was closed."""
        listener = self._sockets[slot]
        if listener is None:
            listener = self._sockets[slot] = _bind(self._host, self.port, is_shared=True)
            listener.listen(_BACKLOG)
        return listener

    def leave_to_others(self, slot: int) -> None:
        """Close the socket of a worker that is missing, so that new connections get another worker, if there is one."""
        listener = self._sockets[slot]
        if listener is not None and sum(each is not None for each in self._sockets) > 1:
            listener.close()
            self._sockets[slot] = None

    def close(self, but: int | None = None) -> None:
        """Close all of them, or all but that of one worker."""
        for slot, listener in enumerate(self._sockets):
            if listener is not None and slot != but:
                listener.close()


def _bind(host: str, port: int, *, is_shared: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with _explained(host, port), ExitStack() as opened:
        listener = opened.enter_context(socket.socket(family, socket.SOCK_STREAM))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((host, port))
        opened.pop_all()
    return listener


@contextmanager
def _explained(host: str, port: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        advice = "Stop the program that listens there, or choose another FLAGSTAFF_PORT or FLAGSTAFF_HOST."
        raise Error(Code.CONFLICT, f"Cannot listen on {host}:{port}: {error.strerror}. {advice}") from error
