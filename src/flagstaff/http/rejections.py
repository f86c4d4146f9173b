"""Refusals of connections, and of requests that are invalid or too slow, which never reach the application.

Each is counted. They are logged at a bounded rate, so that a flood of them cannot fill a disk.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import structlog

from flagstaff.http.errors import problem
from flagstaff.http.limits import Limits
from flagstaff.http.middleware import SECURITY_HEADERS, RequestIds
from flagstaff.http.responses import raw_response
from flagstaff.telemetry import Metrics

log = structlog.get_logger("flagstaff.refusals")

Headers = Iterable[tuple[bytes, bytes]]


class BoundedLog:
    """Writes at most `count` entries in any `seconds`; the next entry contains how many were left out."""

    def __init__(self, count: int, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._count = count
        self._seconds = seconds
        self._now = now
        self._began = now()
        self._written = 0
        self._left_out = 0

    def info(self, event: str, **values: Any) -> None:
        """Write an entry, or count it as left out."""
        now = self._now()
        if now - self._began >= self._seconds:
            self._began, self._written = now, 0
        if self._written == self._count:
            self._left_out += 1
            return
        self._written += 1
        if self._left_out:
            values["left_out"] = self._left_out
            self._left_out = 0
        log.info(event, **values)


class Refusals:
    """Makes, counts and logs the refusals of all connections."""

    def __init__(self, request_ids: RequestIds, limits: Limits, metrics: Metrics) -> None:
        self._request_ids = request_ids
        self._limits = limits
        self._counts = metrics.protocol_refusals
        self._log = BoundedLog(20, 10)

    def refuse(
        self,
        status: int,
        detail: str,
        *,
        peer: Sequence[Any] | None,
        given: Headers = (),
        default_headers: Headers = (),
        event: str = "request_refused",
        retry_after_seconds: int | None = None,
    ) -> bytes:
        """Count and log a refusal; return the whole response, with `Connection: close`.

        `peer` is the other end's address and port, `given` what has been read of the request's headers.
        """
        self._counts[status] += 1
        request_id = self._request_ids.choose(None)
        self._log.info(
            event,
            status=status,
            detail=detail,
            client=self._limits.address_of(peer, given),
            peer=peer[0] if peer else None,
            request_id=request_id,
        )
        headers = [(b"x-request-id", request_id.encode()), *SECURITY_HEADERS, (b"connection", b"close")]
        if retry_after_seconds is not None:
            headers.append((b"retry-after", b"%d" % retry_after_seconds))
        return raw_response(problem(status, detail, request_id), default_headers, headers)
