"""The fast path answers what applications send inside the server's protocol, without ASGI, a task or a second write.

It handles plain requests for all flags, and plain events, once they have arrived completely, no other request is
ahead of them, their project is loaded and the instance may evaluate. Any other request (chunks, `Expect`,
pipelining, HTTP/1.0, an unknown key …) is passed to uvicorn unchanged, and so to the route, which handles them all.
docs/decisions/0007-fast-path.md explains why it exists and when it can be removed.
"""

from asyncio import BaseTransport
from collections.abc import Hashable, Iterable
from http import HTTPStatus
from time import monotonic
from typing import ClassVar, NamedTuple, cast

import httptools
from uvicorn.server import ServerState

from flagstaff.concurrency.loop_turns import LoopClient
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.history.callers import read_user_agent
from flagstaff.http.bodies import BYTE_ORDER_MARK
from flagstaff.http.clients import Clients
from flagstaff.http.common_headers import NOT_STORED, Header
from flagstaff.http.connections.protocol import BoundedProtocol, Phase
from flagstaff.http.connections.rejections import Rejections
from flagstaff.http.connections.request_head import content_length, is_host
from flagstaff.http.cors import CrossOrigin
from flagstaff.http.errors import Problem, problem_of
from flagstaff.http.middleware import RequestIds
from flagstaff.http.responses import raw_response
from flagstaff.http.revisions import revision_header
from flagstaff.serving.caller_counts import CallerCounts, Tally, caller_of, environment_of_refused
from flagstaff.serving.cut_off import CutOff
from flagstaff.serving.entity_tags import tag_header
from flagstaff.serving.fast_path.endpoints import FastEndpoint
from flagstaff.serving.known_sdk_keys import Access
from flagstaff.serving.page_origins import may_use, origin_in
from flagstaff.serving.revisions import DEMAND
from flagstaff.values.errors import Error

_END = b"\r\n\r\n"
_HEAD_MAX_BYTES = 4 * 1024
_MAX_KNOWN_HEADS = 1024
_MAX_HEADERS = 50
_HELD_MAX_BYTES = 16 * 1024  # of an incomplete request, which no limit has counted yet

_NEED_THE_ROUTE = frozenset({b"expect", b"transfer-encoding", DEMAND})

_REQUEST = Phase.REQUEST  # looking up an enumeration's member takes a tenth of a microsecond

Headers = list[tuple[bytes, bytes]]
Marks = tuple[tuple[bytes, bytes], ...]
"""The header of an answer that may be from an older state; empty if there is none."""


class PreparedEndpoint(NamedTuple):
    """An endpoint, with the beginning of its requests, and the status line and the constant headers of its answers."""

    endpoint: FastEndpoint
    start: bytes
    status_line: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    tail: bytes


class Head(NamedTuple):
    """The relevant parts of a plain request's line and headers."""

    prepared: PreparedEndpoint
    sdk_key: str
    body_bytes: int
    request_id: bytes | None
    user_agent: str
    headers: Headers
    conditions: Headers  # those that ask for a 304


class FastPath:
    """State shared by all connections. Clients send the same head repeatedly, so each is parsed once."""

    def __init__(
        self,
        endpoints: Iterable[FastEndpoint],
        *,
        path_prefix: str,
        clients: Clients,
        callers: CallerCounts,
        cut_off: CutOff,
        request_ids: RequestIds,
        security: Iterable[Header],
        cross_origin: CrossOrigin,
    ) -> None:
        self.limits = clients.limits
        self.find_owner = clients.find_key
        self.callers = callers
        self.cut_off = cut_off
        self.lease = cut_off.lease
        self.choose_id = request_ids.choose
        self._endpoints = [_prepare(endpoint, path_prefix, security, cross_origin) for endpoint in endpoints]
        self._known_heads: dict[bytes, Head] = {}
        self._default_headers: Headers | None = None
        self._start = b""

    def close(self) -> None:
        """Pass every request on from now on: the application ends the connections with its responses."""
        self._endpoints.clear()
        self._known_heads.clear()

    def head(self, data: bytes) -> Head | None:
        """The head of a plain request; None for any other request."""
        known = self._known_heads.get(data)
        if known is not None:
            return known
        prepared = next((each for each in self._endpoints if data.startswith(each.start)), None)
        head = _parse(data, prepared) if prepared else None
        if head is not None and head.request_id is None:
            if len(self._known_heads) >= _MAX_KNOWN_HEADS:
                self._known_heads.clear()
            self._known_heads[data] = head
        return head

    def start(self, state: ServerState) -> bytes:
        """The start of every answer after the status line, up to its length."""
        if state.default_headers is not self._default_headers:  # uvicorn replaces them when the date changes
            self._default_headers = state.default_headers
            lines = b"".join(b"%s: %s\r\n" % header for header in state.default_headers)
            self._start = lines + b"content-type: application/json\r\ncontent-length: "
        return self._start


