"""Liveness, readiness and metrics, for load balancers and monitoring, and what else an internal port has.

Probes are plain ASGI routes, because they are answered before the management API is loaded.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.http.compression import Compression
from flagstaff.http.errors import MethodNotAllowedError
from flagstaff.http.operations import READING
from flagstaff.http.responses import json_response
from flagstaff.values.errors import Code, Error, invalid_field

PARTS = ("evaluations", "writes", "history")
"""The names that `for` of `/ready` may have."""

IS_INTERNAL = "is_internal"
"""The name in a request's state that says whether it has come to the internal port."""

INTERNAL_PATHS = r"health|ready|metrics|docs|openapi|openapi\.json"
"""The first parts of the paths that an internal port has, as a regular expression."""

_internal_path = re.compile(rf"/({INTERNAL_PATHS})(/|\Z)")


def require_port(scope: Scope) -> None:
    """Raise Error NOT_FOUND for a request to one of two ports whose path is one of the other's."""
    is_internal = _internal_path.match(scope["path"]) is not None
    if is_internal != scope["state"].get(IS_INTERNAL, False):
        raise Error(Code.NOT_FOUND, "There is nothing at this address.")


@dataclass(frozen=True, slots=True)
class Probes:
    """The checks behind `/ready` and `/metrics`.

    `require_staying` raises Error UNAVAILABLE once the process is stopping. `check` raises it, with `works`, for what
    does not work, and returns sentences about what may not work after the next start. `render_figures` returns the text
    that Prometheus reads, and its content type.
    """

    require_staying: Callable[[], None]
    check: Callable[[], Awaitable[Sequence[str]]]
    render_figures: Callable[[], Awaitable[tuple[bytes, str]]]


@dataclass(frozen=True, slots=True)
class _Route:
    path: str
    answer: Callable[[Request], Awaitable[Response]]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self  # metrics name the path
        if scope["method"] not in READING:
            raise MethodNotAllowedError(*READING)
        response = await self.answer(Request(scope))
        await response(scope, receive, send)


def probe_routes(probes: Probes) -> Mapping[str, ASGIApp]:
    """The routes by their paths."""

    async def health(_: Request) -> Response:
        return json_response({"status": "ok"})

    async def ready(request: Request) -> Response:
        part = request.query_params.get("for")
        if part is not None and part not in PARTS:
            *others, last = (f"'{each}'" for each in PARTS)
            raise invalid_field("for", f"must be {', '.join(others)} or {last}")
        probes.require_staying()
        warnings: Sequence[str] = ()
        try:
            warnings = await probes.check()
        except Error as error:
            if part is None or not error.extensions["works"][part]:
                raise
        detail = {"detail": " ".join(warnings)} if warnings else {}
        return json_response({"status": "ready", **detail})

    async def metrics(_: Request) -> Response:
        body, media_type = await probes.render_figures()
        return Response(body, headers={"content-type": media_type})

    return {
        "/health": _Route("/health", health),
        "/ready": _Route("/ready", ready),
        "/metrics": Compression(_Route("/metrics", metrics)),
    }
