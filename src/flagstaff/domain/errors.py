"""What goes wrong, in the product's own terms. Knows nothing of HTTP: web/edge/errors.py maps codes to statuses."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Code(StrEnum):
    """Every kind of failure that reaches a caller."""

    INVALID = "invalid"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    TOO_LARGE = "too_large"
    LIMITED = "limited"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class FieldError:
    """One invalid field: its dotted name as the caller wrote it, and what to do about it."""

    field: str
    message: str


class Error(Exception):
    """A failure to be told to the caller; `message` never holds a secret, SQL or a path."""

    def __init__(
        self, code: Code, message: str, *, fields: Sequence[FieldError] = (), retry_after_seconds: int | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fields = tuple(fields)
        self.retry_after_seconds = retry_after_seconds


def invalid_field(field: str, message: str) -> Error:
    """The error for one invalid field."""
    return Error(Code.INVALID, "The request is invalid.", fields=[FieldError(field, message)])


def not_found(resource: str) -> Error:
    """The one answer for what does not exist and for what belongs to somebody else."""
    return Error(Code.NOT_FOUND, f"There is no such {resource}.")


_BEFORE_A_REPEAT = (
    "Read the resource before you repeat the request; one with an Idempotency-Key can be repeated with the same key."
)
_AWAY = "The database cannot be reached at the moment, and nothing was changed. Try again shortly."


def unavailable(message: str = _AWAY) -> Error:
    """The answer while something Flagstaff depends on is away, and nothing was changed: the request can be repeated."""
    return Error(Code.UNAVAILABLE, message, retry_after_seconds=5)


def unconfirmed(message: str) -> Error:
    """The answer when a change may be in force: without `retry_after_seconds`, which would invite a repeat."""
    return Error(Code.UNAVAILABLE, f"{message} {_BEFORE_A_REPEAT}")
