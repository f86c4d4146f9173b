"""Releases in requests."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from flagstaff.api.ids import GivenId
from flagstaff.api.schemas import (
    Body,
    BucketingKey,
    Description,
    FallthroughName,
    FlagKey,
    GivenMoment,
    Name,
    Priority,
    RolloutPercentage,
    RulePercentage,
    RuleTypeName,
    RuleValue,
    Stickiness,
    Tags,
    VariantKey,
    at_most,
    optional,
)
from flagstaff.flags.bulk_actions import FLAGS_MAX
from flagstaff.flags.targeting.condition_schemas import Conditions
from flagstaff.flags.variant_schemas import Prerequisites, Variants
from flagstaff.metrics.request_metrics import LABELS_MAX, Measure, MeasureName
from flagstaff.releases.plans import (
    AFTER_SECONDS_MAX,
    FALSE_ALARM_RATE,
    GUARDS_MAX,
    LEAST_USERS_MAX,
    NAMED_RULES,
    RULES_MAX,
    STEPS_MAX,
    THRESHOLD_MINUTES_MAX,
    THRESHOLDS_MAX,
    TOLERATES_MAX,
    Action,
    Guard,
    Plan,
    Step,
    Threshold,
    WhenLate,
)
from flagstaff.serving.applications import TEXT_MAX_LENGTH

ActionName = Literal["turn_off", "pause", "notify"]
WhenLateName = Literal["run", "skip"]
_NEW_RULE = {"rule_value": None, "priority": 0, "enabled": True}
_LIMIT_MOST = 1e15
_RATE_LEAST, _RATE_MOST = 0.0001, 0.5


def _whole_as_float(given: Any) -> Any:
    is_whole = isinstance(given, int) and not isinstance(given, bool) and abs(given) < 2**53
    return float(given) if is_whole else given


LabelText = Annotated[str, Field(min_length=1, max_length=TEXT_MAX_LENGTH)]
Limit = Annotated[float, BeforeValidator(_whole_as_float), Field(ge=-_LIMIT_MOST, le=_LIMIT_MOST)]


class RuleEdit(Body):
    """A change of a rule: with an `id` of this rule, which `delete` deletes; without, a new rule."""

    id: GivenId = optional()
    delete: bool = optional()
    rule_type: RuleTypeName = optional()
    rule_value: RuleValue | None = None
    priority: Priority = optional()
    enabled: bool = optional()
    name: Name | None = None
    conditions: Conditions = optional()
    rollout_percentage: RulePercentage = optional()
    variant: VariantKey | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = self.model_fields_set
        if "id" not in given and "rule_type" not in given:
            raise ValueError("must have the id of a rule, or for a new one its rule_type")
        if "delete" in given and given != {"id", "delete"}:
            raise ValueError("must have an id and nothing else to delete a rule")
        if not given - {"id"}:
            raise ValueError("must change something")
        return self

    def given(self) -> dict[str, Any]:
        """The fields that are changed; of a new rule also those that have a default and are needed."""
        return _given(self) if "id" in self.model_fields_set else {**_NEW_RULE, **_given(self)}


class Changes(Body):
    """Fields of the flag to change, and rules."""

    name: Name = optional()
    description: Description | None = None
    enabled: bool = optional()
    rollout_percentage: RolloutPercentage = optional()
    fallthrough: FallthroughName = optional()
    bucketing_key: BucketingKey | None = None
    stickiness: Stickiness = optional()
    tags: Tags = optional()
    variants: Variants = optional()
    prerequisites: Prerequisites = optional()
    owner: Name | None = None
    keep: bool = optional()
    rules: Annotated[list[RuleEdit], at_most(RULES_MAX)] = optional()

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("must change something")
        return self

    def given(self) -> dict[str, Any]:
        """The changes in the form in which they are kept: that of the audit trail, with the defaults inside."""
        rules = {NAMED_RULES: [each.given() for each in self.rules]} if NAMED_RULES in self.model_fields_set else {}
        return _given(self) | rules


def _given(body: Body) -> dict[str, Any]:
    """The fields of a body that were given, as JSON."""
    return body.model_dump(mode="json", include=body.model_fields_set - {NAMED_RULES})


class StepBody(Body):
    """A step: what it changes, and when."""

    at: GivenMoment = optional()
    after_seconds: Annotated[int, Field(ge=0, le=AFTER_SECONDS_MAX)] = optional()
    changes: Changes
    least_users: Annotated[int, Field(ge=1, le=LEAST_USERS_MAX)] = Field(
        default_factory=int,
        description="The step also waits until the previous step has exposed this number of new users.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len({"at", "after_seconds"} & self.model_fields_set) != 1:
            raise ValueError("must have either at or after_seconds")
        return self

    def read(self) -> Step:
        """The step as the domain has it."""
        given = self.model_fields_set
        return Step(
            self.changes.given(),
            self.at if "at" in given else None,
            self.after_seconds if "after_seconds" in given else None,
            self.least_users if "least_users" in given else None,
        )


class GuardBody(Body):
    """A metric that is watched, and what happens when it is worse for users with the flag."""

    metric: FlagKey
    action: ActionName
    tolerates: Annotated[
        float,
        BeforeValidator(_whole_as_float),
        Field(ge=0, le=TOLERATES_MAX, description="The share by which it may be worse: 0.1 tolerates a ratio of 1.1."),
    ] = 0.0


class ThresholdBody(Body):
    """A limit for a request metric over the last whole minutes, and what happens when it is passed."""

    request_metric: LabelText
    measure: MeasureName
    labels: Annotated[
        dict[LabelText, LabelText], at_most(LABELS_MAX), Field(json_schema_extra={"maxProperties": LABELS_MAX})
    ] = Field(
        default={}, description='Only what was reported with these labels, such as `{"new-checkout": "enabled"}`.'
    )
    above: Limit = optional()
    below: Limit = optional()
    minutes: Annotated[int, Field(ge=1, le=THRESHOLD_MINUTES_MAX)] = Field(
        default=5, description="All of them are after the step in force began."
    )
    action: ActionName

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len({"above", "below"} & self.model_fields_set) != 1:
            raise ValueError("must have either above or below")
        return self

    def read(self) -> Threshold:
        """The threshold as the domain has it."""
        given = self.model_fields_set
        return Threshold(
            self.request_metric,
            Measure(self.measure),
            Action(self.action),
            self.minutes,
            tuple(sorted(self.labels.items())),
            above=self.above if "above" in given else None,
            below=self.below if "below" in given else None,
        )


def _check_guards(given: list[GuardBody]) -> list[GuardBody]:
    keys = [guard.metric for guard in given]
    if len(set(keys)) < len(keys):
        raise ValueError("must not have a metric twice")
    return given


class NewRelease(Body):
    """A new release of a flag."""

    name: Name | None = None
    steps: Annotated[list[StepBody], at_most(STEPS_MAX)] = Field(json_schema_extra={"minItems": 1})
    guards: Annotated[list[GuardBody], at_most(GUARDS_MAX)] = Field(default=[])
    thresholds: Annotated[list[ThresholdBody], at_most(THRESHOLDS_MAX)] = Field(default=[])
    false_alarm_rate: Annotated[
        float,
        Field(
            ge=_RATE_LEAST,
            le=_RATE_MOST,
            description="The maximum probability that any guard acts on a harmless flag.",
        ),
    ] = FALSE_ALARM_RATE
    when_late: WhenLateName = Field(
        default="run", description="Whether a step whose time has passed in an outage is applied late, or skipped."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.steps:
            raise ValueError("must have at least one step")
        _check_guards(self.guards)
        return self

    def read(self) -> Plan:
        """The release that is wanted as the domain has it."""
        return Plan(
            self.name,
            tuple(each.read() for each in self.steps),
            tuple(Guard(each.metric, Action(each.action), each.tolerates) for each in self.guards),
            tuple(each.read() for each in self.thresholds),
            self.false_alarm_rate,
            WhenLate(self.when_late),
        )


class FlagSchedule(Body):
    """The changes of one of several flags."""

    flag_id: GivenId
    changes: Changes


class NewSchedules(Body):
    """Changes of several flags of an environment at one moment."""

    name: Name | None = None
    at: GivenMoment
    flags: Annotated[list[FlagSchedule], at_most(FLAGS_MAX)] = Field(json_schema_extra={"minItems": 1})
    when_late: WhenLateName = "run"

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.flags:
            raise ValueError("must have at least one flag")
        if len({each.flag_id for each in self.flags}) < len(self.flags):
            raise ValueError("must not have a flag twice")
        return self
