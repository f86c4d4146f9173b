"""The API's description and a page to browse it, which loads nothing from other hosts."""

import gzip
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import msgspec
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

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
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
</head>
<body>
<main id="api"></main>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""
_START = """SwaggerUIBundle({ url: "/openapi.json", dom_id: "#api", deepLinking: true, persistAuthorization: false });
"""


class _Document:
    """A document that changes only with the version, so a client that has it gets a 304.

    It is compressed once: anyone may ask for it, as often as they like. Only that form is kept, because a process at
    rest would need 3 MB more with both.
    """

    def __init__(self, body: bytes, headers: Mapping[str, str]) -> None:
        self._compressed = gzip.compress(body, mtime=0)
        self._tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        # The tag is weak, because it names the document in both forms.
        self._unchanged = {"cache-control": "no-cache", "etag": f"W/{self._tag}", "vary": "Accept-Encoding"}
        self._headers = {**headers, **self._unchanged}

    async def answer(self, request: Request) -> Response:
        """The document, or 304."""
        if self._tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=self._unchanged)
        if "gzip" in accepted_encodings(request.scope):
            return Response(self._compressed, headers={**self._headers, "content-encoding": "gzip"})
        return decompressed(self._compressed, self._headers, request.scope)


def add_docs(app: FastAPI) -> None:
    """Add the descriptions of APIs and `/docs` to an application."""
    for path, document in _documents().items():
        app.add_route(path, document.answer, include_in_schema=False)


@cache
def _documents() -> dict[str, _Document]:
    """The documents by path. A process may create several applications, which have the same."""
    return {**_descriptions(), **_pages()}


def _descriptions() -> dict[str, _Document]:
    """The descriptions: of the API the committed one, which a test compares with `describe_api`."""
    described = files(__package__).joinpath("openapi.json").read_bytes()
    kind = {"content-type": "application/json"}
    return {
        "/openapi.json": _Document(msgspec.json.format(described, indent=-1), kind),
        "/openapi/ofrep.json": _Document(describe_ofrep(), kind),
    }


def _pages() -> dict[str, _Document]:
    """The documents of `/docs`. They stay in memory: a client that reads a file slowly would keep it open."""
    package = find_spec("fastapi_offline")  # provides Swagger UI's files; its code is not used
    assert package is not None
    assert package.origin is not None
    folder = Path(package.origin).parent / "static"
    page = {"content-type": "text/html; charset=utf-8", "content-security-policy": _POLICY}
    script, style = ({"content-type": f"text/{kind}; charset=utf-8"} for kind in ("javascript", "css"))
    return {
        "/docs": _Document(_PAGE.encode(), page),
        "/docs/start.js": _Document(_START.encode(), script),
        "/docs/assets/swagger-ui-bundle.js": _Document((folder / "swagger-ui-bundle.js").read_bytes(), script),
        "/docs/assets/swagger-ui.css": _Document((folder / "swagger-ui.css").read_bytes(), style),
    }
