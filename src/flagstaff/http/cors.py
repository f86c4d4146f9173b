"""Cross-origin rules: any page may call what applications call, without cookies; only allowed pages the rest."""

from collections.abc import Collection, Sequence

Headers = Sequence[tuple[bytes, bytes]]

_ANY: Headers = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"Flagstaff-Revision, Flagstaff-Stale, Retry-After, X-Request-ID"),
)
_PROTOCOLS: Headers = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"ETag, Flagstaff-Revision, Flagstaff-Stale, Retry-After, X-Request-ID"),
)
_API_EXPOSED = (
    b"access-control-expose-headers",
    (
        b"ETag, Flagstaff-Change, Flagstaff-Live-On, Flagstaff-Missing, Flagstaff-Revision, Idempotency-Replayed, "
        b"Link, Retry-After, X-Request-ID"
    ),
)
_SDK_PREFLIGHT: Headers = (
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", b"Content-Type, X-SDK-Key, Flagstaff-Min-Revision, X-Request-ID"),
    (b"access-control-max-age", b"86400"),
)
# Clients add headers of their own; `*` does not cover Authorization.
_OFREP_PREFLIGHT: Headers = (
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-allow-headers", b"Content-Type, Authorization, X-API-Key, If-None-Match, X-Request-ID, *"),
    (b"access-control-max-age", b"86400"),
)
_UNLEASH_HEADERS = b", ".join(
    (
        b"Content-Type, Authorization, If-None-Match, X-Request-ID",
        b"Unleash-AppName, Unleash-InstanceId, Unleash-Connection-Id, Unleash-SDK, Unleash-Interval",
        b"*",
    )
)
_UNLEASH_PREFLIGHT: Headers = (
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-allow-headers", _UNLEASH_HEADERS),
    (b"access-control-max-age", b"86400"),
)
# The paths that applications call, with the headers of its responses and those of answers to preflights.
_OPEN = {
    "/sdk/": (_ANY, _SDK_PREFLIGHT),
    "/ofrep/": (_PROTOCOLS, _OFREP_PREFLIGHT),
    "/unleash/": (_PROTOCOLS, _UNLEASH_PREFLIGHT),
}
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
        """The headers of any response to a page at `origin`; without an origin, only `Vary`."""
        rules = _rules_for_all(path)
        if rules:
            return rules[0]
        if not self._allowed:
            return ()
        if origin is None or origin not in self._allowed:
            return ((b"vary", b"Origin"),)
        return ((b"access-control-allow-origin", origin), (b"vary", b"Origin"), _API_EXPOSED)

    def preflight(self, path: str, origin: bytes) -> Headers:
        """The headers of the answer to a preflight; none for pages that may not call, so browsers block the request."""
        rules = _rules_for_all(path)
        if rules:
            return rules[1]
        return _API_PREFLIGHT if origin in self._allowed else ()


def _rules_for_all(path: str) -> tuple[Headers, Headers] | None:
    """The headers for a path that any page may call; None for other paths."""
    return next((rules for start, rules in _OPEN.items() if path.startswith(start)), None)
