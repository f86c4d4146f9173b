"""Compresses answers for clients that accept it. Evaluations pass it by: their answers are small, and time counts.

An attacker who can choose a part of a compressed answer could guess secrets in it from its length (BREACH). For that,
a page of another site must make the browser send requests in someone's name. It cannot: a bearer token is no cookie.
"""

import asyncio
import re
import zlib

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LEAST_BYTES = 1_024  # less fits into one packet
_MOST_BYTES_AT_ONCE = 64 * 1_024  # take less than a millisecond; more is compressed in a thread
_LEVEL = 1  # 4 takes twice as long for 6 % less
_GZIP = 16 + zlib.MAX_WBITS
_TEXT = re.compile(rb"application/(.+\+)?json|application/javascript|text/(?!event-stream)")
_ACCEPTED_MAX_LENGTH = 500  # browsers send about 30, and parsing it takes time


class Compression:
    """Middleware that compresses text, such as JSON, piece by piece. A stream of events stays as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _may_be_compressed(scope):
            await self._app(scope, receive, _Answer(send).send)
        else:
            await self._app(scope, receive, send)


class _Answer:
    """An answer on its way. The head of a text waits for its first piece."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._head: Message | None = None
        self._compressor: zlib._Compress | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_text(message):
            self._head = message
            return
        if self._head is not None:
            head, self._head = self._head, None
            if _is_worth_it(head, message):
                self._compressor = zlib.compressobj(_LEVEL, wbits=_GZIP)
                head = {**head, "headers": _headers_compressed(head)}
            await self._send(head)
        if self._compressor is not None:
            message = {**message, "body": await self._compress(message)}
        await self._send(message)

    async def _compress(self, message: Message) -> bytes:
        assert self._compressor is not None
        body = message.get("body", b"")
        if len(body) <= _MOST_BYTES_AT_ONCE:
            compressed = self._compressor.compress(body)
        else:
            compressed = await asyncio.to_thread(self._compressor.compress, body)
        return compressed if message.get("more_body") else compressed + self._compressor.flush()


def accepted_encodings(header: str) -> set[str]:
    """The encodings that a client accepts: those in the header without `q=0`; none if it is unusually long."""
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
    values = (value for name, value in scope["headers"] if name == b"accept-encoding")
    return "gzip" in accepted_encodings(b",".join(values).decode("latin-1"))


def _is_text(head: Message) -> bool:
    headers = dict(head.get("headers", ()))
    return b"content-encoding" not in headers and _TEXT.match(headers.get(b"content-type", b"")) is not None


def _is_worth_it(head: Message, first: Message) -> bool:
    headers = dict(head.get("headers", ()))
    length = headers.get(b"content-length") or (None if first.get("more_body") else len(first.get("body", b"")))
    return length is None or int(length) >= _LEAST_BYTES


def _headers_compressed(head: Message) -> list[tuple[bytes, bytes]]:
    """The headers of the compressed answer: its length is not known, and its ETag is weak, as the bytes are others."""
    headers = [
        (name, b"W/" + value if name == b"etag" and not value.startswith(b"W/") else value)
        for name, value in head["headers"]
        if name != b"content-length"
    ]
    return [*headers, (b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding")]
