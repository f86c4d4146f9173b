"""Cross-origin rules: any page may call `/sdk`, which uses no cookies; only our own and allowed pages the rest."""

from collections.abc import Collection, Sequence

Headers = Sequence[tuple[bytes, bytes]]

_ANY: Headers = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"Retry-After, X-Request-ID"),
)
_API_EXPOSED = (
    b"access-control-expose-headers",
    b"Flagstaff-Revision, Idempotency-Replayed, Link, Retry-After, X-Request-ID",
)
_SDK_PREFLIGHT: Headers = (
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", b"Content-Type, X-SDK-Key, X-Request-ID"),
    (b"access-control-max-age", b"86400"),
)
_API_PREFLIGHT: Headers = (
    (b"access-control-allow-methods", b"GET, POST, PUT, DELETE"),
    (b"access-control-allow-headers", b"Authorization, Content-Type, Idempotency-Key, X-Request-ID"),
    (b"access-control-max-age", b"86400"),
)


class CrossOrigin:
    """Chooses the headers of a response by the origin of the page that sent the request."""

    def __init__(self, allowed_origins: Collection[str]) -> None:
        self._allowed = frozenset(origin.encode() for origin in allowed_origins)

    def headers(self, path: str, origin: bytes | None) -> Headers:
        """The headers of any response to a page at `origin`; without an origin, only `Vary`."""
        if path.startswith("/sdk/"):
            return _ANY
        if not self._allowed:
            return ()
        if origin is None or origin not in self._allowed:
            return ((b"vary", b"Origin"),)
        return ((b"access-control-allow-origin", origin), (b"vary", b"Origin"), _API_EXPOSED)

    def preflight(self, path: str, origin: bytes) -> Headers:
        """The headers of the answer to a preflight; none for pages that may not call, so browsers block the request."""
        if path.startswith("/sdk/"):
            return _SDK_PREFLIGHT
        return _API_PREFLIGHT if origin in self._allowed else ()
