"""Calls over HTTP that Flagstaff makes for a traced request, as spans. The trace is not told to the one called."""

from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from flagstaff.telemetry.otel.tracing import Tracing


class TracedTransport(httpx.AsyncHTTPTransport):
    """httpx's transport; the spans have the address, but neither the query nor the body, which may have secrets."""

    def __init__(self, tracing: "Tracing", **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self._tracing = tracing

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the span ends with the head of the response."""
        url = request.url
        span = self._tracing.begin_call(
            request.method,
            {
                "http.request.method": request.method,
                "server.address": url.host,
                "server.port": url.port or (443 if url.scheme == "https" else 80),
                "url.full": f"{url.scheme}://{url.netloc.decode()}{url.path}",
            },
        )
        try:
            response = await super().handle_async_request(request)
        except BaseException as error:
            self._tracing.end_call(span, error)
            raise
        self._tracing.end_call(span, status=response.status_code)
        return response
