"""Serves a stream of server-sent events: its head, its first event, and then nothing until it ends.

serving/streams.py writes the other events.
"""

import random
from asyncio import Transport
from collections.abc import Awaitable, Callable, Iterable

from starlette.types import Receive, Scope, Send

from flagstaff.concurrency.pacing import pause
from flagstaff.http.connections.protocol import TRANSPORT
from flagstaff.http.responses import IS_STREAM
from flagstaff.serving.streams import Stream
from flagstaff.values.errors import Error

_HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store, no-transform"),  # some proxies collect events to compress them
    (b"x-accel-buffering", b"no"),  # nginx would collect events until it has some kilobytes of them
)
# When the server stops, its clients connect again over this time instead of all at once.
_RETRY_MILLISECONDS = (500, 5_000)


async def serve_stream(
    scope: Scope,
    receive: Receive,
    send: Send,
    *,
    make_stream: Callable[[Transport], Stream],
    begin: Callable[[Stream], Awaitable[bytes | Iterable[bytes]]],
    end: Callable[[Stream], None],
) -> None:
    """Serve a stream until the client or the server ends it.

    `begin` opens it and returns its first event, in chunks if it may be long; if it raises an Error, the stream ends at
    once. `end` is called in any case.
    """
    scope["state"][IS_STREAM] = True
    await send({"type": "http.response.start", "status": 200, "headers": [*_HEADERS]})
    stream = make_stream(scope["extensions"][TRANSPORT])
    try:
        first = await begin(stream)
        if isinstance(first, bytes):
            stream.send_first(retry_line() + first)
        else:
            await _send_chunks(stream, first, send)
        while (await receive())["type"] != "http.disconnect":
            pass
    except Error:
        stream.end()
    finally:
        end(stream)


async def _send_chunks(stream: Stream, chunks: Iterable[bytes], send: Send) -> None:
    """Send the first event, each chunk when the client has taken enough of those before it.

    Other events have to wait until it ends. If there were any, the client connects again and gets the present state.
    """
    stream.is_beginning = True
    before = retry_line()
    for chunk in chunks:
        await send({"type": "http.response.body", "body": before + chunk, "more_body": True})
        before = b""
        await pause()
    stream.is_beginning = False
    if stream.has_missed:
        stream.end()


def event(name: str | None, number: int, data: bytes) -> bytes:
    """A server-sent event; `data` is one line."""
    before, after = event_frame(name, number)
    return before + data + after


def event_frame(name: str | None, number: int) -> tuple[bytes, bytes]:
    """Return the bytes before an event's line of data, and those after it."""
    return b"id: %d\n" % number + (b"event: %b\n" % name.encode() if name else b"") + b"data: ", b"\n\n"


def retry_line() -> bytes:
    """Return the line that sets the client's pause before it connects again: a different one for each."""
    return b"retry: %d\n\n" % random.randint(*_RETRY_MILLISECONDS)  # noqa: S311 - no secret
