"""The parent's end of the connection to a worker, which carries lines of text in both directions."""

import json
import socket
from contextlib import suppress

from flagstaff.values.errors import Code, Error

STARTED = "started"
FAILED = "failed "  # and what `describe` returns
TELL = "tell "  # and what `read_told` reads
RELOAD = "reload"  # the answer to messages that were lost

_AT_ONCE_BYTES = 64 * 1024
_MAX_UNSENT_BYTES = 1024 * 1024  # for a worker that is paused


def describe(error: Error) -> str:
    """An error in one line, which `read_failure` reads."""
    reasons = "".join(f" {each.field} {each.message}." for each in error.fields)
    return json.dumps([error.code.name, f"{error.message}{reasons}"])


def read_failure(text: str) -> Error:
    """The error that was described."""
    code, message = json.loads(text)
    return Error(Code[code], message)


def read_told(text: str) -> tuple[int | None, str]:
    """The slot of the worker that a message is for, or None for all others, and the message."""
    to, _, message = text.partition(" ")
    return None if to == "-" else int(to), message


class Channel:
    """Reads and writes without waiting. What a paused worker does not read is kept, up to a bound."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._connection = connection
        self._received = b""
        self._unsent = b""
        self._has_lost = False

    def fileno(self) -> int:
        """The descriptor, for selectors."""
        return self._connection.fileno()

    def close(self) -> None:
        """Close it in this process."""
        self._connection.close()

    def read(self) -> list[str]:
        """The lines that have arrived."""
        with suppress(BlockingIOError, ConnectionResetError):
            while some := self._connection.recv(_AT_ONCE_BYTES):
                self._received += some
        *lines, self._received = self._received.split(b"\n")
        return [line.decode() for line in lines]

    def send(self, *lines: str) -> None:
        """Send lines, and what has been waiting, as far as possible now.

        Beyond a bound, lines are dropped, and the worker is told to reload when it has read what is waiting.
        """
        for line in lines:
            if self._has_lost or len(self._unsent) > _MAX_UNSENT_BYTES:
                self._has_lost = True
            else:
                self._unsent += f"{line}\n".encode()
        with suppress(BlockingIOError, ConnectionResetError, BrokenPipeError):
            while self._unsent:
                self._unsent = self._unsent[self._connection.send(self._unsent) :]
                if not self._unsent and self._has_lost:
                    self._has_lost = False
                    self._unsent = f"{RELOAD}\n".encode()

    @property
    def is_waiting(self) -> bool:
        """True if there is something to send when the worker can take it."""
        return bool(self._unsent)
