"""The headers of every response, whoever writes it: the outermost layer, the fast path or a refusal before both."""

from collections.abc import Callable, Iterable

from flagstaff.http.cors import CrossOrigin

Header = tuple[bytes, bytes]

NOT_STORED = (b"cache-control", b"no-store")
"""The header of each response without a `Cache-Control` of its own.

Responses are for one caller and may change at any time. Proxies can be set up to store answers to POST as well, which
have the same address for all users.
"""
SECURITY_HEADERS = ((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"))


class CommonHeaders:
    """Chooses them by the path of a request and the page that has sent it."""

    def __init__(self, cross_origin: CrossOrigin, find_marks: Callable[[str], Iterable[Header]]) -> None:
        """`find_marks` finds what a response at a path says about the age of what it is from, at this moment."""
        self.cross_origin = cross_origin
        self._find_marks = find_marks

    def of(self, request_id: str, path: str, origin: bytes | None) -> list[Header]:
        """The headers of the response to a request that is read now."""
        return [
            (b"x-request-id", request_id.encode()),
            *SECURITY_HEADERS,
            *self.cross_origin.headers(path, origin),
            *self._find_marks(path),
        ]
