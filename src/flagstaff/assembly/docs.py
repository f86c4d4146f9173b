"""The API's description and a page to browse it, which loads nothing from other hosts."""

import asyncio
import gzip
import hashlib
import threading
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import msgspec
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from flagstaff.http.compression import accepted_encodings
from flagstaff.http.decompression import decompressed
from flagstaff.serving.ofrep.description import describe_ofrep

# Swagger UI writes inline styles; scripts are loaded only from this server.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Flagstaff API</title>
<link rel="stylesheet" href="docs/assets/swagger-ui.css">
</head>
<body>
<main id="api"></main>
<script src="docs/assets/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""
_START = """SwaggerUIBundle({ url: "openapi.json", dom_id: "#api", deepLinking: true, persistAuthorization: false });
"""


class _Compressed(NamedTuple):
    """A document as it is sent, and its entity tag."""

    content: bytes
    tag: str


class Document:
    """A document that changes only with the version, so a client that has it gets a 304.

    It is read and compressed once, when it is first requested: anyone may ask for it, as often as they like. Only the
    compressed form is kept, because with both, a process would need 3 MB more.
    """

    def __init__(self, read: Callable[[], bytes], headers: Mapping[str, str]) -> None:
        self._read = read
        self._headers = headers
        self._compressed: _Compressed | None = None
        self._lock = threading.Lock()

    async def answer(self, request: Request) -> Response:
        """The document, or 304."""
        if self._compressed is None:
            await asyncio.to_thread(self.compress)
        content, tag = self.compress()
        # The tag is weak, because it names the document in both forms.
        unchanged = {"cache-control": "no-cache", "etag": f"W/{tag}", "vary": "Accept-Encoding"}
        if tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=unchanged)
        headers = {**self._headers, **unchanged}
        if "gzip" in accepted_encodings(request.scope):
            return Response(content, headers={**headers, "content-encoding": "gzip"})
        return decompressed(content, headers, request.scope)

    def compress(self) -> _Compressed:
        """The compressed form, which is made now if it is not there."""
        with self._lock:
            if self._compressed is None:
                body = self._read()
                tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
                self._compressed = _Compressed(gzip.compress(body, mtime=0), tag)
            return self._compressed


def add_docs(app: FastAPI, path_prefix: str) -> Mapping[str, Route]:
    """Add the descriptions of APIs and `/docs` to an application whose paths have a prefix; return their routes."""
    routes = {
        path: Route(path, document.answer, include_in_schema=False)
        for path, document in _documents(path_prefix).items()
    }
    app.routes.extend(routes.values())
    return routes


@cache
def _documents(path_prefix: str) -> dict[str, Document]:
    """The documents by path. A process may create several applications, which have the same."""
    return {**_descriptions(path_prefix), **_pages()}


def _descriptions(path_prefix: str) -> dict[str, Document]:
    """The descriptions: of the API the committed one, which a test compares with `describe_api`.

    They are read now, because after an upgrade, their files describe another version than the one that runs.
    """
    kind = {"content-type": "application/json"}

    def read_openapi() -> bytes:
        return _place(
            msgspec.json.format(files(__package__).joinpath("openapi.json").read_bytes(), indent=-1), path_prefix
        )

    def read_ofrep() -> bytes:
        return _place(describe_ofrep(), path_prefix)

    documents = {"/openapi.json": Document(read_openapi, kind), "/openapi/ofrep.json": Document(read_ofrep, kind)}
    for each in documents.values():
        each.compress()
    return documents


def _place(description: bytes, path_prefix: str) -> bytes:
    """Let a description say below which path its own paths are."""
    if not path_prefix:
        return description
    placed = msgspec.json.decode(description)
    placed["servers"] = [{"url": path_prefix}]
    return msgspec.json.encode(placed)


def _pages() -> dict[str, Document]:
    """The documents of `/docs`. They stay in memory: a client that reads a file slowly would keep it open."""
    package = find_spec("fastapi_offline")  # provides Swagger UI's files; its code is not used
    assert package is not None
    assert package.origin is not None
    folder = Path(package.origin).parent / "static"
    page = {"content-type": "text/html; charset=utf-8", "content-security-policy": _POLICY}
    script, style = ({"content-type": f"text/{kind}; charset=utf-8"} for kind in ("javascript", "css"))
    return {
        "/docs": Document(_PAGE.encode, page),
        "/docs/start.js": Document(_START.encode, script),
        "/docs/assets/swagger-ui-bundle.js": Document((folder / "swagger-ui-bundle.js").read_bytes, script),
        "/docs/assets/swagger-ui.css": Document((folder / "swagger-ui.css").read_bytes, style),
    }
