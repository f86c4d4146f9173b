"""The form of errors that Unleash's clients understand, and the SDK key in their requests."""

from collections.abc import Iterable

from flagstaff.http.errors import Problem

_NAMES = {
    400: "BadDataError",
    401: "AuthenticationRequired",
    403: "NoAccessError",
    404: "NotFoundError",
    405: "MethodNotAllowedError",
    413: "ContentTooLargeError",
    429: "RateLimitError",
    503: "UnavailableError",
}


def unleash_form(problem: Problem, _path: str) -> Problem:
    """An error at a path below `/unleash/`, as JSON with `name`, `message` and `details`."""
    fields = problem.document.get("errors", ())
    details = [{"message": f"{each['field']} {each['message']}"} for each in fields]
    message = problem.document["detail"]
    members = {"name": _NAMES.get(problem.status, "InternalError"), "message": message}
    return problem.with_members({**members, "details": details or [{"message": message}]})


def credential_in(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The SDK key in `Authorization`, with or without `Bearer`; an empty string if there is none, or not just one."""
    found = [value for name, value in headers if name == b"authorization"]
    if len(found) != 1:
        return ""
    key = found[0].strip()
    return (key[7:].strip() if key[:7].lower() == b"bearer " else key).decode("latin-1")
