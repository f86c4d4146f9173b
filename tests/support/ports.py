"""TCP ports on this machine."""

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle, islice

# The system gives outgoing connections ports from 32768. One of them could be taken while its server restarts.
_PORTS = range(10_240, 32_768)
_SPREAD = 7_919  # tests in other processes start elsewhere


def free_port() -> int:
    """Return a port on 127.0.0.1 where nothing listens, and that no outgoing connection gets."""
    for port in islice(_candidates, len(_PORTS)):
        with socket.socket() as listener, suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def _all_ports() -> Iterator[int]:
    start = os.getpid() * _SPREAD % len(_PORTS)
    return cycle([*_PORTS[start:], *_PORTS[:start]])


_candidates = _all_ports()


async def is_listening(port: int) -> bool:
    """Return whether a program accepts connections at a port on 127.0.0.1."""
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True
