"""uvicorn's HTTP/1.1 protocol with bounds: on a request's line and headers, and on the time that a client may take.

uvicorn has none, so one client could fill the memory with a header that never ends, or hold connections for good by
sending a byte now and then. Read against uvicorn 0.54 (protocols/http/httptools_impl.py).
"""

from asyncio import BaseTransport, TimerHandle, Transport
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import ClassVar, cast

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from flagstaff.web.edge.errors import Problem, problem
from flagstaff.web.edge.middleware import SECURITY_HEADERS, RequestIds


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a client may send and how long it may take. Times are counted in ticks, so each may last one tick more."""

    url_bytes: int = 8 * 1024
    head_bytes: int = 64 * 1024
    headers: int = 100
    tick_seconds: float = 5
    head_ticks: int = 2  # from its first byte on; and for the first byte of a connection
    body_ticks: int = 6
    idle_ticks: int = 15  # 75 s, longer than the minute for which common proxies keep their connections


class Phase(Enum):
    """What the client is to send next."""

    REQUEST = auto()  # a new one, or nothing: the connection is between requests, or waits for an answer
    HEAD = auto()
    BODY = auto()  # of a request that the app has begun to answer
    HELD_BODY = auto()  # of one that it does not know of yet


class _FlowControl(FlowControl):
    """uvicorn's, but that nothing more is read while pipelined requests wait: it would queue them without end."""

    def __init__(self, transport: Transport, pipeline: Collection[object]) -> None:
        super().__init__(transport)
        self._pipeline = pipeline

    def resume_reading(self) -> None:
        if not self._pipeline:
            super().resume_reading()


class BoundedProtocol(HttpToolsProtocol):
    """One connection. What it refuses itself, it refuses with the problem documents of the rest and then closes."""

    bounds: ClassVar[Bounds] = Bounds()
    request_ids: ClassVar[RequestIds]

    # What follows is each connection's own.
    phase = Phase.REQUEST
    _refusal: tuple[int, str] | None = None
    _head_bytes = 0  # in whole headers
    _untold_bytes = 0  # read since the parser last told of something
    _has_told = False
    _ticks_left = 0
    _clock: TimerHandle

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(cast("Transport", transport))
        self.flow = _FlowControl(self.transport, self.pipeline)
        self.await_client(Phase.REQUEST, self.bounds.head_ticks)
        self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        self._clock.cancel()
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep the connection of a client that has sent all it wants to send until it has its answer."""
        if self.phase is not Phase.REQUEST or self._is_answered():
            return False
        self.cycle.keep_alive = False
        return True

    def await_client(self, phase: Phase, ticks: int) -> None:
        """Begin a phase, which the client has so many ticks to end."""
        self.phase = phase
        self._ticks_left = ticks

    # The parser's callbacks.
    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_bytes = 0
        self.await_client(Phase.HEAD, self.bounds.head_ticks)

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._head_bytes += len(url)
        if len(self.url) > self.bounds.url_bytes:
            self._fail(414, f"The request's address is longer than {self.bounds.url_bytes} bytes.")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._has_told = True
        super().on_header(name, value)
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > self.bounds.head_bytes:
            self._fail(431, self._too_large_head())
        if len(self.headers) > self.bounds.headers:
            self._fail(431, f"The request has more than {self.bounds.headers} headers.")

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self.await_client(Phase.BODY, self.bounds.body_ticks)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self.await_client(Phase.REQUEST, self.bounds.idle_ticks)

    def on_body(self, body: bytes) -> None:
        self._has_told = True
        super().on_body(body)

    def data_received(self, data: bytes) -> None:
        before, self._has_told = self.phase, False
        super().data_received(data)
        if self._has_told or self.phase is not before or before is Phase.REQUEST:
            self._untold_bytes = 0
            return
        # The parser tells of a header, also of one behind the chunks of a body, when it has all of it.
        self._untold_bytes += len(data)
        if self._untold_bytes > self.bounds.head_bytes:
            self.refuse(431, self._too_large_head())

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's words, and ours are other
        status, detail = self._refusal or (400, "The request is not valid HTTP.")
        self.refuse(status, detail)

    def _too_large_head(self) -> str:
        return f"The request's headers are larger than {self.bounds.head_bytes // 1024} KiB."

    def _fail(self, status: int, detail: str) -> None:
        """Have the parser stop here; uvicorn then calls `send_400_response`."""
        self._refusal = (status, detail)
        raise ValueError(detail)

    def refuse(self, status: int, detail: str) -> None:
        """Answer the request that is being received with a problem and close; requests before it are still answered."""
        if self.transport.is_closing():
            return
        if not self._is_answered():
            if self.phase is not Phase.BODY:
                # An earlier request is still being answered; the client learns from the close that this one was not.
                self.flow.pause_reading()
                self.cycle.keep_alive = False
                return
            if not self.pipeline and not self.cycle.response_started:
                self._write_refusal(status, detail)
            self.cycle.disconnected = True
        elif self.phase is not Phase.BODY:
            self._write_refusal(status, detail)
        self.transport.close()

    def _is_answered(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _write_refusal(self, status: int, detail: str) -> None:
        request_id = self.request_ids.choose(None)
        headers = ((b"x-request-id", request_id.encode()), *SECURITY_HEADERS, (b"connection", b"close"))
        answer = problem(status, detail, request_id)
        self.transport.write(response(answer, self.server_state.default_headers, headers))

    # The connection's clock: one timer for all its requests, since one for each would be felt.
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
            self.transport.abort()  # it does not read what it asked for
        elif self.phase is Phase.REQUEST:
            self.transport.close()
        else:
            self.refuse(408, "The request did not arrive in time.")
        self._ticks_left = self.bounds.head_ticks

    def _waits_for_us(self) -> bool:
        if self.flow.write_paused or self.transport.is_closing():
            return False
        return self.flow.read_paused or (self.phase is Phase.REQUEST and not self._is_answered())


def response(
    answer: Problem, default_headers: Iterable[tuple[bytes, bytes]], headers: Iterable[tuple[bytes, bytes]]
) -> bytes:
    """A whole response as uvicorn would write it."""
    lines = [name + b": " + value + b"\r\n" for name, value in (*default_headers, *answer.headers, *headers)]
    return b"".join((STATUS_LINE[answer.status], *lines, b"\r\n", answer.body))
