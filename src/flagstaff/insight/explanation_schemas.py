"""The schema of explanations."""

from typing import Annotated, Any

from pydantic import Field

from flagstaff.api.schemas import Moment, Uuid
from flagstaff.conditions.operators import Operator
from flagstaff.evaluation.explanations.traces import ChosenBy, RuleStatus, Step
from flagstaff.flags.field_schemas import RulePercentage, RuleTypeName
from flagstaff.http.response_models import ResponseModel

MAX_VALUES = 20
MAX_TEXT = 200
_IDENTIFIER = "What identifies the user; null if nothing does."
_HASHED = "The text that is hashed: the bucketing key, or else the flag's key, and the identifier."


class DecidedBy(ResponseModel):
    """The cause of a decision."""

    step: Annotated[
        Step,
        Field(
            description="`everyone` if no rule matched and the flag has no rollout: its `rollout_percentage` is 0. "
            "`fallthrough` if no rule matched and its `fallthrough` is `off`."
        ),
    ]
    prerequisite: str | None = Field(description="The flag that does not have the required result.")
    rule_id: Uuid | None = Field(description="The rule that matched; null for one that is not saved.")
    rule_name: str | None


class ActualResult(ResponseModel):
    """The result of another flag."""

    enabled: bool
    variant: str | None


class PrerequisiteTraceOut(ResponseModel):
    """A prerequisite and the result of the other flag."""

    flag_key: str
    enabled: bool
    variants: list[str]
    actual: ActualResult | None
    holds: bool


class ConditionTraceOut(ResponseModel):
    """A condition and the user's attribute."""

    attribute: str
    operator: Operator
    values: list[str] = Field(description=f"The first {MAX_VALUES} values.")
    values_total: int = Field(description="How many values the condition has.")
    case_insensitive: bool
    negate: bool
    actual: Annotated[
        Any,
        Field(
            description="The attribute: a string, number, boolean or list, of which long ones are cut; null if it is "
            "missing. An object, which no condition can compare, is shown as `{}`.",
            examples=["PT"],
        ),
    ]
    holds: bool


class SegmentNameOut(ResponseModel):
    """The segment that a rule names. The `segments` of the explanation have its conditions."""

    key: str
    name: str


class SegmentTraceOut(SegmentNameOut):
    """A segment that rules name, and whether the user meets its conditions."""

    holds: bool
    conditions: list[ConditionTraceOut]


class RuleTraceOut(ResponseModel):
    """A rule, and what came of it. Rules that are not reached are checked as well."""

    id: Uuid | None = Field(description="Null for a rule that is not saved.")
    name: str | None
    rule_type: RuleTypeName
    rule_value: str | None
    priority: int
    enabled: bool
    status: RuleStatus
    matches: bool = Field(description="Whether the type and value match the user, without the conditions.")
    conditions: list[ConditionTraceOut]
    segment: SegmentNameOut | None
    bucket: int | None = Field(description="The user's bucket, 0 to 99, if the rule is for a percentage of users.")
    rollout_percentage: RulePercentage
    variant: str | None


class RolloutTraceOut(ResponseModel):
    """The flag's rollout. The user is inside if the bucket is below the percentage."""

    identifier: str | None = Field(description=_IDENTIFIER)
    hashed: str | None = Field(description=_HASHED, examples=["new-checkout:user-42"])
    bucket: int | None
    percentage: int
    inside: bool


class VariantRange(ResponseModel):
    """The positions of a variant: from the first one up to, but not including, the last one."""

    key: str
    start: int = Field(alias="from")
    end: int = Field(alias="to")


class VariantsTraceOut(ResponseModel):
    """The flag's variants and the user's position among their weights."""

    identifier: str | None = Field(description=_IDENTIFIER)
    hashed: str | None = Field(description=_HASHED)
    position: int | None
    total_weight: int
    ranges: list[VariantRange]
    chosen: str | None = Field(description="Null if the flag is off for the user.")
    by: ChosenBy | None = Field(description="Null if the flag is off for the user.")


class FlagTraceOut(ResponseModel):
    """A flag, with the result that an evaluation would have, and why."""

    flag_key: str
    enabled: bool
    reason: str
    variant: str | None = Field(default=None, description="Only of a flag with variants.")
    value: Any = Field(default=None, description="The variant's value. Only of a flag with variants.")
    decided_by: DecidedBy
    prerequisites: list[PrerequisiteTraceOut]
    rollout: RolloutTraceOut | None = Field(
        description="Null if the flag has no rollout, because its `rollout_percentage` is 0, which means everyone, or "
        "its `fallthrough` is `off`."
    )
    variants: VariantsTraceOut | None
    rules: list[RuleTraceOut] = Field(description="In the order in which they are tried.")
    more_rules: bool = Field(description="Whether further rules were left out, because the response would be too long.")


class ExplanationOut(ResponseModel):
    """The explanation of flags for a user."""

    environment_key: str
    evaluated_at: Moment
    flags: list[FlagTraceOut]
    segments: list[SegmentTraceOut] = Field(description="The segments that the rules name, each once.")
    more_flags: bool = Field(
        description="Whether flags were left out because the response has reached 4 MiB. Request them with `flag_keys`."
    )
