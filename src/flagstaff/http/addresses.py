"""The addresses of requests: the prefix that all paths have, and spellings that name nothing.

Each resource has one address, so that a proxy's rule for it cannot be passed: a proxy that compares paths as they are
sent does not see that `/%6Detrics` is `/metrics`, nor one that takes the prefix off that `/flags/metrics` is.
"""

import re

from starlette.types import Scope

from flagstaff.http.probes import IS_INTERNAL
from flagstaff.values.errors import Code, Error

_HIDDEN = re.compile(rb"%(?:(2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)|[01][0-9A-F]|2F|7F)", re.IGNORECASE)
"""Percent-encodings of unreserved characters (RFC 3986, 2.3), which are a group, of control characters, and of a slash.

An unreserved character is the same as its encoding. A control character or a slash is not, but the framework takes an
encoded slash for a separator, and leaves out a line feed at the end.
"""


_IS_OUTSIDE = "is_outside"


class Addresses:
    """The addresses of a server with a path prefix, such as `/flags`; an empty one has no effect."""

    def __init__(self, path_prefix: str) -> None:
        self._prefix = path_prefix

    def enter(self, scope: Scope) -> None:
        """Take the prefix off a request's path. The internal port has none; `require_known` refuses what lacks it."""
        if self._prefix and not scope["state"].get(IS_INTERNAL, False):
            inner = scope["path"].removeprefix(self._prefix)
            if inner == scope["path"] or (inner and not inner.startswith("/")):
                scope["state"][_IS_OUTSIDE] = True
            else:
                scope["path"] = inner or "/"

    def require_known(self, scope: Scope) -> None:
        """Raise Error NOT_FOUND for a request that has no prefix, or a path that a proxy may read otherwise."""
        if scope["state"].get(_IS_OUTSIDE, False):
            raise Error(
                Code.NOT_FOUND, f"There is nothing at this address. Paths of this server begin with {self._prefix}/."
            )
        require_plain(scope["raw_path"])


def require_plain(path: bytes) -> None:
    """Raise Error NOT_FOUND for a path, as it was sent, that spells a character in a way that a proxy may not see."""
    hidden = _HIDDEN.search(path)
    if hidden is None:
        return
    spelled = hidden[0].decode().upper()
    character = hidden[1] and chr(int(hidden[1], 16))
    advice = f"Write {character} instead of {spelled} in its path." if character else f"Its path cannot have {spelled}."
    raise Error(Code.NOT_FOUND, f"There is nothing at this address. {advice}")
