"""A local npm registry with one package, which tests can tamper with."""

import base64
import hashlib
import io
import json
import tarfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any


class Registry:
    """Serves the package pennant with any contents."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        handler = partial(_QuietHandler, directory=str(folder))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/"

    def offer(self, script: str) -> str:
        """Serve pennant 1.0.0 with this script in it, and an install script. Return its hash."""
        packed = _pack(
            {
                "package.json": json.dumps(
                    {"name": "pennant", "version": "1.0.0", "scripts": {"postinstall": "touch ran"}}
                ),
                "index.js": script,
            }
        )
        integrity = f"sha512-{base64.b64encode(hashlib.sha512(packed).digest()).decode()}"
        (self._folder / "pennant-1.0.0.tgz").write_bytes(packed)
        dist = {"tarball": f"{self.url}pennant-1.0.0.tgz", "integrity": integrity}
        versions = {"1.0.0": {"name": "pennant", "version": "1.0.0", "hasInstallScript": True, "dist": dist}}
        (self._folder / "pennant").write_text(
            json.dumps({"name": "pennant", "dist-tags": {"latest": "1.0.0"}, "versions": versions})
        )
        return integrity

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (so it is named there)
        """Log nothing."""


def _pack(files: dict[str, str]) -> bytes:
    """A package as npm packs it."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()
