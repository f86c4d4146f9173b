"""Requests as spans. Nothing here is used unless traces are asked for."""

from typing import TYPE_CHECKING

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flagstaff.http.responses import IS_STREAM

if TYPE_CHECKING:
    from collections.abc import Callable

    from flagstaff.telemetry.otel.tracing import Tracing


class Traced:
    """In front of the application: makes a span of each request that is sampled, and its id part of the log."""

    def __init__(self, app: ASGIApp, tracing: "Tracing", find_route: "Callable[[Scope], str | None]") -> None:
        """`find_route` returns the template of a request's path after its response; None if nothing is there."""
        self._app = app
        self._tracing = tracing
        self._find_route = find_route

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        beginning = self._tracing.draw(scope["headers"]) if scope["type"] == "http" else None
        if beginning is None:
            await self._app(scope, receive, send)
            return
        status = 0
        with self._tracing.request(beginning, scope["method"], scope["scheme"]) as span:

            async def send_noting(message: Message) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = message["status"]
                    if scope["state"].get(IS_STREAM):  # which lasts as long as its client likes
                        end()
                await send(message)

            def end() -> None:
                span.end(scope["method"], self._find_route(scope), status)

            others = [header for header in scope["headers"] if header[0] != b"traceparent"]
            scope["headers"] = [*others, (b"traceparent", span.traceparent)]  # from which the log has the trace's id
            try:
                with structlog.contextvars.bound_contextvars(span_id=span.span_id):
                    await self._app(scope, receive, send_noting)
            finally:
                end()
