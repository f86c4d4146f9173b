"""Free TCP ports."""

import socket


def free_port() -> int:
    """A port on 127.0.0.1 that is free at the moment."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
