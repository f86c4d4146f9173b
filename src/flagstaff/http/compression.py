"""Compresses answers for clients that accept it. Evaluations pass it by: their answers are small, and time counts.

An attacker who can choose a part of a compressed answer could guess secrets in it from its length (BREACH). For that,
a page of another site must make the browser send requests in someone's name. It cannot: a bearer token is no cookie.
"""

import re

from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipResponder
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LEAST_BYTES = 1_024  # less fits into one packet
_MOST_BYTES_AT_ONCE = 64 * 1_024  # take less than a millisecond; more is compressed in a thread
_LEVEL = 1  # 4 takes twice as long for 6 % less
_NOT_TEXT = (*DEFAULT_EXCLUDED_CONTENT_TYPES, "application/octet-stream")
_ACCEPTED_MAX_LENGTH = 500  # browsers send about 30, and parsing it takes time


class Compression:
    """Compresses with Starlette, piece by piece. Events stay as they are.

    Starlette's middleware would read only the first of several `Accept-Encoding` headers, so it does not decide here.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _may_be_compressed(scope):
            await self._app(scope, receive, send)
            return

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                _weaken_tag(message)
            await send(message)

        compressed = GZipResponder(
            self._app,
            _LEAST_BYTES,
            compresslevel=_LEVEL,
            thread_minimum_size=_MOST_BYTES_AT_ONCE,
            exclude_content_types=_NOT_TEXT,
        )
        await compressed(scope, receive, send_on)


def accepted_encodings(scope: Scope) -> set[str]:
    """The encodings that a client accepts: those in its headers without `q=0`; none if these are unusually long."""
    values = (value for name, value in scope["headers"] if name == b"accept-encoding")
    header = b",".join(values).decode("latin-1")
    found: set[str] = set()
    if len(header) > _ACCEPTED_MAX_LENGTH:
        return found
    for part in header.lower().split(","):
        name, *parameters = (each.strip() for each in part.split(";"))
        if not any(re.fullmatch(r"q=0(\.0*)?", each) for each in parameters):
            found.add(name)
    return found


def _may_be_compressed(scope: Scope) -> bool:
    """Return whether the client accepts it. HTTP/1.0 needs a length or the connection's end, not uvicorn's chunks."""
    if scope["method"] == "HEAD" or scope.get("http_version") == "1.0":
        return False
    return "gzip" in accepted_encodings(scope)


def _weaken_tag(head: Message) -> None:
    """Make the ETag of a compressed answer weak: its bytes are not those for clients that do not accept gzip."""
    headers = head["headers"]
    if (b"content-encoding", b"gzip") in headers:
        head["headers"] = [
            (name, b"W/" + value if name == b"etag" and not value.startswith(b"W/") else value)
            for name, value in headers
        ]
