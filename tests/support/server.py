"""A real `flagstaff serve` process on a free port, which can be stopped, killed and started again on the same data."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import httpx

from tests.support.clients import open_client
from tests.support.forks import ForkedProcess
from tests.support.ports import free_port
from tests.support.processes import kill
from tests.support.stores import Store

COMMAND = (sys.executable, "-m", "flagstaff", "serve")  # the command that operators run

_START_SECONDS = 120  # several servers start at once, on a machine that may be busy with other tests
_END_SECONDS = 60  # of one that ends instead of starting: it imports everything first
_STOP_SECONDS = 15


def _hear_hangups() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # `nohup make test` ignores it, and so would the server


class ServerProcess:
    """A server on a store. The context manager starts it on entry, and ends it on exit in any state."""

    def __init__(
        self,
        store: Store,
        environ: Mapping[str, str] | None = None,
        *,
        open_files: int | None = None,
        command: Sequence[str] | None = None,
        ready: str = "/ready",
        internal_port: int | None = None,
        options: Sequence[str] = (),
    ) -> None:
        """`environ` is added to the settings of the store and the ports; `open_files` lowers the system's limit.

        A start waits until `ready`, on the internal port if there is one, answers 200. `command`, such as COMMAND,
        starts a new interpreter; without it, one that has imported Flagstaff is forked, with these options of `serve`.
        """
        self._options = options
        self._open_files = open_files
        self._command = command
        self._ready = ready
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.internal_port = internal_port
        self.log_file: Path = store.data_directory.parent / f"server-{self.port}.log"
        self._environ = {
            "PATH": os.environ["PATH"],
            "FLAGSTAFF_PORT": str(self.port),
            **({"FLAGSTAFF_INTERNAL_PORT": str(internal_port)} if internal_port else {}),
            "FLAGSTAFF_DATA_DIR": str(store.data_directory),
            "FLAGSTAFF_DRAIN_SECONDS": "0",
            **({"FLAGSTAFF_DATABASE_URL": store.database_url} if store.database_url else {}),
            **(environ or {}),
        }
        self._process: asyncio.subprocess.Process | ForkedProcess | None = None

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException:
            await self.kill()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.kill()

    @property
    def log(self) -> str:
        """Everything that its processes have printed so far."""
        return self.log_file.read_text()

    @property
    def internal_url(self) -> str:
        """The URL of probes and metrics."""
        return self.url if self.internal_port is None else f"http://127.0.0.1:{self.internal_port}"

    @property
    def pid(self) -> int:
        """The running process's id."""
        assert self._process is not None
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """True if the process is not running any more."""
        assert self._process is not None
        return self._process.returncode is not None

    async def start(self) -> None:
        """Start it and return when it is ready."""
        await self.launch()
        async with asyncio.timeout(_START_SECONDS), open_client() as client:
            while not await self._is_ready(client):
                assert not self.has_ended, f"the server ended:\n{self.log}"
                await asyncio.sleep(0.02)

    async def launch(self) -> None:
        """Start it without waiting, for starts that should fail."""
        with self.log_file.open("ab") as log:
            if self._command is not None:
                command, environ = self._command, self._environ
                self._process = await asyncio.create_subprocess_exec(
                    *command, stdout=log, stderr=log, env=environ, preexec_fn=_hear_hangups
                )
                return
            self._process = ForkedProcess(
                ["serve", *self._options], environ=self._environ, output=log, errors=log, open_files=self._open_files
            )

    async def wait(self) -> int:
        """Wait for it to end; return its exit status."""
        assert self._process is not None
        async with asyncio.timeout(_END_SECONDS):
            return await self._process.wait()

    async def stop(self) -> int:
        """Ask it to stop (SIGTERM) and wait; return its exit status."""
        self.signal(signal.SIGTERM)
        async with asyncio.timeout(_STOP_SECONDS):
            return await self.wait()

    async def kill(self) -> None:
        """Kill it (SIGKILL) if it is running."""
        await kill(self._process)

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    async def _is_ready(self, client: httpx.AsyncClient) -> bool:
        try:
            return (await client.get(f"{self.internal_url}{self._ready}")).is_success
        except httpx.TransportError:
            return False
