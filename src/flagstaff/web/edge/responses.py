"""Responses: JSON, encoded from what a view made, at once or in pieces; and whole ones for where no application is."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from time import perf_counter
from typing import Any

import msgspec
from starlette.responses import Response, StreamingResponse
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from flagstaff.web.edge.errors import Problem

PIECE_SECONDS = 0.001
_HEADERS = {"cache-control": "no-store"}
_encoder = msgspec.json.Encoder()
encode_json = _encoder.encode


def json_response(value: Any, status: int = 200) -> Response:
    """A JSON response; no cache may keep it, since it is somebody's and may change at any time."""
    return Response(_encoder.encode(value), status_code=status, media_type="application/json", headers=_HEADERS)


def json_stream(pieces: Iterator[bytes]) -> Response:
    """A JSON response made piece by piece while it is sent; after each millisecond of making, others have their turn.

    Each piece should take well under a millisecond.
    """
    return StreamingResponse(_gathered(pieces), media_type="application/json", headers=_HEADERS)


async def _gathered(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    gathered, began = bytearray(), perf_counter()
    for piece in pieces:
        gathered += piece
        if perf_counter() - began > PIECE_SECONDS:
            yield bytes(gathered)
            gathered.clear()
            await asyncio.sleep(0)
            began = perf_counter()
    yield bytes(gathered)


def no_content() -> Response:
    """The answer to a deletion."""
    return Response(status_code=204)


def raw_response(
    answer: Problem, default_headers: Iterable[tuple[bytes, bytes]], headers: Iterable[tuple[bytes, bytes]]
) -> bytes:
    """A whole response as uvicorn would write it."""
    lines = [name + b": " + value + b"\r\n" for name, value in (*default_headers, *answer.headers, *headers)]
    return b"".join((STATUS_LINE[answer.status], *lines, b"\r\n", answer.body))
