"""A stream of server-sent events: its head, its first event, and then nothing until it ends.

serving/streams.py writes the other events.
"""

import random
from asyncio import Transport
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from starlette.types import Receive, Scope, Send

from flagstaff.concurrency.pacing import pause
from flagstaff.history.applications import Client
from flagstaff.history.callers import Caller
from flagstaff.http.connections.protocol import TRANSPORT
from flagstaff.http.responses import IS_STREAM
from flagstaff.projects.sdk_keys import KeyInForce
from flagstaff.serving.page_origins import may_use
from flagstaff.values.errors import Error

UNREAD_MAX_BYTES = 64 * 1024  # what a client may leave unread before another event closes its connection
COMMENT = b":\n\n"
_LAST_CHUNK = b"0\r\n\r\n"
_HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store, no-transform"),  # some proxies collect events to compress them
    (b"x-accel-buffering", b"no"),  # nginx would collect events until it has some kilobytes of them
)
# When the server stops, its clients connect again over this time instead of all at once.
_RETRY_MILLISECONDS = (500, 5_000)
# If more end at the same time than these seconds are enough for, they are told to connect again over a longer time, at
# this rate. OpenFeature's client gives up a stream that is interrupted for 30 seconds.
_RECONNECTIONS_PER_SECOND, _RETRY_MAX_MILLISECONDS = 100, 20_000
# A client for which there is no room asks again this often. OpenFeature's asks for a stream that is refused with an
# error once a second.
_POLL_MILLISECONDS = (15_000, 25_000)


@dataclass(eq=False, slots=True)
class Stream:
    """An open connection whose response's head has been sent, and whose body is sent in chunks.

    It ends when the SDK key `key_id` is revoked, unless it was opened by something else, or is not for pages at
    `origin` any more, and at `expires_at`, unless that is None. `client` is the application that reads it, if it says
    which it is, and `caller` is who asked for it, unless that was a person. `unread_max_bytes` may be left unread when
    another event is sent. While the first event `is_beginning`, others are left out, and `has_missed` tells that there
    was one. `sent` is the revision of the last event that was written. A stream that `ends` does so after its next
    keep-alive.
    """

    transport: Transport
    key_id: UUID | None
    expires_at: datetime | None = None
    client: Client | None = None
    caller: Caller | None = None
    origin: str | None = None
    unread_max_bytes: int = UNREAD_MAX_BYTES
    is_beginning: bool = False
    has_missed: bool = False
    sent: int = 0
    ends: bool = False

    def keep_alive(self) -> bytes:
        """The message that shows that the connection lives: a comment, which clients ignore, or an event."""
        return COMMENT

    def may_go_on(self, keys: Mapping[UUID, KeyInForce]) -> bool:
        """Return whether its key, if it has one, is among these and is for the page that has opened it."""
        if self.key_id is None:
            return True
        key = keys.get(self.key_id)
        return key is not None and may_use(key.allowed_origins, self.origin)

    def send_first(self, event: bytes) -> None:
        """Send a short first event at once."""
        if not self.transport.is_closing():  # the client may have left in the meantime
            self.transport.write(chunk(event))

    def end(self, others: int = 0) -> None:
        """Finish the response, and close the connection once the client has it.

        If many `others` end together, the client is told to wait longer before it connects again, so that all of their
        clients do so over some time.
        """
        if self.is_beginning:
            self.has_missed = True
            return
        if not self.transport.is_closing():
            longest = min(others * 1_000 // _RECONNECTIONS_PER_SECOND, _RETRY_MAX_MILLISECONDS)
            spread = chunk(retry_line((_RETRY_MILLISECONDS[0], longest))) if longest > _RETRY_MILLISECONDS[1] else b""
            self.transport.write(spread + _LAST_CHUNK)
            self.transport.close()


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


async def send_events(events: bytes, send: Send) -> None:
    """Send a stream that ends after these events, to a client that may not keep one open: it asks again for others."""
    body = retry_line(_POLL_MILLISECONDS) + events
    headers = [*_HEADERS, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


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


def retry_line(milliseconds: tuple[int, int] = _RETRY_MILLISECONDS) -> bytes:
    """Return the line that sets the client's pause before it connects again: a different one for each."""
    return b"retry: %d\n\n" % random.randint(*milliseconds)  # noqa: S311 - no secret


def chunk(event: bytes) -> bytes:
    """An event as a chunk of a response's body."""
    return b"%x\r\n%b\r\n" % (len(event), event)
