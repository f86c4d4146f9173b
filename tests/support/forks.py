"""`flagstaff` commands in processes that `forker.py` forks."""

import asyncio
import atexit
import json
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import IO

_starting = Lock()


class ForkedProcess:
    """A running command, with the part of `asyncio.subprocess.Process` that tests use."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        environ: Mapping[str, str],
        output: IO[bytes],
        errors: IO[bytes],
        given: IO[bytes] | None = None,
        directory: Path | None = None,
        open_files: int | None = None,
    ) -> None:
        """Start it. `given` is its standard input, by default this process's; `open_files` lowers a limit."""
        self._status, remote = socket.socketpair()
        request = {
            "arguments": arguments,
            "environ": dict(environ),
            "directory": str(directory) if directory else None,
            "limits": _limits(open_files),
        }
        with _starting:
            control = _forker()
        with remote:
            descriptors = [given.fileno() if given else 0, output.fileno(), errors.fileno(), remote.fileno()]
            socket.send_fds(control, [json.dumps(request).encode()], descriptors)
        self._told = b""
        while b"\n" not in self._told:
            self._hear(self._status.recv(64))
        self.pid = int(self._told.split()[0])

    @property
    def returncode(self) -> int | None:
        """The exit status, or the negative number of a signal; None while it runs."""
        if self._told.count(b"\n") < 2:
            try:
                self._hear(self._status.recv(64, socket.MSG_DONTWAIT))
            except BlockingIOError:
                return None
        return self._ended()

    async def wait(self) -> int:
        """Wait for its end; return the status."""
        while (status := self.returncode) is None:
            self._status.setblocking(False)
            self._hear(await asyncio.get_running_loop().sock_recv(self._status, 64))
        return status

    def wait_blocking(self, seconds: float) -> int:
        """Wait for its end without an event loop; return the status. Raises TimeoutError."""
        self._status.settimeout(seconds)
        while (status := self._ended()) is None:
            self._hear(self._status.recv(64))
        return status

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        if self.returncode is None:
            with suppress(ProcessLookupError):  # it has ended, and the forker has not reported it yet
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it (SIGKILL), unless it has ended."""
        self.send_signal(signal.SIGKILL)

    def _hear(self, told: bytes) -> None:
        assert told, "the forker ended"
        self._told += told

    def _ended(self) -> int | None:
        if self._told.count(b"\n") < 2:
            return None
        self._status.close()
        return int(self._told.split()[1])


def _limits(open_files: int | None) -> list[tuple[int, tuple[int, int]]]:
    """Return what a new process would inherit, since a test may have changed it after the forker started."""
    limits = {kind: resource.getrlimit(kind) for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE)}
    if open_files is not None:
        limits[resource.RLIMIT_NOFILE] = (open_files, open_files)
    return list(limits.items())


@cache
def _forker() -> socket.socket:
    """Return the socket for requests to this process's forker, which ends with this process."""
    control, remote = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with remote:
        program = str(Path(__file__).with_name("forker.py"))
        process = subprocess.Popen(
            [sys.executable, "-P", program, str(remote.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"]},
            pass_fds=[remote.fileno()],
        )

    @atexit.register
    def end() -> None:
        control.close()
        process.wait()

    return control
