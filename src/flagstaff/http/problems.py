"""The documentation of errors: the shape of a problem document, and the statuses of each route."""

from typing import Annotated, Any

from pydantic import Field

from flagstaff.http.response_models import ResponseModel


class FieldProblem(ResponseModel):
    """One invalid field."""

    field: str = Field(examples=["rollout_percentage"])
    message: str = Field(examples=["must be a whole number from 0 to 100, where 0 means everyone"])


class ProblemDocument(ResponseModel):
    """An error (RFC 9457)."""

    type: str = Field(examples=["urn:flagstaff:error:invalid"])
    title: str = Field(examples=["Bad Request"])
    status: int = Field(examples=[400])
    detail: str = Field(examples=["The request is invalid."])
    request_id: str
    errors: list[FieldProblem] | None = Field(default=None, description="The invalid fields, if the input is invalid.")
    permission: str | None = Field(
        default=None, description="The permission that your role or your token does not have."
    )
    provider: str | None = Field(
        default=None, description="The key of the identity provider at which the account must be opened."
    )
    challenge: str | None = Field(default=None, description="The login that needs a second factor.")
    methods: list[str] | None = Field(default=None, description="The accepted second factors.")
    passkey_options: dict[str, Any] | None = Field(
        default=None, description="The options for `navigator.credentials.get`, to answer the challenge with a passkey."
    )
    email: str | None = Field(default=None, description="The address of the account of that login.")
    return_to: str | None = Field(default=None, description="The page to open after that login.")
    logout_url: str | None = Field(
        default=None, description="Where the browser ends the session at the identity provider of that login."
    )
    current: dict[str, Any] | None = Field(
        default=None, description="The current state of a resource that is not in the state that `If-Match` requires."
    )
    changed_by: dict[str, Any] | None = Field(
        default=None, description="Who made the latest change to it, as in the audit trail."
    )
    changed_at: Annotated[str, Field(json_schema_extra={"format": "date-time"})] | None = Field(
        default=None, description="When the latest change was made."
    )
    missing: list[str] | None = Field(
        default=None, description="The names of the instances that have not confirmed the change."
    )
    works: dict[str, bool] | None = Field(
        default=None, description="Of `/ready`: which of `evaluations`, `writes` and `history` still work."
    )


_DESCRIPTIONS = {
    400: "Malformed or invalid input; `errors` names the fields.",
    401: "The access token is missing, malformed or expired.",
    403: "Your role in the project, or your access token, does not have the `permission`; a second factor is demanded, "
    "and your account has none; only administrators, or only people, can do this; registration is closed; the account "
    "is deactivated; or it can be opened only at its identity provider.",
    404: "The resource does not exist or is not yours.",
    409: "The key or the email is taken, a quota is reached (`detail` names the setting), the `Idempotency-Key` was "
    "used for another request, or a newer version of Flagstaff has stored events in a form that this one cannot read.",
    412: "The resource has been changed: it is not in the state that `If-Match` demands. Unless you may not read it, "
    "`current` is its present state, whose `ETag` the response has. `changed_by` and `changed_at` say who made the "
    "latest change, and when, if you may read the audit trail.",
    413: "The body is larger than this operation accepts.",
    429: "The rate limit is exceeded; `Retry-After` is the number of seconds to wait.",
    500: "An internal error; the server's log has details under this request's id.",
    503: "The database cannot be reached, or not every instance has confirmed the change. With `Retry-After` nothing "
    "was changed; try again after that many seconds. Without it the change may be stored: read before you repeat.",
}

_CONTENT = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}}
_ANSWERS: dict[int, dict[str, Any]] = {
    status: {"description": description, "content": _CONTENT} for status, description in _DESCRIPTIONS.items()
}

DOCUMENTED = tuple(_DESCRIPTIONS)
"""The statuses of errors that operations may have."""


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The documentation of a route's errors. All routes share it, so do not change it."""
    return {status: _ANSWERS[status] for status in statuses}
