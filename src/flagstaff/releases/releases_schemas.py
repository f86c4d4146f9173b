"""Releases in requests."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic.config import JsonDict

from flagstaff.api.ids import GivenId
from flagstaff.api.schemas import (
    CASES,
    Body,
    FlagKey,
    GivenMoment,
    Name,
    at_most,
    optional,
)
from flagstaff.flags.bulk_actions import FLAGS_MAX
from flagstaff.history.applications import TEXT_MAX_LENGTH
from flagstaff.metrics.request_metrics import LABELS_MAX, Measure, MeasureName
from flagstaff.releases.plans import (
    FALSE_ALARM_RATE,
    GUARDS_MAX,
    STEPS_MAX,
    THRESHOLD_MINUTES_MAX,
    THRESHOLDS_MAX,
    TOLERATES_MAX,
    Action,
    Counts,
    Guard,
    Plan,
    Threshold,
    WhenLate,
)
from flagstaff.releases.steps_schemas import Changes, StepBody

ActionName = Literal["turn_off", "pause", "notify"]
CountsName = Literal["all", "server_keys"]
WhenLateName = Literal["run", "skip"]
_LIMIT_MOST = 1e15
_RATE_LEAST, _RATE_MOST = 0.0001, 0.5


def whole_as_float(given: Any) -> Any:
    """A whole number as the float that a strict field wants."""
    is_whole = isinstance(given, int) and not isinstance(given, bool) and abs(given) < 2**53
    return float(given) if is_whole else given


LabelText = Annotated[str, Field(min_length=1, max_length=TEXT_MAX_LENGTH)]
# Bounds that follow a validator would not be `minimum` and `maximum` in the API's description.
Limit = Annotated[float, Field(ge=-_LIMIT_MOST, le=_LIMIT_MOST), BeforeValidator(whole_as_float)]


_LIMITS: JsonDict = {
    "ThresholdAbove": {
        "description": "A limit that is passed by larger values.",
        "required": ["above"],
        "without": ["below"],
    },
    "ThresholdBelow": {
        "description": "A limit that is passed by smaller values.",
        "required": ["below"],
        "without": ["above"],
    },
}


class GuardBody(Body):
    """A metric that is watched, and what happens when it is worse for users with the flag."""

    metric: FlagKey
    action: ActionName
    tolerates: Annotated[
        float,
        Field(
            ge=0,
            le=TOLERATES_MAX,
            description="The share by which it may be worse: 0.1 tolerates a ratio of 1.1, and of a count or a value a "
            "tenth of the size of the control's mean; there it must be below 1.",
        ),
        BeforeValidator(whole_as_float),
    ] = 0.0
    tolerates_amount: Annotated[
        float,
        Field(
            ge=0,
            le=_LIMIT_MOST,
            description="The difference by which the mean of a count or a value may be worse, in the metric's unit. "
            "For a mean near zero, of which `tolerates` would be a share.",
        ),
        BeforeValidator(whole_as_float),
    ] = 0.0


class ThresholdBody(Body, json_schema_extra={CASES: _LIMITS}):
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
    steps: Annotated[list[StepBody], at_most(STEPS_MAX)] = Field(
        json_schema_extra={"minItems": 1, "maxItems": STEPS_MAX}
    )
    guards: Annotated[list[GuardBody], at_most(GUARDS_MAX)] = Field(
        default=[], json_schema_extra={"maxItems": GUARDS_MAX}
    )
    thresholds: Annotated[list[ThresholdBody], at_most(THRESHOLDS_MAX)] = Field(
        default=[], json_schema_extra={"maxItems": THRESHOLDS_MAX}
    )
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
    split_action: ActionName = Field(
        default="pause",
        description="What happens when users are not split as the steps ask. Guards go on watching: then they act if "
        "the evidence reaches the threshold with the planned shares and with the observed ones.",
    )
    counts: CountsName = Field(
        default="all",
        description="Whose evaluations and events count: those of all SDK keys, or only those of keys of the kind "
        "`server`. Anybody can read a key of the kind `browser`, and send evaluations and events of chosen users with "
        "it.",
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
            tuple(
                Guard(each.metric, Action(each.action), each.tolerates, each.tolerates_amount) for each in self.guards
            ),
            tuple(each.read() for each in self.thresholds),
            self.false_alarm_rate,
            WhenLate(self.when_late),
            Action(self.split_action),
            Counts(self.counts),
        )


class FlagSchedule(Body):
    """The changes of one of several flags."""

    flag_id: GivenId
    changes: Changes


class NewSchedules(Body):
    """Changes of several flags of an environment at one moment."""

    name: Name | None = None
    at: GivenMoment
    flags: Annotated[list[FlagSchedule], at_most(FLAGS_MAX)] = Field(
        json_schema_extra={"minItems": 1, "maxItems": FLAGS_MAX}
    )
    when_late: WhenLateName = "run"

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.flags:
            raise ValueError("must have at least one flag")
        if len({each.flag_id for each in self.flags}) < len(self.flags):
            raise ValueError("must not have a flag twice")
        return self
