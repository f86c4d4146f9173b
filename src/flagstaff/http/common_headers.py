"""The headers of every response, whoever writes it: the outermost layer, the fast path or a refusal before both."""

from collections.abc import Callable, Iterable

from flagstaff.http.cors import CrossOrigin

Header = tuple[bytes, bytes]

NOT_STORED = (b"cache-control", b"no-store")
"""The header of each response without a `Cache-Control` of its own.

Responses are for one caller and may change at any time. Proxies can be set up to store answers to POST as well, which
have the same address for all users.
"""
_SECURITY_HEADERS = ((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"))
_ONLY_TLS = (b"strict-transport-security", b"max-age=31536000")


def security_headers(public_url: str) -> tuple[Header, ...]:
    """The headers by which browsers protect people who reach the server at this URL.

    If it is https, browsers use nothing else for its host, for a year after each response. They ignore this header in
    responses without TLS, so proxies may reach the server as they like.
    """
    return (*_SECURITY_HEADERS, _ONLY_TLS) if public_url.startswith("https:") else _SECURITY_HEADERS


class CommonHeaders:
    """Chooses them by the path of a request and the page that has sent it."""

    def __init__(
        self,
        security: Iterable[Header],
        cross_origin: CrossOrigin,
        find_marks: Callable[[str], Iterable[Header]],
    ) -> None:
        """`find_marks` finds what a response at a path says about the age of what it is from, at this moment."""
        self._security = tuple(security)
        self.cross_origin = cross_origin
        self._find_marks = find_marks

    def of(self, request_id: str, path: str, origin: bytes | None) -> list[Header]:
        """The headers of the response to a request that is read now."""
        return [
            (b"x-request-id", request_id.encode()),
            *self._security,
            *self.cross_origin.headers(path, origin),
            *self._find_marks(path),
        ]
