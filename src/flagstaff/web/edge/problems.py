"""How the errors are documented: the shape of a problem document, and which statuses a route answers."""

from typing import Any

from pydantic import BaseModel, Field


class FieldProblem(BaseModel):
    """One invalid field."""

    field: str = Field(examples=["rollout_percentage"])
    message: str = Field(examples=["must be a whole number from 0 to 100"])


class ProblemDocument(BaseModel):
    """Every error (RFC 9457)."""

    type: str = Field(examples=["urn:flagstaff:error:invalid"])
    title: str = Field(examples=["Bad Request"])
    status: int = Field(examples=[400])
    detail: str = Field(examples=["The request is invalid."])
    request_id: str
    errors: list[FieldProblem] | None = Field(default=None, description="The invalid fields, for bad input.")


_DESCRIPTIONS = {
    400: "Malformed or invalid input; `errors` names the fields.",
    401: "The access token is missing, malformed or expired.",
    403: "Registration is closed.",
    404: "It does not exist, or it is not yours.",
    409: "The key or the email is taken, a quota is reached (`detail` names the setting), or the `Idempotency-Key` was "
    "used for another request.",
    413: "The body is larger than this operation accepts.",
    429: "The rate limit is exceeded; `Retry-After` says for how many seconds.",
    500: "Something went wrong on our side; the log has more under this request's id.",
    503: "The database cannot be reached, or not every instance has confirmed the change. With `Retry-After` nothing "
    "was changed; try again after so many seconds. Without it the change may be in force: read before you repeat.",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The documentation of a route's errors."""
    return {
        status: {
            "description": _DESCRIPTIONS[status],
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}},
        }
        for status in statuses
    }