class FastPathProtocol(BoundedProtocol):
    """One connection."""

    fast_path: ClassVar[FastPath]

    _held = bytearray()  # a request that has not arrived completely
    _held_until_bytes = 0
    _client: Hashable = None
    _tally: Tally

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        self._tally = Tally()
        if not self.fast_path.limits.trusted_proxies:
            self._client = self.fast_path.limits.client_of(self.client, ())

    def connection_lost(self, exc: Exception | None) -> None:
        self.fast_path.callers.end(self._tally)
        super().connection_lost(exc)

    def client_of(self, data: bytes) -> LoopClient:
        """The owner of the SDK key of a plain request, and otherwise the address."""
        head = self.fast_path.head(data[: data.find(_END, 0, _HEAD_MAX_BYTES) + len(_END)])
        owner = self.fast_path.find_owner(head.sdk_key) if head is not None else None
        if head is None or owner is None:
            return super().client_of(data)
        return owner.client_at(self._client or self.fast_path.limits.client_of(self.client, head.headers))

    def receive(self, data: bytes) -> None:
        if self._held:
            self._held += data
            if len(self._held) < self._held_until_bytes:
                return
            data = self._release()
        if self.phase is _REQUEST and self._is_clear():
            end = data.find(_END, 0, _HEAD_MAX_BYTES) + len(_END)
            head = self.fast_path.head(data[:end])
            if head is not None:
                size = end + head.body_bytes
                if len(data) == size and self._answer(head, data[end:].removeprefix(BYTE_ORDER_MARK)):
                    return
                # The application refuses a key that is not valid before it has the body.
                if len(data) < size <= _HELD_MAX_BYTES and head.prepared.endpoint.find(head.sdk_key) is not None:
                    self._hold(data, size)
                    return
        super().receive(data)

    def shutdown(self) -> None:
        if self._held:
            super().receive(self._release())
        super().shutdown()

    def _is_clear(self) -> bool:
        """Return whether an answer may be sent now: no other is due before it, and the client reads its responses."""
        return (self.cycle is None or self.cycle.response_complete) and not self.flow.write_paused

    def _hold(self, data: bytes, size: int) -> None:
        self._unset_keepalive_if_required()
        self._held = bytearray(data)
        self._held_until_bytes = size
        self.await_client(Phase.HELD_BODY, self.bounds.body_ticks)

    def _release(self) -> bytes:
        data, self._held = bytes(self._held), bytearray()
        self.await_client(Phase.REQUEST, self.bounds.idle_ticks)
        return data

    def _answer(self, head: Head, body: bytes) -> bool:
        """Answer a request, unless it has to wait or an unexpected error occurs."""
        fast_path, prepared = self.fast_path, head.prepared
        endpoint = prepared.endpoint
        access = endpoint.find(head.sdk_key)
        if access is None:
            return False
        marks: Marks = ()
        if monotonic() >= fast_path.lease.valid_until:
            if fast_path.cut_off.refuses:
                return False
            marks = fast_path.cut_off.marks(endpoint.path)
        self._unset_keepalive_if_required()
        self._ticks_left = self.bounds.idle_ticks
        request_id = fast_path.choose_id(head.request_id)
        client = self._client or fast_path.limits.client_of(self.client, head.headers)
        try:
            is_allowed = access.allowed_origins is None or may_use(access.allowed_origins, origin_in(head.headers))
            answered = endpoint.answer(access, body, head.conditions, client) if is_allowed else None
        except Error as error:
            self._count_refused(error, head, access, client)
            self._answer_otherwise(endpoint.form(problem_of(error, request_id)), head, request_id, marks)
            return True
        except Exception:  # noqa: BLE001 - the route meets it too, and its edge knows what to log and to say
            return False
        if answered is None:
            return False
        tag, answer, environment = answered
        tally, revision = self._tally, environment.revision
        if tally.head is not head or tally.environment is not environment:
            self._begin_tally(head, access, environment, client)
        tally.requests += 1
        if answer is None:
            headers = tag_header(tag), revision_header(revision)
            self._answer_otherwise(Problem(304, headers, b""), head, request_id, marks)
            return True
        endpoint.responses[endpoint.success] += 1
        with_tag = f'\r\netag: "{tag}"' if tag else ""
        own = f"{len(answer)}{with_tag}\r\nflagstaff-revision: {revision}\r\nx-request-id: {request_id}".encode()
        for name, value in marks:
            own += b"\r\n%s: %s" % (name, value)
        start = fast_path.start(self.server_state)
        self.transport.write(b"".join((prepared.status_line, start, own, prepared.tail, answer)))
        return True

    def _count_refused(self, error: Error, head: Head, access: Access, client: Hashable) -> None:
        if environment := environment_of_refused(access, error):
            self._begin_tally(head, access, environment, client)
            self._tally.requests += 1

    def _begin_tally(self, head: Head, access: Access, environment: EnvironmentSnapshot, client: Hashable) -> None:
        """Have the connection's tally count requests with this head for this environment."""
        tally, named = self._tally, (head.prepared.start, head.sdk_key, head.user_agent, client)
        if tally.environment is not environment or tally.named != named:
            caller = caller_of(head.prepared.endpoint.protocol, access, environment, head.user_agent, client)
            self.fast_path.callers.begin(tally, environment, caller)
        tally.head, tally.named = head, named

    def _answer_otherwise(self, answer: Problem, head: Head, request_id: str, marks: Marks) -> None:
        """Answer with another status than 200."""
        head.prepared.endpoint.responses[answer.status] += 1
        headers = ((b"x-request-id", request_id.encode()), *marks, *head.prepared.headers)
        self.transport.write(raw_response(answer, self.server_state.default_headers, headers))


