"""A real HAProxy in front of servers: an installed one, or Debian's, installed if possible (with root and apt)."""

import asyncio
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from tests.support.debian import find_or_install, leave_out
from tests.support.ports import free_port, is_listening
from tests.support.processes import terminate

_START_SECONDS = 30
_MISSING = "No HAProxy was found and none could be installed, which takes root and apt: its tests are left out."


class HAProxy:
    """A load balancer that asks `/ready` five times a second. A context manager."""

    def __init__(self, folder: Path, upstream_ports: Sequence[int]) -> None:
        self._file = folder / "haproxy.cfg"
        self.port = free_port()
        servers = "".join(
            f"  server s{port} 127.0.0.1:{port} check inter 200 fall 2 rise 1\n" for port in upstream_ports
        )
        self._file.write_text(
            "global\n  maxconn 500\n"
            "defaults\n  mode http\n  retries 3\n  option redispatch 1\n"
            "  timeout connect 5s\n  timeout client 30s\n  timeout server 30s\n  timeout check 5s\n"
            f"frontend front\n  bind 127.0.0.1:{self.port}\n  default_backend flagstaff\n"
            f"backend flagstaff\n  http-reuse always\n  option httpchk GET /ready\n{servers}"
        )

    async def __aenter__(self) -> Self:
        program = find_or_install(["haproxy"], "haproxy")
        if program is None:
            leave_out(_MISSING)
        assert program is not None
        self._process = await asyncio.create_subprocess_exec(
            program, "-db", "-q", "-f", str(self._file), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        async with asyncio.timeout(_START_SECONDS):
            while not await is_listening(self.port):
                assert self._process.returncode is None, "HAProxy ended"
                await asyncio.sleep(0.01)
        return self

    async def __aexit__(self, *_: object) -> None:
        await terminate(self._process)
