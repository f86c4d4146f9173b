"""Traces: why a flag is on or off for a user. They are made by explanation.py."""

from dataclasses import dataclass
from enum import StrEnum

from flagstaff.conditions.conditions import Condition
from flagstaff.evaluation.history.layout import Decision
from flagstaff.flags.flags import Flag, Rule
from flagstaff.flags.prerequisites import Prerequisite
from flagstaff.flags.targeting.segments import Segment


class Step(StrEnum):
    """The step of an evaluation that decided a flag."""

    OFF = "off"
    PREREQUISITE = "prerequisite"
    RULE = "rule"
    ROLLOUT = "rollout"
    EVERYONE = "everyone"
    FALLTHROUGH = "fallthrough"


class RuleStatus(StrEnum):
    """The part that a rule had in a decision."""

    MATCHED = "matched"
    NOT_MATCHED = "not_matched"
    OUTSIDE_PERCENTAGE = "outside_percentage"
    NOT_REACHED = "not_reached"
    DISABLED = "disabled"


class ChosenBy(StrEnum):
    """The cause of a variant's choice."""

    RULE = "rule"
    WEIGHT = "weight"
    NO_IDENTIFIER = "no_identifier"


@dataclass(frozen=True, slots=True)
class ConditionTrace:
    """A condition, and the value of its attribute: any JSON value or a moment, None if it is missing."""

    condition: Condition
    actual: object
    holds: bool


@dataclass(frozen=True, slots=True)
class SegmentTrace:
    """A segment; the user belongs to it if all conditions hold."""

    segment: Segment
    conditions: tuple[ConditionTrace, ...]

    @property
    def holds(self) -> bool:
        """True if the user belongs to it."""
        return all(each.holds for each in self.conditions)


@dataclass(frozen=True, slots=True)
class RuleTrace:
    """A rule. `matches` says whether its type and value match the user, without its conditions.

    `bucket` is the user's if the rule is for a percentage of users.
    """

    rule: Rule
    status: RuleStatus
    matches: bool
    conditions: tuple[ConditionTrace, ...]
    segment: SegmentTrace | None
    bucket: int | None


@dataclass(frozen=True, slots=True)
class PrerequisiteTrace:
    """A prerequisite, and how the other flag was decided; None if there is no such flag."""

    prerequisite: Prerequisite
    actual: Decision | None
    holds: bool


@dataclass(frozen=True, slots=True)
class Hashed:
    """The user's identifier for a flag, and the text that is hashed; both are None if the user has none."""

    identifier: str | None
    text: str | None


@dataclass(frozen=True, slots=True)
class RolloutTrace:
    """A flag's rollout. `bucket` is None for a user without an identifier."""

    hashed: Hashed
    bucket: int | None
    percentage: int
    inside: bool


@dataclass(frozen=True, slots=True)
class VariantsTrace:
    """The variants of a flag. The user's place among the weights is None without an identifier.

    `ranges` are the first place of each variant and the one after its last, by key. `chosen` and `by` are None if the
    flag is off for the user.
    """

    hashed: Hashed
    position: int | None
    total_weight: int
    ranges: tuple[tuple[str, int, int], ...]
    chosen: str | None
    by: ChosenBy | None


@dataclass(frozen=True, slots=True)
class FlagTrace:
    """The trace of a decision. `rule` is the one that matched, and `value` the variant's as JSON.

    The flag has a `rollout` only if it applies to users whom no rule matches.
    """

    flag: Flag
    decision: Decision
    step: Step
    rule: Rule | None
    value: str | None
    prerequisites: tuple[PrerequisiteTrace, ...]
    rollout: RolloutTrace | None
    variants: VariantsTrace | None
