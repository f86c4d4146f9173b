"""uvicorn's HTTP/1.1 protocol with bounds on what a client sends, on what waits, and on the time that it takes.

uvicorn has none, so one client could fill the memory with an endless header, or hold connections forever by sending a
byte now and then. It also stops reading a request's body when the client offers another protocol, and parses the body
as the next request. Read against uvicorn 0.54 (protocols/http/httptools_impl.py).
"""

import sys
from asyncio import BaseTransport, TimerHandle, Transport
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum, auto
from fcntl import ioctl
from termios import FIONREAD
from typing import ClassVar, cast

import httptools
from starlette.types import Scope
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from flagstaff.concurrency.loop_turns import LoopClient, LoopTurns, Rank, loop_turns
from flagstaff.http.connections.body_memory import SHORT_BYTES, BodyMemory
from flagstaff.http.connections.rejections import ReadSoFar, Rejections
from flagstaff.http.connections.request_head import merge_slashes, objection
from flagstaff.http.responses import ENDS_WITH_CLIENT, IS_STREAM

TRANSPORT = "flagstaff.transport"
"""The extension of a request's scope with its connection's transport, to which serving/streams.py writes events."""

HAS_MORE = "flagstaff.has_more"
"""The extension with a function that returns whether the client has sent further requests on the connection."""


_RETRY_AFTER_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds on what a client sends. Times are counted in ticks, so each may be one tick longer."""

    url_bytes: int = 8 * 1024
    head_bytes: int = 64 * 1024
    headers: int = 100  # trailers included
    body_pieces: int = 4096  # chunks, or parts of them: each costs a call, however short it is
    waiting_requests: int = 32  # read while an earlier one is being answered
    tick_seconds: float = 5
    head_ticks: int = 2  # from its first byte on; and for the first byte of a connection
    body_ticks: int = 6
    idle_ticks: int = 15  # 75 s, longer than the minute for which common proxies keep their connections


DEFERRED_MAX_BYTES = 16 * 1024
"""What is longer is not kept until it is its client's turn: it is nearly all body, which takes no time to parse."""


class Phase(Enum):
    """The part of a request that the client is expected to send next."""

    REQUEST = auto()  # a new one, or nothing: the connection is between requests or waits for a response
    HEAD = auto()
    BODY = auto()  # of a request that has reached the application
    HELD_BODY = auto()  # of a request that has not reached it yet


class _FlowControl(FlowControl):
    """uvicorn's flow control, but reading stops while pipelined requests wait: uvicorn's queue has no bound."""

    def __init__(self, transport: Transport, pipeline: Collection[object]) -> None:
        super().__init__(transport)
        self._pipeline = pipeline

    def resume_reading(self) -> None:
        if not self._pipeline:
            super().resume_reading()


