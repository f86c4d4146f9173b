"""Files that are decompressed for clients that do not accept gzip."""

import gzip
import random
import tracemalloc

from starlette.responses import StreamingResponse

from flagstaff.http.decompression import decompressed


async def test_client_that_reads_slowly_takes_little_memory() -> None:
    compressed = gzip.compress(random.Random(1).randbytes(1_000_000))
    tracemalloc.start()
    try:
        response = decompressed(compressed, {}, {"method": "GET"})
        assert isinstance(response, StreamingResponse)
        await anext(aiter(response.body_iterator))
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < 200_000
