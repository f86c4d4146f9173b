"""Errors in the product's own terms, independent of HTTP: http/errors.py maps codes to statuses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Code(StrEnum):
    """Every kind of failure that reaches a caller."""

    INVALID = "invalid"
    UNAUTHENTICATED = "unauthenticated"
    MFA_REQUIRED = "mfa_required"
    FORBIDDEN = "forbidden"
    MFA_ENROLMENT_REQUIRED = "mfa_enrolment_required"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    PRECONDITION_FAILED = "precondition_failed"
    TOO_LARGE = "too_large"
    LIMITED = "limited"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class FieldError:
    """An invalid field: its dotted name as the caller wrote it, and what is accepted."""

    field: str
    message: str

    def __str__(self) -> str:
        """Both as a sentence. A message that is a sentence itself needs no field."""
        return self.message if self.message.endswith(".") else f"{self.field} {self.message}."


class Error(Exception):
    """An error that is reported to the caller; `message` never contains a secret, SQL or a path."""

    def __init__(
        self,
        code: Code,
        message: str,
        *,
        fields: Sequence[FieldError] = (),
        extensions: Mapping[str, Any] | None = None,
        retry_after_seconds: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fields = tuple(fields)
        self.extensions = extensions or {}  # what a program needs to go on, such as the permission that is missing
        self.retry_after_seconds = retry_after_seconds

    def inside(self, parent: str) -> "Error":
        """The same error as seen from the resource in which the invalid fields are, at this field."""
        fields = [FieldError(f"{parent}.{each.field}", each.message) for each in self.fields]
        return Error(
            self.code,
            self.message,
            fields=fields,
            extensions=self.extensions,
            retry_after_seconds=self.retry_after_seconds,
        )


def invalid_field(field: str, message: str) -> Error:
    """The error for one invalid field."""
    return Error(Code.INVALID, "The request is invalid.", fields=[FieldError(field, message)])


def not_found(resource: str) -> Error:
    """The error for a resource that does not exist or belongs to someone else."""
    return Error(Code.NOT_FOUND, f"There is no such {resource}.")


def forbidden(permission: str, place: str) -> Error:
    """The error for an action that needs a permission in a place, such as `in the whole project`."""
    return Error(
        Code.FORBIDDEN,
        f"This requires the permission {permission} {place}, which your role or your access token does not have. Ask "
        "an owner or an admin of the project.",
        extensions={"permission": permission},
    )


def limited(wait_seconds: int) -> Error:
    """The error for a request beyond its limit."""
    return Error(Code.LIMITED, "Too many requests. Try again later.", retry_after_seconds=wait_seconds)


def enrolment_required(place: str) -> Error:
    """The error for an account without a second factor in a place that demands one, such as `This project`."""
    return Error(
        Code.MFA_ENROLMENT_REQUIRED,
        f"{place} requires a second factor, and your account has none. Enrol an authenticator app "
        "(POST /api/me/two-factor/totp) or a passkey (POST /api/me/two-factor/passkeys/options), then try again.",
    )


_BEFORE_A_REPEAT = (
    "Read the resource before you repeat the request; one with an Idempotency-Key can be repeated with the same key."
)
_AWAY = "The database cannot be reached right now. Nothing was changed. Try again shortly."


def unavailable(message: str = _AWAY, extensions: Mapping[str, Any] | None = None) -> Error:
    """The error while a dependency is unavailable and nothing was changed: the request can be repeated."""
    return Error(Code.UNAVAILABLE, message, extensions=extensions, retry_after_seconds=5)


def unconfirmed(message: str, extensions: Mapping[str, Any] | None = None) -> Error:
    """The error when a change may have taken effect: without `retry_after_seconds`, so that it is not repeated."""
    return Error(Code.UNAVAILABLE, f"{message} {_BEFORE_A_REPEAT}", extensions=extensions)
