"""Conditions in requests and responses. Their values are checked by the use cases, which name an invalid one."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, FailFast, Field

from flagstaff.conditions import conditions
from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import TAKES_A_LIST, Operator

*_MOST, _LAST = [f"`{each}`" for each in Operator if each in TAKES_A_LIST]
_VALUE_SCHEMA = {"minLength": 1, "maxLength": conditions.VALUE_MAX_LENGTH}

Values = Annotated[
    list[str],
    FailFast(),
    Field(
        json_schema_extra={
            "maxItems": conditions.MAX_VALUES,
            "items": {"type": "string", **_VALUE_SCHEMA},
        },
        description=f"Several for {', '.join(_MOST)} and {_LAST}, else one.",
    ),
]


class ConditionBody(BaseModel):
    """A condition on an attribute of the user."""

    model_config = ConfigDict(strict=True, extra="forbid")

    attribute: Annotated[
        str,
        Field(
            json_schema_extra={"minLength": 1, "maxLength": conditions.ATTRIBUTE_MAX_LENGTH, "pattern": r"\S"},
            description=(
                "`user_id`, `user_email`, `email_domain`, `environment`, `current_time` or a key of "
                "`context.custom_attributes`."
            ),
        ),
    ]
    operator: Annotated[Operator, Field(strict=False)]
    values: Values
    case_insensitive: bool = False
    negate: Annotated[
        bool,
        Field(
            description="Whether the condition is met if the values do not match. A missing attribute never meets it."
        ),
    ] = False


Conditions = Annotated[
    list[ConditionBody],
    FailFast(),
    Field(
        json_schema_extra={"maxItems": conditions.MAX_CONDITIONS},
        description="All of them must be met. An empty list is met by everyone.",
    ),
]


def read_conditions(given: list[dict[str, Any]]) -> tuple[Condition, ...]:
    """The conditions of a request's body, not checked yet."""
    return tuple(Condition(**{**each, "values": tuple(each["values"])}) for each in given)