class _Collector:
    """Collects what the parser finds."""

    def __init__(self) -> None:
        self.headers: Headers = []
        self.is_complete = False
        self.has_body = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self.is_complete = True

    def on_body(self, _: bytes) -> None:
        self.has_body = True


def _prepare(
    endpoint: FastEndpoint, path_prefix: str, security: Iterable[Header], cross_origin: CrossOrigin
) -> PreparedEndpoint:
    headers = (*security, *cross_origin.headers(endpoint.path, None), NOT_STORED)
    tail = b"".join(b"\r\n%s: %s" % header for header in headers) + _END
    status_line = f"HTTP/1.1 {endpoint.success} {HTTPStatus(endpoint.success).phrase}\r\n"
    request_line = f"POST {path_prefix}{endpoint.path} HTTP/1.1\r\n"
    return PreparedEndpoint(endpoint, request_line.encode(), status_line.encode(), headers, tail)


def _parse(data: bytes, prepared: PreparedEndpoint) -> Head | None:
    """The head of a plain request, parsed by the same parser as uvicorn's; None for any other request."""
    collector = _Collector()
    parser = httptools.HttpRequestParser(collector)
    try:
        parser.feed_data(data)
    except (httptools.HttpParserError, httptools.HttpParserUpgrade):
        return None
    if not collector.is_complete or collector.has_body or not parser.should_keep_alive() or parser.should_upgrade():
        return None
    given = dict(collector.headers)
    if not _NEED_THE_ROUTE.isdisjoint(given) or len(collector.headers) > _MAX_HEADERS:
        return None
    if len(given) != len(collector.headers) or not is_host(given.get(b"host", b"/")):
        return None  # a header twice, or a head that `request_head.objection` judges
    length = content_length(given.get(b"content-length", b"")) or 0
    if not 0 < length <= prepared.endpoint.body_max_bytes:
        return None
    sdk_key = prepared.endpoint.key_in(collector.headers)
    conditions = [header for header in collector.headers if header[0] == b"if-none-match"]
    user_agent = read_user_agent(given.get(b"user-agent"))
    return Head(prepared, sdk_key, length, given.get(b"x-request-id"), user_agent, collector.headers, conditions)


def connection_class(
    rejections: Rejections,
    fast_path: FastPath | None,
    protocol: type[FastPathProtocol] = FastPathProtocol,
    **shared: object,
) -> type[BoundedProtocol]:
    """The class that uvicorn instantiates for each connection; without a fast path it only applies the bounds.

    `shared` is what a `protocol` that does more has for all connections.
    """
    shared |= {"rejections": rejections, "fast_path": fast_path}
    return cast("type[BoundedProtocol]", type("Connection", (protocol if fast_path else BoundedProtocol,), shared))
