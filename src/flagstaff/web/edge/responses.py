"""Responses: JSON, encoded at once from what a view made, and whole responses for where there is no application."""

from collections.abc import Iterable
from typing import Any

import msgspec
from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from flagstaff.web.edge.errors import Problem

_encoder = msgspec.json.Encoder()


def json_response(value: Any, status: int = 200) -> Response:
    """A JSON response; no cache may keep it, since it is somebody's and may change at any time."""
    return Response(
        _encoder.encode(value), status_code=status, media_type="application/json", headers={"cache-control": "no-store"}
    )


def no_content() -> Response:
    """The answer to a deletion."""
    return Response(status_code=204)


def raw_response(
    answer: Problem, default_headers: Iterable[tuple[bytes, bytes]], headers: Iterable[tuple[bytes, bytes]]
) -> bytes:
    """A whole response as uvicorn would write it."""
    lines = [name + b": " + value + b"\r\n" for name, value in (*default_headers, *answer.headers, *headers)]
    return b"".join((STATUS_LINE[answer.status], *lines, b"\r\n", answer.body))
