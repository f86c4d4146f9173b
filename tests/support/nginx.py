"""A real nginx in front of a server: an installed one, or Debian's, installed if possible (with root and apt)."""

import asyncio
import subprocess
from pathlib import Path
from typing import Self

from tests.support.debian import find_or_install, leave_out
from tests.support.ports import free_port, is_listening
from tests.support.processes import terminate

_START_SECONDS = 10
_MISSING = "No nginx was found and none could be installed, which takes root and apt: its tests are left out."


class Nginx:
    """A proxy that forwards WebSockets, as in many guides, and refuses `/auth/register`. A context manager."""

    def __init__(self, folder: Path, *upstream_ports: int) -> None:
        self._folder = folder
        self.port = free_port()
        temporary = " ".join(
            f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        proxy = (
            "proxy_pass http://flagstaff; proxy_http_version 1.1;"
            ' proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade";'
            " proxy_set_header Host $host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;"
        )
        # nginx does not remember failures: a server that refuses connections is asked again at once.
        servers = " ".join(f"server 127.0.0.1:{port} max_fails=0;" for port in upstream_ports)
        (folder / "nginx.conf").write_text(
            f"daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx-error.log;\n"
            "events {}\n"
            f"http {{ access_log off; {temporary}\n"
            f"  upstream flagstaff {{ {servers} keepalive 4; }}\n"
            f"  server {{ listen 127.0.0.1:{self.port};\n"
            "    location /auth/register { deny all; }\n"
            f"    location / {{ {proxy} }}\n"
            "  }\n"
            "}\n"
        )

    async def __aenter__(self) -> Self:
        program = find_or_install(["nginx"], "nginx-light")
        if program is None:
            leave_out(_MISSING)
        assert program is not None
        command = (program, "-p", str(self._folder), "-c", str(self._folder / "nginx.conf"))
        self._process = await asyncio.create_subprocess_exec(*command, stderr=subprocess.DEVNULL)
        async with asyncio.timeout(_START_SECONDS):
            while not await is_listening(self.port):
                assert self._process.returncode is None, (self._folder / "nginx-error.log").read_text()
                await asyncio.sleep(0.01)
        return self

    async def __aexit__(self, *_: object) -> None:
        await terminate(self._process)
