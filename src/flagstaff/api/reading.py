"""Which requests only read, whatever their method, and which responses must not be stored."""

import re

_METHODS = ("GET", "HEAD")
# Each is a POST because its body describes what might be.
_questions = re.compile(r"/api/projects/[^/]+/(playground|environments/[^/]+/(explain|answers|flags/[^/]+/impact))")
_evaluating = re.compile(
    r"/api/projects/[^/]+/(playground|comparison|environments/[^/]+/(explain|answers|flags/[^/]+/impact))"
)
_secrets = re.compile(r"/api/projects/[^/]+/(tokens|sdk-keys)")


def only_reads(method: str, path: str) -> bool:
    """Whether a request changes nothing; `path` may also be the path of a route."""
    return method in _METHODS or (method == "POST" and _questions.fullmatch(path) is not None)


def takes_long(path: str) -> bool:
    """Whether a request at a path decides or compares flags, which takes long for many of them."""
    return _evaluating.fullmatch(path) is not None


def returns_secret(path: str) -> bool:
    """Whether the response to a POST contains a secret of which only a hash is stored."""
    return _secrets.fullmatch(path) is not None
