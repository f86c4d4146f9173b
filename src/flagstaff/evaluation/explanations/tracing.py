"""Traces how flags were decided for a user: what came of each prerequisite, rule and condition.

Conditions are checked by the functions to which the kernel compiles them. Decisions are given, never made here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise

from flagstaff.conditions.attributes import Form, Readings, read
from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.predicates import Predicate, compile_predicate
from flagstaff.evaluation.bucketing import BUCKETS, bucket, variant_position
from flagstaff.evaluation.compiler import CompiledFlag, TargetedFlag, match_key, tried_in_order
from flagstaff.evaluation.explanations.flag_sets import CompiledSegment
from flagstaff.evaluation.explanations.traces import (
    ChosenBy,
    ConditionTrace,
    FlagTrace,
    Hashed,
    PrerequisiteTrace,
    RolloutTrace,
    RuleStatus,
    RuleTrace,
    SegmentTrace,
    Step,
    VariantsTrace,
)
from flagstaff.evaluation.history.layout import Decision
from flagstaff.evaluation.outcomes import RULE_OUTCOMES, Outcome
from flagstaff.evaluation.targeting import User, attributes_of, identifier_of
from flagstaff.evaluation.targets import BUILT_IN
from flagstaff.flags.flags import Fallthrough, Flag, Rule, RuleType

_STEPS = {
    Outcome.OFF: Step.OFF,
    Outcome.PREREQUISITE: Step.PREREQUISITE,
    Outcome.IN_ROLLOUT: Step.ROLLOUT,
    Outcome.NOT_IN_ROLLOUT: Step.ROLLOUT,
    Outcome.ON: Step.EVERYONE,
    Outcome.NO_RULE: Step.FALLTHROUGH,
    **dict.fromkeys(RULE_OUTCOMES.values(), Step.RULE),
}


@dataclass(frozen=True, slots=True)
class Subject:
    """For whom flags are explained. `attributes` are the custom ones and the `current_time`."""

    user_id: str | None
    user_email: str | None
    attributes: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class DecidedFlag:
    """A flag, and how the kernel decided it. `rank` is the rank of the first live rule that matches, if one does."""

    targeted: TargetedFlag
    compiled: CompiledFlag
    decision: Decision
    rank: int | None

    @property
    def step(self) -> Step:
        """The step that decided."""
        return _STEPS[self.decision.outcome]

    @property
    def rule(self) -> Rule | None:
        """The rule that decided, if one did."""
        if self.step is not Step.RULE or self.rank is None:
            return None
        return [rule for rule in tried_in_order(self.targeted.rules) if rule.enabled][self.rank]

    def status(self, rank: int, *, matches: bool) -> RuleStatus:
        """Return the status of the live rule with this rank; `matches` leaves its percentage aside."""
        if self.step in (Step.OFF, Step.PREREQUISITE) or (self.rank is not None and rank > self.rank):
            return RuleStatus.NOT_REACHED
        if rank == self.rank:
            return RuleStatus.MATCHED
        return RuleStatus.OUTSIDE_PERCENTAGE if matches else RuleStatus.NOT_MATCHED


class Tracer:
    """Traces flags for one user."""

    def __init__(self, environment_key: str, subject: Subject, segments: Mapping[str, CompiledSegment]) -> None:
        email = subject.user_email.lower() if subject.user_email else ""
        values = attributes_of(BUILT_IN, environment_key, subject.attributes, subject.user_id, email)
        self._user = User((subject.user_id or email).encode(), values)
        self._segments = segments
        self._traced_segments: dict[str, SegmentTrace] = {}
        self._readings: dict[tuple[str, Form], Readings] = {}

    def trace_flag(self, key: str, decided: Mapping[str, DecidedFlag]) -> FlagTrace:
        """Trace the decision about a flag; `decided` are the flag and at least those that it needs."""
        own = decided[key]
        flag, decision, rule, hashed = own.targeted.flag, own.decision, own.rule, self._hash(own.targeted.flag)
        return FlagTrace(
            flag=flag,
            decision=decision,
            step=own.step,
            rule=rule,
            value=next((each.value for each in flag.variants if each.key == decision.variant), None),
            prerequisites=_trace_prerequisites(flag, decided),
            rollout=_trace_rollout(flag, hashed),
            variants=_trace_variants(flag, hashed, decision, rule) if flag.variants else None,
        )

    def trace_rules(self, decided: DecidedFlag) -> Iterator[RuleTrace]:
        """A flag's rules in the order in which they are tried."""
        flag = decided.targeted.flag
        bucket = _bucket(flag, self._hash(flag))
        predicates = {rule.rank: rule.predicate for rule in decided.compiled.rules}
        rank = 0
        for rule in tried_in_order(decided.targeted.rules):
            predicate = predicates.get(rank) if rule.enabled else None
            conditions = self._trace_conditions(rule.conditions, predicate)
            segment = self._trace_segment(rule) if rule.rule_type is RuleType.SEGMENT else None
            matches = segment.holds if segment else self._matches(rule)
            status = RuleStatus.DISABLED
            if rule.enabled:
                status = decided.status(rank, matches=matches and all(each.holds for each in conditions))
                rank += 1
            own_bucket = bucket if rule.rollout_percentage < BUCKETS else None
            yield RuleTrace(rule, status, matches, conditions, segment, own_bucket)

    def _matches(self, rule: Rule) -> bool:
        if rule.rule_type is RuleType.ATTRIBUTES:
            return True
        # These types are named after the attributes that they compare.
        return self._user.values[rule.rule_type] == match_key(rule.rule_type, rule.rule_value)

    def _trace_conditions(
        self, conditions: tuple[Condition, ...], predicate: Predicate | None
    ) -> tuple[ConditionTrace, ...]:
        if not conditions:
            return ()
        if predicate is None:  # of a rule that is not live, so it was not compiled
            predicate = compile_predicate(conditions)
        traced = []
        for condition, compiled in zip(conditions, predicate.compiled, strict=True):
            actual = self._user.values.get(compiled.attribute)
            place = (compiled.attribute, compiled.form)
            readings = self._readings.get(place)
            if readings is None:
                readings = self._readings[place] = read(compiled.form, actual)
            traced.append(ConditionTrace(condition, actual, compiled.decide(readings)))
        return tuple(traced)

    def _trace_segment(self, rule: Rule) -> SegmentTrace:
        key = rule.rule_value or ""
        if key not in self._traced_segments:
            found = self._segments[key]
            conditions = self._trace_conditions(found.segment.conditions, found.predicate)
            self._traced_segments[key] = SegmentTrace(found.segment, conditions)
        return self._traced_segments[key]

    def _hash(self, flag: Flag) -> Hashed:
        identifier = identifier_of(self._user, flag.stickiness).decode()
        return Hashed(identifier, f"{flag.hashed_key}:{identifier}") if identifier else Hashed(None, None)


