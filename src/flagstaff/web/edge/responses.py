"""JSON responses, encoded at once from what a view made; no schema library stands between."""

from collections import deque
from collections.abc import Generator, Iterable, Mapping
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from flagstaff.pacing import in_pieces, pause

_encoder = msgspec.json.Encoder()
_PART_BYTES = 64 * 1024  # what the server buffers for a client before it has the sender wait
# No cache may keep an answer, since it is somebody's and may change at any time.
_HEADERS = {"cache-control": "no-store"}


def json_response(value: Any, status: int = 200) -> Response:
    """A JSON response."""
    return Response(_encoder.encode(value), status_code=status, media_type="application/json", headers=_HEADERS)


async def json_array_response(items: Iterable[Any], headers: Mapping[str, str] | None = None) -> Response:
    """A JSON array, however long, encoded and sent in pieces that let evaluations between."""
    return _PartsResponse(await in_pieces(_encode(items)), {**_HEADERS, **(headers or {})})


def no_content() -> Response:
    """The answer to a deletion."""
    return Response(status_code=204)


def _encode(items: Iterable[Any]) -> Generator[None, None, deque[bytes]]:
    """The array in parts. It is whole before the first is sent, so that nothing can fail in the middle."""
    parts: deque[bytes] = deque()
    part = bytearray(b"[")
    for item in items:
        if part[-1:] != b"[" or parts:
            part += b","
        _encoder.encode_into(item, part, -1)
        if len(part) >= _PART_BYTES:
            parts.append(bytes(part))
            part.clear()
        yield
    parts.append(bytes(part + b"]"))
    return parts


class _PartsResponse(Response):
    """A body in parts, each of which is forgotten when it is sent."""

    def __init__(self, parts: deque[bytes], headers: Mapping[str, str]) -> None:
        length = str(sum(map(len, parts)))
        super().__init__(None, media_type="application/json", headers={**headers, "content-length": length})
        self._parts = parts

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        while self._parts:
            part = self._parts.popleft()
            await send({"type": "http.response.body", "body": part, "more_body": bool(self._parts)})
            if self._parts:
                await pause()
