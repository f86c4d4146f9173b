"""Answers files that are kept in memory only as gzip has compressed them to the few clients that do not accept that."""

import zlib
from collections.abc import AsyncIterator, Mapping

from starlette.responses import Response, StreamingResponse

from flagstaff.concurrency.pacing import Turns

_PIECE_BYTES = 64 * 1024  # take a quarter of a millisecond
_GZIP = 31  # zlib's word for it


def decompressed(compressed: bytes, headers: Mapping[str, str]) -> Response:
    """A response with the content, which is decompressed as it is sent, in pieces."""
    length = int.from_bytes(compressed[-4:], "little")  # RFC 1952, 2.3.1
    return StreamingResponse(_pieces(compressed), headers={**headers, "content-length": str(length)})


async def _pieces(compressed: bytes) -> AsyncIterator[bytes]:
    turns, content = Turns(), zlib.decompressobj(_GZIP)
    while piece := content.decompress(compressed, _PIECE_BYTES):
        yield piece
        compressed = content.unconsumed_tail
        await turns.give()