def _bucket(flag: Flag, hashed: Hashed) -> int | None:
    return bucket(flag.hashed_key, hashed.identifier) if hashed.identifier else None


def _trace_prerequisites(flag: Flag, decided: Mapping[str, DecidedFlag]) -> tuple[PrerequisiteTrace, ...]:
    traced = []
    for each in flag.prerequisites:
        other = decided.get(each.flag_key)
        holds = other is not None and other.decision.outcome.enabled is each.enabled
        if other is not None and each.variants:
            holds = holds and other.decision.variant in each.variants
        traced.append(PrerequisiteTrace(each, other.decision if other is not None else None, holds))
    return tuple(traced)


def _trace_rollout(flag: Flag, hashed: Hashed) -> RolloutTrace | None:
    percentage = flag.rollout_percentage
    if flag.fallthrough is Fallthrough.OFF or not percentage:
        return None
    bucket = _bucket(flag, hashed)
    inside = percentage == BUCKETS or (bucket is not None and bucket < percentage)
    return RolloutTrace(hashed, bucket, percentage, inside)


def _trace_variants(flag: Flag, hashed: Hashed, decision: Decision, rule: Rule | None) -> VariantsTrace:
    bounds = list(accumulate((variant.weight for variant in flag.variants), initial=0))
    ranges = tuple((each.key, *bound) for each, bound in zip(flag.variants, pairwise(bounds), strict=True))
    position = variant_position(flag.hashed_key, hashed.identifier, bounds[-1]) if hashed.identifier else None
    by = None
    if decision.variant is not None:
        by = ChosenBy.NO_IDENTIFIER if position is None else ChosenBy.WEIGHT
        if rule is not None and rule.variant == decision.variant:
            by = ChosenBy.RULE
    return VariantsTrace(hashed, position, bounds[-1], ranges, decision.variant, by)
