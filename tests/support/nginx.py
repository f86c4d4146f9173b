"""A real nginx in front of a server: an installed one, or Debian's, installed if possible (with root and apt)."""

import asyncio
import subprocess
from pathlib import Path
from typing import Self

from tests.support.certificates import Authority
from tests.support.debian import find_or_install, leave_out
from tests.support.ports import free_port, is_listening
from tests.support.processes import terminate

DOCUMENTED_NAME = "flags.example.com"
"""The name of the server in the documented configuration."""
PATH_PREFIX = "/tools/flags"
"""The path below which a server is that shares its host."""
_DOCUMENTATION = Path(__file__).parents[2] / "docs" / "operations" / "proxy.md"
_START_SECONDS = 30
_MISSING = "No nginx was found and none could be installed, which takes root and apt: its tests are left out."


class Proxy:
    """An nginx that listens on `port`. A context manager. `http` is the content of its block of this name."""

    def __init__(self, folder: Path, port: int, http: str) -> None:
        self._folder = folder
        self.port = port
        temporary = " ".join(
            f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (folder / "nginx.conf").write_text(
            f"daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx-error.log;\n"
            f"events {{}}\nhttp {{ access_log off; {temporary}\n{http}}}\n"
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


class Nginx(Proxy):
    """A proxy that forwards WebSockets, as in many guides, and refuses `/auth/register`."""

    def __init__(self, folder: Path, *upstream_ports: int) -> None:
        proxy = (
            "proxy_pass http://flagstaff; proxy_http_version 1.1;"
            ' proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade";'
            " proxy_set_header Host $host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;"
        )
        # nginx does not remember failures: a server that refuses connections is asked again at once.
        servers = " ".join(f"server 127.0.0.1:{port} max_fails=0;" for port in upstream_ports)
        port = free_port()
        http = (
            f"  upstream flagstaff {{ {servers} keepalive 4; }}\n"
            f"  server {{ listen 127.0.0.1:{port};\n"
            "    location /auth/register { deny all; }\n"
            f"    location / {{ {proxy} }}\n"
            "  }\n"
        )
        super().__init__(folder, port, http)


class DocumentedNginx(Proxy):
    """The proxy of docs/operations/proxy.md, with its own port and a new certificate of an authority for a name."""

    def __init__(
        self, folder: Path, upstream_port: int, *replaced: tuple[str, str], name: str = DOCUMENTED_NAME
    ) -> None:
        """`replaced` are parts of the documented configuration, and what to write instead."""
        port = free_port()
        self.authority = Authority(folder)
        certificate, key = self.authority.issue(name)
        http = _DOCUMENTATION.read_text().partition("```nginx\n")[2].partition("```\n")[0]
        for documented, ours in (
            *replaced,
            ("127.0.0.1:8000", f"127.0.0.1:{upstream_port}"),
            ("listen 443", f"listen 127.0.0.1:{port}"),
            (f"/etc/ssl/{DOCUMENTED_NAME}.pem", str(certificate)),
            (f"/etc/ssl/{DOCUMENTED_NAME}.key", str(key)),
        ):
            assert http.count(documented) == 1, documented
            http = http.replace(documented, ours)
        super().__init__(folder, port, http)


class SharedNginx(Proxy):
    """A proxy of several applications on one host, of which Flagstaff has `/tools/flags/`."""

    def __init__(self, folder: Path, port: int, upstream_port: int) -> None:
        self.url = f"http://127.0.0.1:{port}{PATH_PREFIX}"
        http = (
            f"  server {{ listen 127.0.0.1:{port};\n"
            f"    location {PATH_PREFIX}/ {{ proxy_pass http://127.0.0.1:{upstream_port}; proxy_http_version 1.1;\n"
            '      proxy_set_header Connection ""; proxy_set_header Host $host; }\n'
            f"    location {PATH_PREFIX}/metrics {{ deny all; }}\n"
            '    location / { default_type text/html; return 200 "<title>Another application</title>"; }\n'
            "  }\n"
        )
        super().__init__(folder, port, http)


class StoringNginx(Proxy):
    """A proxy that stores responses, also those to POST. The header `X-Cache` says whether one was stored."""

    def __init__(self, folder: Path, upstream_port: int, others: str = "") -> None:
        """`others` are further directives."""
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        http = (
            f"  proxy_cache_path {folder}/stored keys_zone=stored:1m;\n"
            f"  server {{ listen 127.0.0.1:{port};\n"
            f"    location / {{ proxy_pass http://127.0.0.1:{upstream_port};\n"
            "      proxy_cache stored; proxy_cache_methods GET HEAD POST; proxy_cache_valid any 10m;\n"
            "      proxy_cache_key $request_method$request_uri;\n"
            f"      add_header X-Cache $upstream_cache_status always; {others} }}\n"
            "  }\n"
        )
        super().__init__(folder, port, http)
