"""Which requests only read, whatever their method: they take no Idempotency-Key, and no slots of writes."""

import re

_METHODS = ("GET", "HEAD")
# Each is a POST because its body describes what might be.
_questions = re.compile(r"/api/projects/[^/]+/environments/[^/]+/(explain|flags/[^/]+/impact)")


def only_reads(method: str, path: str) -> bool:
    """Whether a request changes nothing; `path` may also be the path of a route."""
    return method in _METHODS or (method == "POST" and _questions.fullmatch(path) is not None)
