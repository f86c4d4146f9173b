"""Answers files that are kept in memory only as gzip has compressed them to the few clients that do not accept that."""

import zlib
from collections.abc import AsyncIterator, Mapping

from starlette.responses import Response, StreamingResponse
from starlette.types import Scope

from flagstaff.concurrency.pacing import Turns

_PIECE_BYTES = 8 * 1024  # become up to 150 kB, which take a quarter of a millisecond
_GZIP = 31  # zlib's word for it


def decompressed(compressed: bytes, headers: Mapping[str, str], scope: Scope) -> Response:
    """The response to a GET request with the content, which is decompressed as it is sent, in pieces, or to HEAD."""
    length = int.from_bytes(compressed[-4:], "little")  # RFC 1952, 2.3.1
    headers = {**headers, "content-length": str(length)}
    if scope["method"] == "HEAD":
        return Response(headers=headers)
    return StreamingResponse(_pieces(compressed), headers=headers)


async def _pieces(compressed: bytes) -> AsyncIterator[bytes]:
    """The content. It takes little memory for each client, of which many may read slowly: what is left is no copy."""
    turns, content = Turns(), zlib.decompressobj(_GZIP)
    for start in range(0, len(compressed), _PIECE_BYTES):
        yield content.decompress(compressed[start : start + _PIECE_BYTES])
        await turns.give()
