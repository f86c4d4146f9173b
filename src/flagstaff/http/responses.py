"""Responses: JSON encoded at once or in pieces, and complete responses for use outside the application."""

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import msgspec
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from flagstaff.concurrency.pacing import pause
from flagstaff.concurrency.worker import in_worker, joined_in_worker
from flagstaff.http.errors import Problem

_encoder = msgspec.json.Encoder()
encode_json = _encoder.encode
_PART_BYTES = 64 * 1024  # how much the server buffers for a client before the sender must wait
# How much is sent at once: what is ready in memory would become megabytes in a millisecond, and take as long to send.
_MOST_BYTES = 256 * 1024

IS_STREAM = "is_stream"
"""The name in a request's state by which its response says that it is a stream of events."""


ENDS_WITH_CLIENT = "ends_with_client"
"""The name in a request's state by which it says that its work ends once the client has finished sending."""


def encoded(value: Any) -> msgspec.Raw:
    """A value as its JSON, for a place in a larger one. Long lists are encoded like that."""
    return msgspec.Raw(_encoder.encode(value))


def json_response(value: Any, status: int = 200) -> Response:
    """A JSON response."""
    return Response(_encoder.encode(value), status_code=status, media_type="application/json")


async def json_array_response(
    items: Iterable[Any], headers: Mapping[str, str] | None = None, status: int = 200
) -> Response:
    """A JSON array of any length, encoded in parts in the worker thread."""
    return await json_parts_response(b"[", items, b"]", headers, status)


async def json_parts_response(
    before: bytes, items: Iterable[Any], after: bytes, headers: Mapping[str, str] | None = None, status: int = 200
) -> Response:
    """The same with the array inside of other JSON, of which `before` ends with its bracket and `after` begins so."""
    pieces = chain((before,), _separated(items), (after,))
    parts = deque([part async for part in joined_in_worker(pieces, _PART_BYTES)])
    return _PartsResponse(parts, headers or {}, status)


def json_array_stream(batches: AsyncIterator[Iterable[Any]]) -> Response:
    """A JSON array whose items arrive in batches, each of which is encoded in parts and sent before the next.

    If a batch cannot be had, the response ends without the array's end.
    """
    return StreamingResponse(_batch_by_batch(batches), media_type="application/json")


async def _batch_by_batch(batches: AsyncIterator[Iterable[Any]]) -> AsyncIterator[bytes]:
    before = b"["
    async for batch in batches:
        async for part in joined_in_worker(chain((before,), _separated(batch)), _PART_BYTES):
            yield part
        before = b","
    yield b"]"


def json_stream(pieces: Iterable[bytes], free: Callable[[], None] | None = None) -> Response:
    """A JSON response whose pieces are made in the worker thread as it is sent; at the end, `free` is called there."""
    return StreamingResponse(_stream(pieces, free), media_type="application/json")


def json_page(
    items: Iterable[Iterable[bytes]], next_cursor: str | None, free: Callable[[], None] | None = None
) -> Response:
    """A page of a long list as a `json_stream`. Each item is given as its JSON in pieces."""
    return json_stream(_page(items, next_cursor), free)


async def _stream(pieces: Iterable[bytes], free: Callable[[], None] | None) -> AsyncIterator[bytes]:
    async for part in joined_in_worker(pieces, _MOST_BYTES):
        yield part
    if free is not None:
        await in_worker(free)


def _page(items: Iterable[Iterable[bytes]], next_cursor: str | None) -> Iterator[bytes]:
    yield b'{"items":['
    for place, pieces in enumerate(items):
        if place:
            yield b","
        yield from pieces
    yield b'],"next_cursor":' + encode_json(next_cursor) + b"}"


def _separated(items: Iterable[Any]) -> Iterator[bytes]:
    """The JSON of each item, with commas between them."""
    for place, item in enumerate(items):
        if place:
            yield b","
        yield encode_json(item)


def no_content() -> Response:
    """The response to a deletion."""
    return Response(status_code=204)


def raw_response(
    answer: Problem, default_headers: Iterable[tuple[bytes, bytes]], headers: Iterable[tuple[bytes, bytes]]
) -> bytes:
    """A whole response as uvicorn would write it."""
    lines = [name + b": " + value + b"\r\n" for name, value in (*default_headers, *answer.headers, *headers)]
    return b"".join((STATUS_LINE[answer.status], *lines, b"\r\n", answer.body))


class _PartsResponse(Response):
    """A body in parts, each of which is released when it is sent."""

    def __init__(self, parts: deque[bytes], headers: Mapping[str, str], status: int) -> None:
        length = str(sum(map(len, parts)))
        super().__init__(None, status, media_type="application/json", headers={**headers, "content-length": length})
        self._parts = parts

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        while self._parts:
            part = self._parts.popleft()
            await send({"type": "http.response.body", "body": part, "more_body": bool(self._parts)})
            if self._parts:
                await pause()
