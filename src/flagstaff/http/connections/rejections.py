"""Refusals of connections, and of requests that are invalid or too slow, which never reach the application.

Each is counted. They are logged at a bounded rate, so that a flood of them cannot fill a disk.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import structlog

from flagstaff.http.bounded_log import BoundedLog
from flagstaff.http.common_headers import NOT_STORED, CommonHeaders
from flagstaff.http.errors import Problem, problem
from flagstaff.http.limits import Limits
from flagstaff.http.middleware import RequestIds
from flagstaff.http.responses import raw_response
from flagstaff.telemetry import Metrics

log = structlog.get_logger("flagstaff.refusals")

Headers = Iterable[tuple[bytes, bytes]]


class ReadSoFar(NamedTuple):
    """The part of a request that has been read."""

    method: bytes = b""
    url: bytes = b""
    headers: Headers = ()


_NOTHING = ReadSoFar()


class Rejections:
    """Makes, counts and logs the refusals of all connections."""

    def __init__(
        self, request_ids: RequestIds, common_headers: CommonHeaders, limits: Limits, metrics: Metrics
    ) -> None:
        self._request_ids = request_ids
        self._common_headers = common_headers
        self._limits = limits
        self._counts = metrics.protocol_refusals
        self._log = BoundedLog(log, 20, 10)

    def refuse(
        self,
        status: int,
        detail: str,
        *,
        peer: Sequence[Any] | None,
        request: ReadSoFar = _NOTHING,
        default_headers: Headers = (),
        event: str = "request_refused",
        retry_after_seconds: int | None = None,
    ) -> bytes:
        """Count and log a refusal; return the whole response, with `Connection: close`.

        `peer` is the other end's address and port.
        """
        self._counts[status] += 1
        request_id = self._request_ids.choose(None)
        self._log.info(
            event,
            status=status,
            detail=detail,
            client=self._limits.address_of(peer, request.headers),
            peer=peer[0] if peer else None,
            request_id=request_id,
        )
        path = request.url.decode("latin-1")
        headers = self._common_headers.of(request_id, path, dict(request.headers).get(b"origin"))
        headers += (NOT_STORED, (b"connection", b"close"))
        if retry_after_seconds is not None:
            headers.append((b"retry-after", b"%d" % retry_after_seconds))
        allowed = self._common_headers.cross_origin.preflight(path, b"")
        if status == 414 and request.method == b"OPTIONS" and allowed:
            # A page reads a refusal only if its browser may send the request, which it asks about first.
            return raw_response(Problem(204, (), b""), default_headers, [*headers, *allowed])
        return raw_response(problem(status, detail, request_id), default_headers, headers)
