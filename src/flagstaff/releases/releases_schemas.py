"""Releases in requests and responses."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from flagstaff.api.entity_tags import TaggedOut
from flagstaff.api.ids import GivenId
from flagstaff.api.schemas import (
    Body,
    BucketingKey,
    Description,
    FallthroughName,
    FlagKey,
    GivenMoment,
    Moment,
    Name,
    Priority,
    RolloutPercentage,
    RulePercentage,
    RuleTypeName,
    RuleValue,
    Stickiness,
    Tags,
    Uuid,
    VariantKey,
    at_most,
    optional,
)
from flagstaff.flags.bulk_actions import FLAGS_MAX
from flagstaff.flags.targeting.condition_schemas import Conditions
from flagstaff.flags.variant_schemas import Prerequisites, Variants
from flagstaff.releases.releases import (
    AFTER_SECONDS_MAX,
    FALSE_ALARM_RATE,
    GUARDS_MAX,
    LEAST_USERS_MAX,
    NAMED_RULES,
    RULES_MAX,
    STEPS_MAX,
    TOLERATES_MAX,
    Action,
    Guard,
    Release,
    Step,
)
from flagstaff.values.moments import format_moment

ActionName = Literal["turn_off", "pause", "notify"]
WhenLateName = Literal["run", "skip"]
StateName = Literal["scheduled", "running", "paused", "done", "stopped", "cancelled", "failed"]
_NEW_RULE = {"rule_value": None, "priority": 0, "enabled": True}
_RATE_LEAST, _RATE_MOST = 0.0001, 0.5


def _whole_as_float(given: Any) -> Any:
    is_whole = isinstance(given, int) and not isinstance(given, bool) and abs(given) < 2**53
    return float(given) if is_whole else given


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
        description="The step also waits until the step before has exposed so many new users.",
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
        Field(ge=0, le=TOLERATES_MAX, description="By which share it may be worse: 0.1 tolerates a ratio of 1.1."),
    ] = 0.0


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
    false_alarm_rate: Annotated[
        float,
        Field(
            ge=_RATE_LEAST,
            le=_RATE_MOST,
            description="The chance that any guard ever acts on a harmless flag is at most this.",
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

    def read_guards(self) -> list[Guard]:
        """The guards as the domain has them."""
        return [Guard(each.metric, Action(each.action), each.tolerates) for each in self.guards]


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


class ArmOut(BaseModel):
    """A group that a step divides users into."""

    name: str = Field(description="`off` and `on` of a rollout, or a variant. The first one is the control.")
    share: float


class AppliedOut(BaseModel):
    """A step that was applied, or skipped."""

    step: int
    at: Moment
    due_at: Moment
    late: bool
    skipped: bool
    folded: list[int] = Field(description="The steps before it whose times had passed as well.")
    arms: list[ArmOut] | None


class AlarmOut(BaseModel):
    """A guard that has acted, or without a metric, a split that is not as asked."""

    metric: str | None
    action: ActionName | None
    at: Moment
    evidence: float
    threshold: float
    words: str


class StepOut(BaseModel):
    """A step."""

    at: Moment | None = None
    after_seconds: int | None = None
    changes: dict[str, Any]
    least_users: int | None = None


class GuardOut(BaseModel):
    """A guard."""

    metric: str
    action: ActionName
    tolerates: float


class ReleaseAuthor(BaseModel):
    """The account that made the release, and for which it acts."""

    id: Uuid | None
    email: str | None


class ReleaseOut(TaggedOut):
    """A release of a flag."""

    id: Uuid
    project_id: Uuid
    environment_id: Uuid
    flag_id: Uuid
    name: str | None
    steps: list[StepOut]
    guards: list[GuardOut]
    false_alarm_rate: float
    when_late: WhenLateName
    state: StateName
    reason: str | None = Field(description="Why it is paused, stopped, cancelled or failed.")
    author: ReleaseAuthor
    applied: list[AppliedOut]
    alarms: list[AlarmOut]
    next_step: int | None
    due_at: Moment | None = Field(description="When the next step is due, or after the last, when watching ends.")
    ended_at: Moment | None
    created_at: Moment
    updated_at: Moment


def view_release(release: Release) -> dict[str, Any]:
    """A release as responses have it."""
    step = release.next_step
    due_at = release.due_of(step) if release.due_at is not None and step is not None else release.due_at
    return {
        "id": release.id,
        "project_id": release.project_id,
        "environment_id": release.environment_id,
        "flag_id": release.flag_id,
        "name": release.name,
        "steps": [
            {
                "at": each.at and format_moment(each.at),
                "after_seconds": each.after_seconds,
                "changes": each.changes,
                "least_users": each.least_users,
            }
            for each in release.steps
        ],
        "guards": [
            {"metric": each.metric, "action": each.action, "tolerates": each.tolerates} for each in release.guards
        ],
        "false_alarm_rate": release.false_alarm_rate,
        "when_late": release.when_late,
        "state": release.state,
        "reason": release.reason,
        "author": {"id": release.author_id, "email": release.author_email},
        "applied": [
            {
                "step": each.step,
                "at": format_moment(each.at),
                "due_at": format_moment(each.due_at),
                "late": each.is_late,
                "skipped": each.is_skipped,
                "folded": each.skipped,
                "arms": each.arms
                and [
                    {"name": name, "share": share}
                    for name, share in zip(each.arms.names, each.arms.shares, strict=True)
                ],
            }
            for each in release.applied
        ],
        "alarms": [
            {
                "metric": each.metric,
                "action": each.action,
                "at": format_moment(each.at),
                "evidence": each.evidence,
                "threshold": each.threshold,
                "words": each.words,
            }
            for each in release.alarms
        ],
        "next_step": release.next_step if release.is_open else None,
        "due_at": due_at and format_moment(due_at),
        "ended_at": release.ended_at and format_moment(release.ended_at),
        "created_at": format_moment(release.created_at),
        "updated_at": format_moment(release.updated_at),
    }
