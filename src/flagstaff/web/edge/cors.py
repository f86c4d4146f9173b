"""Which web pages may call: any page `/sdk`, where no cookie is used; our own and the allowed ones everything else."""

from collections.abc import Collection, Sequence

Headers = Sequence[tuple[bytes, bytes]]

_ANY: Headers = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"Retry-After, X-Request-ID"),
)
_API_EXPOSED = (b"access-control-expose-headers", b"Link, Retry-After, X-Request-ID")
_SDK_PREFLIGHT: Headers = (
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", b"Content-Type, X-SDK-Key, X-Request-ID"),
    (b"access-control-max-age", b"86400"),
)
_API_PREFLIGHT: Headers = (
    (b"access-control-allow-methods", b"GET, POST, PUT, DELETE"),
    (b"access-control-allow-headers", b"Authorization, Content-Type, X-Request-ID"),
    (b"access-control-max-age", b"86400"),
)


class CrossOrigin:
    """Says which headers a response needs for the page that asked."""

    def __init__(self, allowed_origins: Collection[str]) -> None:
        self._allowed = frozenset(origin.encode() for origin in allowed_origins)

    def headers(self, path: str, origin: bytes | None) -> Headers:
        """The headers of any response to a page at `origin`; without an origin, only that it would matter."""
        if path.startswith("/sdk/"):
            return _ANY
        if not self._allowed:
            return ()
        if origin is None or origin not in self._allowed:
            return ((b"vary", b"Origin"),)
        return ((b"access-control-allow-origin", origin), (b"vary", b"Origin"), _API_EXPOSED)

    def preflight(self, path: str, origin: bytes) -> Headers:
        """What the answer to a preflight adds; nothing for pages that may not call: their browsers hold them back."""
        if path.startswith("/sdk/"):
            return _SDK_PREFLIGHT
        return _API_PREFLIGHT if origin in self._allowed else ()
