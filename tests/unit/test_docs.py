"""The documents of `/docs`, which are compressed when they are first requested."""

import asyncio
from collections.abc import Iterator

import pytest
from starlette.requests import Request

from flagstaff.assembly.docs import Document

REQUEST = Request({"type": "http", "method": "GET", "headers": [(b"accept-encoding", b"gzip")]})


async def test_a_file_that_cannot_be_read_is_read_again_for_the_next_request() -> None:
    reads: Iterator[OSError | bytes] = iter([OSError("the disk is away"), b"content"])

    def read() -> bytes:
        outcome = next(reads)
        if isinstance(outcome, OSError):
            raise outcome
        return outcome

    document = Document(read, {})
    with pytest.raises(OSError, match="away"):
        await document.answer(REQUEST)
    assert (await document.answer(REQUEST)).status_code == 200


async def test_the_first_requests_at_the_same_time_read_it_once() -> None:
    reads: list[None] = []

    def read() -> bytes:
        reads.append(None)
        return b"content" * 100_000

    document = Document(read, {"content-type": "text/plain"})
    answers = await asyncio.gather(*(document.answer(REQUEST) for _ in range(20)))
    assert len(reads) == 1
    assert len({(bytes(answer.body), answer.headers["etag"]) for answer in answers}) == 1
