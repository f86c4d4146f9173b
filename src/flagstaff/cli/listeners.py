"""The sockets that listen for connections: one for each port, or one for each worker and port."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from flagstaff.values.errors import Code, Error

_BACKLOG = 2048
_VARIABLES = ("FLAGSTAFF_PORT", "FLAGSTAFF_INTERNAL_PORT")
"""The settings of the ports, in their order."""

Sockets = Sequence[socket.socket]
"""The sockets of a process, in the order of the ports."""


def listen(host: str, ports: Sequence[int]) -> Sockets:
    """Bind before anything is opened: a port in use changes nothing, and early clients wait instead of failing.

    Raises:
        Error: CONFLICT when an address is in use or cannot be used.
    """
    with ExitStack() as opened:
        sockets = [opened.enter_context(_bind(host, port, place)) for place, port in enumerate(ports)]
        _listen(host, sockets)
        opened.pop_all()
    return sockets


class Listeners:
    """Sockets for each worker, all on the same ports, among which the kernel distributes new connections.

    The parent keeps them open, so that connections which wait for a worker that was killed get its successor.
    """

    def __init__(self, host: str, ports: Sequence[int], count: int) -> None:
        """Bind all of them; raises what `listen` does."""
        with ExitStack() as opened:
            # The first ones are bound alone, which fails if anyone listens there, also workers of another server.
            first = [opened.enter_context(_bind(host, port, place)) for place, port in enumerate(ports)]
            for each in first:
                each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            self._host = host
            self._ports: Sequence[int] = [each.getsockname()[1] for each in first]
            others = [self._open_shared(opened) for _ in range(1, count)]
            self._sockets: list[Sockets | None] = [first, *others]
            for sockets in (first, *others):
                _listen(host, sockets)
            opened.pop_all()

    @property
    def port(self) -> int:
        """The port for users."""
        return self._ports[0]

    def take(self, slot: int) -> Sockets:
        """The sockets of a worker, opened again if they were closed."""
        sockets = self._sockets[slot]
        if sockets is None:
            with ExitStack() as opened:
                sockets = self._sockets[slot] = self._open_shared(opened)
                _listen(self._host, sockets)
                opened.pop_all()
        return sockets

    def leave_to_others(self, slot: int) -> None:
        """Close the sockets of a worker that is missing, so that new connections get another worker, if any."""
        sockets = self._sockets[slot]
        if sockets is not None and sum(each is not None for each in self._sockets) > 1:
            _close(sockets)
            self._sockets[slot] = None

    def close(self, but: int | None = None) -> None:
        """Close all listeners, or all but one worker's."""
        for slot, sockets in enumerate(self._sockets):
            if sockets is not None and slot != but:
                _close(sockets)

    def _open_shared(self, opened: ExitStack) -> Sockets:
        ports = enumerate(self._ports)
        return [opened.enter_context(_bind(self._host, port, place, is_shared=True)) for place, port in ports]


def _bind(host: str, port: int, place: int, *, is_shared: bool = False) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with _explained(host, port, place), ExitStack() as opened:
        listener = opened.enter_context(socket.socket(family, socket.SOCK_STREAM))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((host, port))
        opened.pop_all()
    return listener


def _listen(host: str, sockets: Sockets) -> None:
    for place, listener in enumerate(sockets):
        with _explained(host, listener.getsockname()[1], place):
            listener.listen(_BACKLOG)


def _close(sockets: Sockets) -> None:
    for each in sockets:
        each.close()


@contextmanager
def _explained(host: str, port: int, place: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        advice = f"Stop the program that listens there, or choose another {_VARIABLES[place]} or FLAGSTAFF_HOST."
        raise Error(Code.CONFLICT, f"Cannot listen on {host}:{port}: {error.strerror}. {advice}") from error