class BoundedProtocol(HttpToolsProtocol):
    """One connection. It refuses requests with the same problem documents as the application, and then closes."""

    bounds: ClassVar[Bounds] = Bounds()
    rejections: ClassVar[Rejections]
    bodies: ClassVar[BodyMemory | None] = None
    path_prefix: ClassVar[bytes] = b""

    # Set for each connection.
    url = b""  # of the latest request, as far as it was read
    phase = Phase.REQUEST
    on_lost: Callable[[], None] | None = None
    """Called once, when the connection has ended."""
    _refusal: tuple[int, str] | None = None
    _is_refused = False
    _head_bytes = 0  # in whole headers
    _head_headers = 0
    _body_pieces = 0
    _untold_bytes = 0  # read since the parser's last callback
    _has_told = False
    _ticks_left = 0
    _clock: TimerHandle
    _deferred = b""  # what has been read, and waits for its turn
    _body_bytes = 0  # of the body that is being received
    _held_for: LoopClient | None = None
    _held_bytes = 0  # of bodies, as counted for this client
    _turns: LoopTurns

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(cast("Transport", transport))
        self._turns = loop_turns()
        self.flow = _FlowControl(self.transport, self.pipeline)
        self.await_client(Phase.REQUEST, self.bounds.head_ticks)
        self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        self._clock.cancel()
        self._give_back()
        super().connection_lost(exc)
        if self.on_lost is not None:
            self.on_lost()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep the connection of a client that has finished sending until it has its response, unless that is a stream.

        A stream has no end that a client could wait for, so its client has left. So has, in all likelihood, one that
        asked for long work, which should not go on for nobody.
        """
        state = self.scope["state"] if self.phase is Phase.REQUEST and not self._is_answered() else {IS_STREAM: True}
        if state.get(IS_STREAM) or state.get(ENDS_WITH_CLIENT):
            return False
        self.cycle.keep_alive = False
        return True

    def shutdown(self) -> None:
        """End the connection once what the client has sent is answered, also what nobody has read yet."""
        if not self._is_answered() or not self.has_more():
            super().shutdown()  # otherwise http/draining.py ends it

    def has_more(self) -> bool:
        """Return whether the client has sent further requests, or parts of them, which a close would reset."""
        if self.pipeline or self._deferred:
            return True
        unread = ioctl(self.transport.get_extra_info("socket").fileno(), FIONREAD, bytes(4))
        return int.from_bytes(unread, sys.byteorder) > 0

    def await_client(self, phase: Phase, ticks: int) -> None:
        """Begin a phase, which the client must finish within this many ticks."""
        self.phase = phase
        self._ticks_left = ticks

    # The parser's callbacks.
    def on_message_begin(self) -> None:
        if len(self.pipeline) >= self.bounds.waiting_requests:
            self._fail(429, f"More than {self.bounds.waiting_requests} requests wait on this connection.")
        super().on_message_begin()
        self._head_bytes = self._head_headers = self._body_pieces = self._body_bytes = 0
        self.await_client(Phase.HEAD, self.bounds.head_ticks)

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._head_bytes += len(url)
        if len(self.url) > self.bounds.url_bytes:
            self._fail(414, f"The request's URL is longer than {self.bounds.url_bytes} bytes.")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._has_told = True
        self._head_bytes += len(name) + len(value)
        self._head_headers += 1
        if self._head_bytes > self.bounds.head_bytes:
            self._fail(431, self._too_large_head())
        if self._head_headers > self.bounds.headers:
            self._fail(431, f"The request has more than {self.bounds.headers} headers.")
        # Trailers are ignored: the request has started, and proxies check only heads. So are cookies: nothing here uses
        # them, but the framework parses them for every request, which takes some versions of Python seconds.
        if self.phase is Phase.HEAD and name.lower() != b"cookie":
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if refusal := objection(self.parser.get_method(), self.parser.get_http_version(), self.headers):
            self._fail(*refusal)
        if b"#" in self.url:  # the parser would leave away what a proxy's rule may have seen
            self._fail(400, "The request's target contains a #, which browsers do not send. Leave it away.")
        if self.parser.should_upgrade():
            return  # `_parse` parses it again as an ordinary request
        if b"//" in self.url:
            self.url = merge_slashes(self.url, self.path_prefix)
        self.scope["extensions"] = cast(
            "dict[str, dict[object, object]]", {TRANSPORT: self.transport, HAS_MORE: self.has_more}
        )
        super().on_headers_complete()
        self.await_client(Phase.BODY, self.bounds.body_ticks)

    def on_message_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        super().on_message_complete()
        self.await_client(Phase.REQUEST, self.bounds.idle_ticks)

    def on_body(self, body: bytes) -> None:
        self._has_told = True
        self._body_pieces += 1
        if self._body_pieces > self.bounds.body_pieces:
            self._fail(413, f"The body has more than {self.bounds.body_pieces:,} chunks. Send fewer, longer ones.")
        if self.bodies is not None and not self.cycle.response_complete:
            self._hold_body(self.bodies, len(body))
        super().on_body(body)

    def _hold_body(self, bodies: BodyMemory, size: int) -> None:
        """Count a part of a body, which for a known client counts only once the body is long."""
        self._body_bytes += size
        client = bodies.find_client(cast("Scope", self.scope))
        if client.rank is not Rank.STRANGER:
            if self._body_bytes <= SHORT_BYTES:
                return
            client = LoopClient(Rank.KNOWN, client.name)
        if self._held_for not in (None, client):
            self._give_back()  # a pipelined request is by another client
        if not bodies.take(client, size):
            self._fail(503, "Too much is being received at the moment. Send shorter bodies, or this one again later.")
        self._held_for = client
        self._held_bytes += size

    def _give_back(self) -> None:
        if self.bodies is not None and self._held_for is not None:
            self.bodies.give_back(self._held_for, self._held_bytes)
            self._held_for, self._held_bytes = None, 0

    def on_response_complete(self) -> None:
        if self.cycle.response_complete:
            self.cycle.body = bytearray()  # what the application did not read would stay until the next request
            self._give_back()
        super().on_response_complete()

    def data_received(self, data: bytes) -> None:
        """Receive what the client has sent, in this pass of the event loop if it has room."""
        if self._deferred:
            self._deferred += data
        elif (
            len(data) <= DEFERRED_MAX_BYTES
            and self._turns.is_busy()
            and not self._turns.has_room(client := self.client_of(data))
        ):
            self._deferred = data
            self.flow.pause_reading()
            self._turns.call(client, self._receive_deferred)
        else:
            self.receive(data)

    def client_of(self, data: bytes) -> LoopClient:
        """The client that takes a turn to have data read: its address, as nothing else is known yet."""
        del data
        return LoopClient(Rank.KNOWN, self.client[0] if self.client else "")

    def _receive_deferred(self) -> None:
        data, self._deferred = self._deferred, b""
        if not self.transport.is_closing():  # the connection may have been lost meanwhile
            self.flow.resume_reading()
            self.receive(data)

    def receive(self, data: bytes) -> None:
        """Parse what the client has sent."""
        if self._is_refused:
            return
        before, self._has_told = self.phase, False
        self._unset_keepalive_if_required()
        self._parse(data)
        if self._has_told or self.phase is not before or before is Phase.REQUEST:
            self._untold_bytes = 0
            return
        # The parser reports a header, or a trailer after a body's chunks, once it is complete.
        self._untold_bytes += len(data)
        if self._untold_bytes > self.bounds.head_bytes:
            self.refuse(431, self._too_large_head())

    def _parse(self, data: bytes) -> None:
        """Feed the parser in place of uvicorn, which would leave a request that offers an upgrade half read."""
        while True:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                # The parser has stopped after the head and does not read the body. A new parser gets the head again,
                # without the offer, which a server may ignore (RFC 9110, 7.8), and then the rest.
                data = self._head_without_offer() + data[offer.args[0] :]
                self.parser = httptools.HttpRequestParser(self)
                self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
            except httptools.HttpParserError:
                self.refuse(*(self._refusal or (400, "The request is not valid HTTP.")))
                return
            else:
                return

    def _head_without_offer(self) -> bytes:
        version = self.parser.get_http_version().encode()
        lines = [self.parser.get_method() + b" " + self.url + b" HTTP/" + version]
        lines += [name + b": " + value for name, value in self.headers if name != b"upgrade"]
        return b"\r\n".join((*lines, b"", b""))

    def _too_large_head(self) -> str:
        return f"The request's headers are larger than {self.bounds.head_bytes // 1024} KiB."

    def _fail(self, status: int, detail: str) -> None:
        """Stop the parser here; `_parse` then refuses the request."""
        self._refusal = (status, detail)
        raise ValueError(detail)

    def refuse(self, status: int, detail: str) -> None:
        """Answer the request being received with a problem and close; earlier requests are still answered."""
        if self.transport.is_closing() or self._is_refused:
            return
        self._is_refused = True
        # Always built, because this also counts and logs it.
        answer = self.rejections.refuse(
            status,
            detail,
            peer=self.client,
            request=ReadSoFar(self.parser.get_method(), self.url.removeprefix(self.path_prefix), self.headers or ()),
            default_headers=self.server_state.default_headers,
            retry_after_seconds=_RETRY_AFTER_SECONDS if status in (429, 503) else None,
        )
        if not self._is_answered():
            if self.phase is not Phase.BODY:
                # An earlier request is still being answered; the close shows the client that this one was not.
                self.flow.pause_reading()
                self.cycle.keep_alive = False
                return
            if not self.pipeline and not self.cycle.response_started:
                self.transport.write(answer)
            self.cycle.disconnected = True
        elif self.phase is not Phase.BODY:
            self.transport.write(answer)
        self.transport.close()

    def _is_answered(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    # One timer for all of the connection's requests, because one for each would be measurably slower.
    def _start_clock(self) -> None:
        self._clock = self.loop.call_later(self.bounds.tick_seconds, self._tick)

    def _tick(self) -> None:
        self._start_clock()
        if self._waits_for_us():
            return
        self._ticks_left -= 1
        if self._ticks_left >= 0:
            return
        if self.transport.is_closing() or self.flow.write_paused:
            self.transport.abort()  # the client does not read the response
        elif self.phase is Phase.REQUEST:
            self.transport.close()
        else:
            self.refuse(408, "The request did not arrive in time. Send it without pauses.")
        self._ticks_left = self.bounds.head_ticks

    def _waits_for_us(self) -> bool:
        if self.flow.write_paused or self.transport.is_closing():
            return False
        return self.flow.read_paused or (self.phase is Phase.REQUEST and not self._is_answered())
