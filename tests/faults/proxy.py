"""The tests' side of the proxy between the instances and PostgreSQL or Valkey: each instance has a link to each."""

import asyncio
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.faults.namespaces import Cable
from tests.support.processes import kill

_ROOT = Path(__file__).parents[2]


class Proxy:
    """The process with the links; proxy_process.py lists the states of a link."""

    def __init__(self, target: int, links: int, cables: Sequence[Cable] = ()) -> None:
        """The first links listen at the ends of the cables."""
        self.ports: list[int] = []
        self.hosts = [*(each.address for each in cables), *["127.0.0.1"] * (links - len(cables))]
        self._arguments = (str(target), str(links), *(f"{each.name}={each.address}" for each in cables))
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> Self:
        command = (sys.executable, "-m", "tests.faults.proxy_process", *self._arguments)
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, cwd=_ROOT)
        self.ports = json.loads(await self._read())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await kill(self._process)

    async def change(self, link: int, state: str, *, seconds: float = 0) -> None:
        """Put a link into a state; `seconds` is the delay of a slow link."""
        await self._command(link=link, state=state, seconds=seconds if state == "slow" else 0)

    async def cut(self, link: int) -> None:
        """Reset the connections of a link; new ones are accepted."""
        await self._command(link=link, cut=True)

    async def aim(self, port: int, links: Iterable[int]) -> None:
        """Connect links to another target from now on."""
        for link in links:
            await self._command(link=link, target=port)

    async def _command(self, **command: Any) -> None:
        # If a caller is cancelled, its answer must not be left to the next caller.
        await asyncio.shield(self._exchange(command))

    async def _exchange(self, command: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        async with self._turn:
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
            assert json.loads(await self._read()) is True

    async def _read(self) -> bytes:
        assert self._process is not None
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        assert line, "the proxy ended"
        return line
