"""Serves a stream of server-sent events: its head, its first event, and then nothing until it ends.

serving/streams.py writes the other events.
"""

import random
from asyncio import Transport
from collections.abc import Awaitable, Callable

from starlette.types import Receive, Scope, Send

from flagstaff.http.protocol import TRANSPORT
from flagstaff.http.responses import IS_STREAM
from flagstaff.serving.streams import Stream
from flagstaff.values.errors import Error

_HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
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
    begin: Callable[[Stream], Awaitable[bytes]],
    end: Callable[[Stream], None],
) -> None:
    """Serve a stream until the client or the server ends it.

    `begin` opens it and returns its first event; if it raises an Error, the stream ends at once. `end` is called in any
    case.
    """
    scope["state"][IS_STREAM] = True
    await send({"type": "http.response.start", "status": 200, "headers": [*_HEADERS]})
    stream = make_stream(scope["extensions"][TRANSPORT])
    try:
        stream.begin(retry_line() + await begin(stream))
        while (await receive())["type"] != "http.disconnect":
            pass
    except Error:
        stream.end()
    finally:
        end(stream)


def event(name: str | None, number: int, data: bytes) -> bytes:
    """A server-sent event; `data` is one line."""
    head = b"id: %d\n" % number
    return head + (b"event: %b\n" % name.encode() if name else b"") + b"data: " + data + b"\n\n"


def retry_line() -> bytes:
    """Return the line that sets the client's pause before it connects again: a different one for each."""
    return b"retry: %d\n\n" % random.randint(*_RETRY_MILLISECONDS)  # noqa: S311 - no secret
