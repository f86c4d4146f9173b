"""The dashboard: its page at every path that has no other use, and its files, which the build compresses.

The page may load resources only from this server and run scripts only from files. Inline styles need a nonce, which is
new for every page.
"""

import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.http.clients import IS_FREE
from flagstaff.http.compression import accepted_encodings
from flagstaff.http.decompression import decompressed
from flagstaff.http.operations import READING
from flagstaff.http.probes import INTERNAL_PATHS

DIRECTORY = Path(__file__).parent / "static"

# A mistyped path below one of these gets the API's 404 instead of the page.
_OTHERS = re.compile(rf"/(api|auth|sdk|assets|{INTERNAL_PATHS})(/|$)")
_NONCE = "FLAGSTAFF_NONCE"
REGISTRATION, DOCS = "FLAGSTAFF_REGISTRATION", "FLAGSTAFF_DOCS"
"""The words of the page for whether registration is open or closed, and whether `/docs` is here or elsewhere."""
PATH_PREFIX, FILES = "FLAGSTAFF_PATH_PREFIX", '="./'
"""The word of the page for the path prefix, and the beginning of the addresses of its files."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; "
    "img-src 'self' data:; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
_NO_CACHE = {"cache-control": "no-cache"}
# The names of these files contain a hash of their content.
_FOR_A_YEAR = {"cache-control": "public, max-age=31536000, immutable"}
_NOT_BUILT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>Flagstaff</title>
<h1>The dashboard has not been built</h1>
<p>Run <code>make dashboard</code> and reload this page. The API works: see the <a href="./docs">API reference</a>.</p>
</html>
"""


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the dashboard in all available encodings.

    The body under the empty name is not compressed. Only small files have it, which the build does not compress.
    """

    media_type: str
    headers: Mapping[str, str]
    bodies: Mapping[str, bytes]


class Dashboard:
    """Answers requests that match no route of the application. It reads its files only once."""

    def __init__(
        self,
        not_found: ASGIApp,
        directory: Path = DIRECTORY,
        *,
        find_words: Callable[[Scope], Awaitable[Mapping[str, str]]],
    ) -> None:
        """Requests that do not belong to the dashboard are passed to `not_found`.

        `find_words` finds what to write into the page for each of its words.
        """
        self._not_found = not_found
        self._find_words = find_words
        page = directory / "index.html"
        self._page = page.read_text() if page.is_file() else None
        self._files = _read_files(directory)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_read = scope["type"] == "http" and scope["method"] in READING
        answer = await self._find(scope) if is_read else None
        await (answer or self._not_found)(scope, receive, send)

    async def _find(self, scope: Scope) -> Response | None:
        file = self._files.get(scope["path"])
        if file is not None:
            scope.setdefault("state", {})[IS_FREE] = True
            return _file_response(file, scope)
        is_page = "text/html" in Headers(scope=scope).get("accept", "") and not _OTHERS.match(scope["path"])
        return await self._page_response(scope) if is_page or scope["path"] == "/" else None

    async def _page_response(self, scope: Scope) -> Response:
        nonce = secrets.token_urlsafe(16)
        headers = {**_NO_CACHE, "content-security-policy": _POLICY.format(nonce=nonce), "vary": "Accept"}
        page = self._page or _NOT_BUILT
        for word, text in {_NONCE: nonce, **await self._find_words(scope)}.items():
            page = page.replace(word, text)
        return HTMLResponse(page, 200 if self._page else 503, headers=headers)


def _read_files(directory: Path) -> Mapping[str, _File]:
    """All files by path."""
    return {
        f"/{path.relative_to(directory).as_posix()}": _read(path, directory)
        for path in sorted(directory.rglob("*"))
        if path.suffix in _MEDIA_TYPES
    }


def _read(path: Path, directory: Path) -> _File:
    bodies = {}
    for encoding, suffix in _ENCODINGS:
        compressed = path.with_name(path.name + suffix)
        if compressed.is_file():
            bodies[encoding] = compressed.read_bytes()
    if "gzip" not in bodies:
        bodies[""] = path.read_bytes()
    is_fingerprinted = path.relative_to(directory).parts[0] == "assets"
    return _File(_MEDIA_TYPES[path.suffix], _FOR_A_YEAR if is_fingerprinted else _NO_CACHE, bodies)


def _file_response(file: _File, scope: Scope) -> Response:
    wanted = accepted_encodings(scope)
    encoding = next((name for name, _ in _ENCODINGS if name in wanted and name in file.bodies), "")
    headers = {**file.headers, "content-type": file.media_type, "vary": "Accept-Encoding"}
    if encoding:
        headers["content-encoding"] = encoding
    elif "" not in file.bodies:
        return decompressed(file.bodies["gzip"], headers, scope)
    return Response(file.bodies[encoding], headers=headers)
