"""The pages that may use a browser's key with a list of origins, by the Origin header of their requests.

Browsers add it to each request of a page to another origin, and to each POST; a page cannot change it. A request
without it is accepted: it is an app's, or a GET of a page at the server's own origin. The list keeps other pages from
using a key by mistake or for their visitors. It protects no secret, because a program can send any header.
"""

from collections.abc import Collection, Iterable

from flagstaff.projects.key_origins import ORIGIN_MAX_LENGTH, allows
from flagstaff.serving.known_sdk_keys import Access
from flagstaff.values.errors import Code, Error

_NOT_ALLOWED = (
    "This SDK key is not for pages at the origin %s. Add it to the key's allowed origins, in the dashboard under SDK "
    "keys, or use a key that allows it."
)
_OF_NO_ORIGIN = (
    "This SDK key has a list of allowed origins, and this page hides its origin or has none (Origin: null), as a local "
    "file, a sandboxed frame, or a beacon of a page with a Referrer-Policy. Use another page, or a key without a list."
)
Headers = Iterable[tuple[bytes, bytes]]


def origin_in(headers: Headers) -> str | None:
    """The origin of the page that sent a request; None if the request has none. No page has one of several."""
    found = [value.decode("latin-1") for name, value in headers if name == b"origin"]
    return ", ".join(found) if found else None


def may_use(allowed: Collection[str] | None, origin: str | None) -> bool:
    """Return whether a request with this origin may use a key; `allowed` is None if every page may."""
    return allowed is None or origin is None or allows(allowed, origin)


def require_allowed(access: Access, headers: Headers) -> None:
    """Raise Error FORBIDDEN if a request is from a page that may not use its key."""
    if access.allowed_origins is None:
        return
    origin = origin_in(headers)
    if not may_use(access.allowed_origins, origin):
        assert origin is not None
        raise Error(Code.FORBIDDEN, _OF_NO_ORIGIN if origin == "null" else _NOT_ALLOWED % origin[:ORIGIN_MAX_LENGTH])
