"""A real pgbouncer in front of PostgreSQL: an installed one, or Debian's, installed if possible (with root and apt)."""

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from tests.support.debian import find_or_install, leave_out
from tests.support.ports import free_port, is_listening
from tests.support.processes import terminate

_START_SECONDS = 30
_MISSING = "No pgbouncer was found and none could be installed, which takes root and apt: its tests are left out."


class PgBouncer:
    """A pooler of the databases of a server, which trusts everybody, as the server does. A context manager."""

    def __init__(self, folder: Path, server_url: str, pool_mode: str) -> None:
        server = urlsplit(server_url)
        self._folder = folder
        self._port = free_port()
        self._url = server_url.replace(str(server.port), str(self._port))
        users = folder / "users.txt"
        users.write_text(f'"{server.username}" ""\n')
        (folder / "pgbouncer.ini").write_text(
            f"[databases]\n* = host={server.hostname} port={server.port}\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self._port}\nunix_socket_dir =\n"
            f"auth_type = trust\nauth_file = {users}\npool_mode = {pool_mode}\nlogfile = {folder}/pgbouncer.log\n"
        )
        for path in (folder, *folder.iterdir()):
            path.chmod(0o777)  # it gives up the rights of root

    @property
    def url(self) -> str:
        """The URL of the database behind it."""
        return self._url

    async def __aenter__(self) -> Self:
        program = find_or_install(["pgbouncer"], "pgbouncer")
        if program is None:
            leave_out(_MISSING)
        assert program is not None
        user = ("-u", "nobody") if os.geteuid() == 0 else ()
        command = (program, "-q", *user, str(self._folder / "pgbouncer.ini"))
        self._process = await asyncio.create_subprocess_exec(*command, stderr=subprocess.DEVNULL)
        async with asyncio.timeout(_START_SECONDS):
            while not await is_listening(self._port):
                assert self._process.returncode is None, (self._folder / "pgbouncer.log").read_text()
                await asyncio.sleep(0.01)
        return self

    async def __aexit__(self, *_: object) -> None:
        await terminate(self._process)
