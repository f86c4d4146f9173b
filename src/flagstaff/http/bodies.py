"""Bodies of requests: their bounds, their byte-order marks, and reading them whole."""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flagstaff.http.connections.request_head import content_length
from flagstaff.values.errors import Code, Error

_KIB = 1024
_LARGE_BYTES = 64 * _KIB  # so much of a body that is not read yet is in memory anyway
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""What some clients put before JSON in UTF-8. Readers may ignore it (RFC 8259, 8.1), and readers here never see it."""


BODY = "body"
"""The name of the body in the state of a request to the management API."""


class BodyLimit:
    """In front of an application that reads bodies itself: bounds them."""

    def __init__(self, app: ASGIApp, find_max_bytes: Callable[[str], int]) -> None:
        """`find_max_bytes` finds the bound by the path."""
        self._app = app
        self._find_max_bytes = find_max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            receive = bounded(scope, receive, self._find_max_bytes(scope["path"]))
        await self._app(scope, receive, send)


class Body:
    """The body of a request, which is read when it is first asked for."""

    def __init__(self, scope: Scope, receive: Receive, max_bytes: int) -> None:
        """Raises Error TOO_LARGE if its length is known to exceed the bound."""
        self._receive = bounded(scope, receive, max_bytes)
        self._content: bytes | None = None

    async def read(self) -> bytes:
        """The whole body; raises Error TOO_LARGE, or ClientDisconnect if the client has left before its end."""
        if self._content is None:
            self._content = await _read_whole(self._receive)
        return self._content


def bounded(scope: Scope, receive: Receive, max_bytes: int) -> Receive:
    """A `receive` that refuses a body over the bound, and leaves out a byte-order mark.

    It raises Error TOO_LARGE when too much has arrived, and this function does so if Content-Length exceeds the bound.
    """
    for name, value in scope["headers"]:
        if name == b"content-length" and (content_length(value) or 0) > max_bytes:
            raise _too_large(max_bytes)
    received = 0

    async def receive_within_bound() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > max_bytes:
            raise _too_large(max_bytes)
        return message

    return _without_mark(receive_within_bound)


async def read_body(receive: Receive) -> bytes | None:
    """The whole body, or None if the client has left before its end."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


class LargeBodies:
    """Reads bodies of which a few large ones at a time are in memory: the others wait until one has been handled.

    Each owner has a part of these turns, so that one owner's slow bodies do not keep all others waiting.
    """

    def __init__(self, at_once: int = 32, of_one: int = 4) -> None:
        self._turns = asyncio.Semaphore(at_once)
        self._of_one = of_one
        self._turns_of: WeakValueDictionary[Hashable, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def reading(self, scope: Scope, receive: Receive, owner: Hashable) -> AsyncIterator[bytes]:
        """The whole body, which is handled in the context; raises ClientDisconnect if the client has left."""
        if not _may_be_large(scope):
            yield await _read_whole(receive)
            return
        own = self._turns_of.setdefault(owner, asyncio.Semaphore(self._of_one))
        async with own, self._turns:
            yield await _read_whole(receive)


async def _read_whole(receive: Receive) -> bytes:
    body = await read_body(receive)
    if body is None:
        raise ClientDisconnect
    return body


def _may_be_large(scope: Scope) -> bool:
    length = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
    return length == b"" or (content_length(length) or 0) > _LARGE_BYTES


def _without_mark(receive: Receive) -> Receive:
    """A `receive` that leaves out a byte-order mark, whose bytes may arrive one by one."""
    beginning: bytes | None = b""  # None once it is known whether there is a mark

    async def receive_without_mark() -> Message:
        nonlocal beginning
        message = await receive()
        if beginning is not None and message["type"] == "http.request":
            beginning += message.get("body", b"")
            if message.get("more_body") and BYTE_ORDER_MARK.startswith(beginning):
                message["body"] = b""
            else:
                message["body"], beginning = beginning.removeprefix(BYTE_ORDER_MARK), None
        return message

    return receive_without_mark


def _too_large(bound: int) -> Error:
    return Error(Code.TOO_LARGE, f"The body is larger than {bound // _KIB} KiB, the most that this path accepts.")
