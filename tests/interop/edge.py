"""A released Unleash Edge as a process on a free port, in front of a server."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import httpx

from tests.support.built import EDGE, require
from tests.support.ports import free_port
from tests.support.processes import kill

_START_SECONDS = 30


class EdgeProcess:
    """An Edge that fetches its flags every second. The context manager starts it on entry, and ends it on exit."""

    def __init__(self, upstream: str, folder: Path, mode: str, keys: Sequence[str] = ()) -> None:
        """`mode` is `strict` or `dynamic`; `keys` are its keys at the start; `folder` is for its log."""
        require("edge", EDGE)
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.log_file = folder / "edge.log"
        listening = ["--interface", "127.0.0.1", "--port", str(port), "--workers", "1", "--base-path", "/unleash"]
        asking = ["--upstream-url", f"{upstream}/unleash", "--features-refresh-interval-seconds", "1"]
        others = ["--metrics-interval-seconds", "1", "--token-revalidation-interval-seconds", "1"]
        tokens = ["--tokens", ",".join(keys)] if keys else []
        self._command = [str(EDGE), *listening, "edge", f"--{mode}", *asking, *others, *tokens]
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        with self.log_file.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(*self._command, stdout=log, stderr=log)
        try:
            async with asyncio.timeout(_START_SECONDS), httpx.AsyncClient() as client:
                while not await self._is_ready(client):
                    assert self._process.returncode is None, f"the Edge ended:\n{self.log_file.read_text()}"
                    await asyncio.sleep(0.02)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await kill(self._process)

    async def _is_ready(self, client: httpx.AsyncClient) -> bool:
        try:
            return (await client.get(f"{self.url}/unleash/internal-backstage/ready")).is_success
        except httpx.TransportError:
            return False
