"""The page in docs/openfeature.md, bundled with the released packages and served with the documented policy."""

import asyncio
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Self

from hatch_build import CLIENTS, ROOT
from tests.support.documented_code import code_in

PUBLIC_URL = "https://flags.example.com"
_FLAGS, _SHOP = code_in("openfeature.md", "Pages", "js")
(_HTML,) = code_in("openfeature.md", "Pages", "html")
(_POLICY,) = code_in("openfeature.md", "Pages", "http")
(_SERVER,) = code_in("openfeature.md", "Pages", "python")
_SCRIPT = '<script type="module"'
_BUNDLER = ROOT / "dashboard" / "node_modules" / "rolldown" / "bin" / "cli.mjs"


def documented_server(flags_url: str, server_key: str) -> Any:
    """The functions with which the page's server fetches flags, patiently: the machine may be busy."""
    functions: dict[str, Any] = {"server_key": server_key}
    exec(_SERVER.replace(PUBLIC_URL, flags_url).replace("timeout=0.5", "timeout=30"), functions)
    return functions


class ShopPage:
    """A context manager that serves the page at an origin of its own."""

    def __init__(
        self,
        directory: Path,
        flags_url: str,
        key: str,
        *,
        changes: Mapping[str, str] | None = None,
        make_block: Callable[[], str] = str,
        policy_url: str | None = None,
    ) -> None:
        """`changes` are replacements in the scripts.

        `make_block` makes the block of data of each page. The policy allows `policy_url`, or the flags' own address.
        """
        self._directory = directory
        self._address = {PUBLIC_URL: flags_url, "BROWSER_KEY": key}
        self._changes = changes or {}
        self._make_block = make_block
        self.policy = _POLICY.strip().partition(": ")[2].replace(PUBLIC_URL, policy_url or flags_url)

    async def __aenter__(self) -> Self:
        self._script = await self._bundle()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self._thread = Thread(target=self._server.serve_forever)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def find(self, path: str) -> tuple[str, str] | None:
        """The type and the text of a file."""
        if path == "/":
            return "text/html", _HTML.replace(_SCRIPT, self._make_block() + _SCRIPT)
        return ("text/javascript", self._script) if path == "/shop.js" else None

    async def _bundle(self) -> str:
        for name, source in (("flags.js", _FLAGS), ("shop.js", _SHOP)):
            changed = source
            for old, new in {**self._address, **self._changes}.items():
                changed = changed.replace(old, new)
            (self._directory / name).write_text(changed)
        (self._directory / "node_modules").symlink_to(CLIENTS / "node_modules")
        node = shutil.which("node") or str(ROOT / ".venv" / "bin" / "node")
        arguments = (node, _BUNDLER, "shop.js", "--file", "bundle.js")
        process = await asyncio.create_subprocess_exec(*arguments, cwd=self._directory)
        assert await process.wait() == 0
        return (self._directory / "bundle.js").read_text()


class _Handler(BaseHTTPRequestHandler):
    """Answers one request for the page or its script."""

    def __init__(self, page: ShopPage, *given: Any) -> None:
        self._page = page
        super().__init__(*given)

    def do_GET(self) -> None:
        """Send a file."""
        found = self._page.find(self.path)
        kind, text = found or ("text/plain", "")
        body = text.encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", self._page.policy)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Write nothing."""
