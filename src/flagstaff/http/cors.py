"""Cross-origin rules: any page may call what applications call, without cookies; only allowed pages the rest."""

from collections.abc import Collection, Sequence

from flagstaff.http.operations import PROTOCOLS

Headers = Sequence[tuple[bytes, bytes]]

# Any page may call what applications call, without cookies. An answer depends on it only by a key that names origins.
_ANY_PAGE: Headers = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"ETag, Flagstaff-Revision, Flagstaff-Stale, Retry-After, X-Request-ID"),
    (b"vary", b"Authorization, Origin, X-API-Key, X-SDK-Key"),
)
# Clients and what watches a page (OpenTelemetry, Sentry) add headers of their own, which `*` allows. It does not cover
# Authorization, and older browsers take it for the name of a header, so the usual ones have their names.
_ANY_PREFLIGHT: Headers = (
    (b"access-control-allow-methods", b"GET, POST"),
    (
        b"access-control-allow-headers",
        (
            b"Authorization, Content-Type, X-API-Key, X-SDK-Key, If-None-Match, Flagstaff-Min-Revision, X-Request-ID, "
            b"Unleash-AppName, Unleash-InstanceId, Unleash-Connection-Id, Unleash-SDK, Unleash-Interval, "
            b"traceparent, tracestate, baggage, sentry-trace, *"
        ),
    ),
    (b"access-control-max-age", b"86400"),
)
_API_EXPOSED = (
    b"access-control-expose-headers",
    (
        b"ETag, Flagstaff-Change, Flagstaff-Live-On, Flagstaff-Missing, Flagstaff-Revision, Idempotency-Replayed, "
        b"Link, Retry-After, X-Request-ID"
    ),
)
_API_PREFLIGHT: Headers = (
    (b"access-control-allow-methods", b"GET, POST, PUT, DELETE"),
    (b"access-control-allow-headers", b"Authorization, Content-Type, Idempotency-Key, If-Match, X-Request-ID"),
    (b"access-control-max-age", b"86400"),
)


class CrossOrigin:
    """Chooses the headers of a response by the origin of the page that sent the request."""

    def __init__(self, allowed_origins: Collection[str]) -> None:
        self._allowed = frozenset(origin.encode() for origin in allowed_origins)

    def headers(self, path: str, origin: bytes | None) -> Headers:
        """The headers of any response to a page at `origin`; without an origin, those that all responses have."""
        if path.startswith(PROTOCOLS):
            return _ANY_PAGE
        if not self._allowed:
            return ()
        if origin is None or origin not in self._allowed:
            return ((b"vary", b"Origin"),)
        return ((b"access-control-allow-origin", origin), (b"vary", b"Origin"), _API_EXPOSED)

    def preflight(self, path: str, origin: bytes) -> Headers:
        """The headers of the answer to a preflight; none for pages that may not call, so browsers block the request."""
        if path.startswith(PROTOCOLS):
            return _ANY_PREFLIGHT
        return _API_PREFLIGHT if origin in self._allowed else ()
