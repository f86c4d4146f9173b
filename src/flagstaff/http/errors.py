"""Maps errors to HTTP statuses and problem documents (RFC 9457)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.types import Send

from flagstaff.values.errors import Code, Error

STATUSES = {
    Code.INVALID: 400,
    Code.UNAUTHENTICATED: 401,
    Code.MFA_REQUIRED: 401,
    Code.FORBIDDEN: 403,
    Code.MFA_ENROLMENT_REQUIRED: 403,
    Code.NOT_FOUND: 404,
    Code.CONFLICT: 409,
    Code.PRECONDITION_FAILED: 412,
    Code.TOO_LARGE: 413,
    Code.LIMITED: 429,
    Code.INTERNAL: 500,
    Code.UNAVAILABLE: 503,
}
# The names in RFC 9110 and RFC 6585; Python's names differ between its versions.
_TITLES = {413: "Content Too Large", 414: "URI Too Long"}
MEDIA_TYPE = "application/problem+json"


class UnauthenticatedError(Error):
    """An UNAUTHENTICATED error with its own challenge; all others use `Bearer`."""

    def __init__(self, message: str, challenge: bytes) -> None:
        super().__init__(Code.UNAUTHENTICATED, message)
        self.challenge = challenge


class ChangedError(Error):
    """The error for a resource that is not in the state that a request demands, with the tag of its present state."""

    def __init__(self, noun: str, extensions: Mapping[str, Any], tag: str | None) -> None:
        super().__init__(
            Code.PRECONDITION_FAILED,
            f"The {noun} has been changed since you read it. Nothing was changed by this request. Read it again, apply "
            "your change to its present state, and send the ETag of that state.",
            extensions=extensions,
        )
        self.tag = tag


class MethodNotAllowedError(Error):
    """The error for a method that a path does not accept, with those that it does."""

    def __init__(self, *allowed: str) -> None:
        super().__init__(Code.INVALID, f"This endpoint accepts only {' and '.join(allowed)} requests.")
        self.allowed = ", ".join(allowed)


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as an HTTP response."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    document: Mapping[str, Any] = field(default_factory=dict)

    def with_members(self, members: Mapping[str, Any]) -> "Problem":
        """The same error as plain JSON with further members in front, as other protocols' clients expect it."""
        document = {**members, **self.document}
        body = msgspec.json.encode(document)
        replaced = {b"content-type": b"application/json", b"content-length": b"%d" % len(body)}
        headers = tuple((name, replaced.get(name, value)) for name, value in self.headers)
        return replace(self, headers=headers, body=body, document=document)


ErrorForm = Callable[[Problem, str], Problem]
"""Gives an error at a path the form that a protocol's clients understand."""


def problem_of(error: Error, request_id: str) -> Problem:
    """The HTTP response for a domain error."""
    if isinstance(error, MethodNotAllowedError):
        return problem(405, error.message, request_id, headers=[(b"allow", error.allowed.encode())])
    headers = []
    if error.retry_after_seconds is not None:
        headers.append((b"retry-after", b"%d" % error.retry_after_seconds))
    if STATUSES[error.code] == 401:
        challenge = error.challenge if isinstance(error, UnauthenticatedError) else b"Bearer"
        headers.append((b"www-authenticate", challenge))
    if isinstance(error, ChangedError) and error.tag is not None:
        headers.append((b"etag", error.tag.encode()))
    # A caller can name a field with a lone surrogate, which no response can have.
    fields = [{"field": each.field.encode(errors="replace").decode(), "message": each.message} for each in error.fields]
    return problem(
        STATUSES[error.code],
        error.message,
        request_id,
        kind=error.code,
        fields=fields,
        extensions=error.extensions,
        headers=headers,
    )


def problem(
    status: int,
    detail: str,
    request_id: str,
    *,
    kind: str | None = None,
    fields: list[dict[str, str]] | None = None,
    extensions: Mapping[str, Any] | None = None,
    headers: Iterable[tuple[bytes, bytes]] = (),
) -> Problem:
    """A problem document. `kind` is a domain error's code; errors that exist only in HTTP are named by their status."""
    title = _TITLES.get(status) or HTTPStatus(status).phrase
    document: dict[str, Any] = {
        "type": f"urn:flagstaff:error:{kind or title.lower().replace(' ', '_')}",
        "title": title,
        "status": status,
        "detail": detail,
        "request_id": request_id,
    }
    if fields:
        document["errors"] = fields
    document |= extensions or {}
    body = msgspec.json.encode(document)
    own = ((b"content-type", MEDIA_TYPE.encode()), (b"content-length", b"%d" % len(body)))
    return Problem(status, (*own, *headers), body, document)


def internal_problem(request_id: str) -> Problem:
    """The HTTP response for a crash, which only says where to look."""
    detail = "An internal error occurred. The server's log has details under this request's id."
    return problem(500, detail, request_id, kind=Code.INTERNAL)


async def send_problem(answer: Problem, send: Send) -> None:
    """Send a problem document."""
    await send({"type": "http.response.start", "status": answer.status, "headers": list(answer.headers)})
    await send({"type": "http.response.body", "body": answer.body})
