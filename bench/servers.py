"""The servers that are measured, each of them one process on the same core."""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Self

from bench.machine import NotReadyError, free_port

SECRET_KEY = "a key for the bench, which everyone may know"
_START_SECONDS = 120
_STOP_SECONDS = 20
_NGINX_PARAMETER = 2_000
CHECKOUT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Switches:
    """The features of Flagstaff that are on besides evaluating.

    The limits are so high that they count but never refuse.
    """

    limiter: bool = True
    history: bool = True

    def __str__(self) -> str:
        off = [name for name in ("limiter", "history") if not getattr(self, name)]
        return f"without {', '.join(off)}" if off else "everything on"


class Server:
    """A process that serves HTTP. A context manager: leaving it ends the process."""

    def __init__(
        self,
        core: int | str,
        command: Sequence[str],
        log: Path,
        environ: dict[str, str] | None = None,
        folder: Path = CHECKOUT,
    ) -> None:
        self._folder = folder
        self._command = ("taskset", "-c", str(core), *command)
        self._environ = environ
        self._log = log

    def wait_until_it_answers(self, path: str) -> float:
        """Return the seconds from the start to the first answer."""
        deadline = time.perf_counter() + _START_SECONDS
        while time.perf_counter() < deadline and self._process.poll() is None:
            try:
                urllib.request.urlopen(self.url + path, timeout=5).close()
            except OSError:
                time.sleep(0.002)
            else:
                return time.perf_counter() - self._began
        raise NotReadyError(f"{self._command} did not start:\n{self._log.read_text()}")

    url = ""

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def __enter__(self) -> Self:
        self._began = time.perf_counter()
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, cwd=self._folder, env={**os.environ, **(self._environ or {})}
            )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        finally:
            self._process.kill()
            self._process.wait()


class FlagstaffServer(Server):
    """Flagstaff from this checkout, on a data directory."""

    def __init__(
        self,
        core: int | str,
        data: Path,
        switches: Switches,
        settings: Mapping[str, str] = MappingProxyType({}),
        *,
        module: str = "flagstaff",
        checkout: Path = CHECKOUT,
    ) -> None:
        """`settings` are variables in addition to those of the switches; `module` has the command `serve`.

        Another checkout must be built, and have the same schema as this one.
        """
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        environ = {
            "FLAGSTAFF_PORT": str(port),
            "FLAGSTAFF_DATA_DIR": str(data),
            "FLAGSTAFF_EVALUATE_RATE_LIMIT": "999999999/minute" if switches.limiter else "off",
            "FLAGSTAFF_API_RATE_LIMIT": "off",
            "FLAGSTAFF_SECRET_KEY": SECRET_KEY,
            **settings,
        }
        module = module if switches.history else "bench.without_history"
        python = sys.executable if checkout == CHECKOUT else str(checkout / ".venv" / "bin" / "python")
        command = (python, "-m", module, "serve")
        super().__init__(core, command, data.with_name(f"{port}.log"), environ, checkout)

    def wait_until_it_is_loaded(self) -> float:
        """Return the seconds from the start to the first answer of the management API, which is loaded last."""
        return self.wait_until_it_answers("/openapi.json")


class NginxServer(Server):
    """nginx serving the JSON files of a folder: from disk at `/name`, and from its configuration at `/memory/name`.

    Only the second answers a POST.
    """

    def __init__(self, core: int, folder: Path) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        configuration = folder / "nginx.conf"
        configuration.write_text(
            f"daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx-error.log;\n"
            "events {}\n"
            "http {\n"
            "  access_log off; sendfile on; open_file_cache max=100; keepalive_requests 1000000000;\n"
            "  default_type application/json;\n"
            f"  client_body_temp_path {folder}/bodies; proxy_temp_path {folder}/proxy;\n"
            f"  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;\n"
            f"  server {{\n  listen 127.0.0.1:{port}; root {folder};\n"
            + "".join(_answer_from_memory(file) for file in sorted(folder.glob("*.json")))
            + "  }\n"
            "}\n"
        )
        folder.chmod(0o755)
        super().__init__(core, ("nginx", "-p", str(folder), "-c", str(configuration)), folder / "nginx.log")


def _answer_from_memory(file: Path) -> str:
    """Return the location that answers with a file's bytes. A parameter of nginx has fewer than 4,096 bytes."""
    text = file.read_text()
    if {"$", "\\", "'"} & set(text):
        raise NotReadyError(f"{file.name} has characters that nginx would not return as they are.")
    parts = [text[start : start + _NGINX_PARAMETER] for start in range(0, len(text), _NGINX_PARAMETER)]
    variables = "".join(f"    set $part{place} '{part}';\n" for place, part in enumerate(parts))
    whole = "".join(f"${{part{place}}}" for place in range(len(parts)))
    return f"  location = /memory/{file.name} {{\n{variables}    return 200 {whole};\n  }}\n"


class UvicornServer(Server):
    """uvicorn with a minimal app that serves the files of a folder."""

    def __init__(self, core: int, folder: Path) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        command = (sys.executable, "-m", "bench.uvicorn_static", str(folder), str(port))
        super().__init__(core, command, folder / "uvicorn.log")
