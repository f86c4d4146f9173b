"""Explains decisions: how each flag was decided for a user, and what came of each rule and condition.

The kernel decides, with a snapshot of its own. The traces are made beside it, of what it compiled.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise

from flagstaff.domain.conditions import Condition
from flagstaff.domain.flags import Fallthrough, Flag, Rule, RuleType
from flagstaff.domain.projects import Environment
from flagstaff.domain.segments import Segment
from flagstaff.evaluation.assembly import assemble
from flagstaff.evaluation.bucketing import BUCKETS, bucket, variant_position
from flagstaff.evaluation.compiler import CompiledFlag, TargetedFlag, compile_flag, match_key, tried_in_order
from flagstaff.evaluation.history.layout import Decision
from flagstaff.evaluation.outcomes import RULE_OUTCOMES, Outcome
from flagstaff.evaluation.parts import all_flags, decide_part
from flagstaff.evaluation.predicates import Predicate, compile_predicate
from flagstaff.evaluation.snapshot import BUILT_IN, EnvironmentSnapshot
from flagstaff.evaluation.targeting import User, attributes_of, identifier_of
from flagstaff.evaluation.traces import (
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
class Explicable:
    """Flags of an environment and segments, by key, and what they were compiled to."""

    flags: Mapping[str, tuple[TargetedFlag, CompiledFlag]]
    segments: Mapping[str, tuple[Segment, Predicate]]
    snapshot: EnvironmentSnapshot


def compile_explicable(
    environment: Environment, flags: Iterable[TargetedFlag], segments: Iterable[Segment]
) -> Generator[None, None, Explicable]:
    """Compile flags, with all that they need, in small steps."""
    compiled_flags = {}
    for each in flags:
        compiled_flags[each.flag.key] = (each, compile_flag(each))
        yield
    compiled_segments = {}
    for segment in segments:
        compiled_segments[segment.key] = (segment, compile_predicate(segment.conditions))
        yield
    snapshot = yield from assemble(
        environment,
        [compiled for _, compiled in compiled_flags.values()],
        {key: predicate for key, (_, predicate) in compiled_segments.items()},
    )
    return Explicable(compiled_flags, compiled_segments, snapshot)


class Explanation:
    """How flags are decided for one user."""

    def __init__(self, explicable: Explicable, subject: Subject) -> None:
        """Decides all flags, as one evaluation does."""
        snapshot = explicable.snapshot
        user_id, user_email, custom = subject.user_id, subject.user_email, subject.attributes
        decisions = decide_part(snapshot, all_flags(snapshot), user_id, user_email, custom)
        email = user_email.lower() if user_email else ""
        values = attributes_of(BUILT_IN, snapshot.environment_key, custom, user_id, email)
        self._user = User((user_id or email).encode(), values)
        self._explicable = explicable
        self._decisions: dict[str, Decision] = {}
        self._rules: dict[str, tuple[int, Rule]] = {}
        self._segments: dict[str, SegmentTrace] = {}
        for position, decision in enumerate(snapshot.layout.decisions(decisions.recorded)):
            key, match = decision.flag.key, decisions.rules.get(position)
            self._decisions[key] = decision
            if match is not None and _STEPS[decision.outcome] is Step.RULE:
                live = [rule for rule in tried_in_order(explicable.flags[key][0].rules) if rule.enabled]
                self._rules[key] = (match.rank, live[match.rank])

    def trace_flag(self, key: str) -> FlagTrace:
        """How a flag was decided; `trace_rules` has its rules."""
        flag = self._explicable.flags[key][0].flag
        decision = self._decisions[key]
        _, rule = self._rules.get(key, (None, None))
        hashed = self._hash(flag)
        return FlagTrace(
            flag=flag,
            decision=decision,
            step=_STEPS[decision.outcome],
            rule=rule,
            value=next((each.value for each in flag.variants if each.key == decision.variant), None),
            prerequisites=self._trace_prerequisites(flag),
            rollout=_trace_rollout(flag, hashed),
            variants=_trace_variants(flag, hashed, decision, rule) if flag.variants else None,
        )

    def trace_rules(self, key: str) -> Iterator[RuleTrace | None]:
        """A flag's rules in the order in which they are tried; None after each step on the way to the next rule."""
        targeted, compiled = self._explicable.flags[key]
        predicates = {rule.rank: rule.predicate for rule in compiled.rules}
        deciding = self._deciding_rank(key)
        bucket = _bucket(targeted.flag, self._hash(targeted.flag))
        rank = 0
        for rule in tried_in_order(targeted.rules):
            predicate = predicates.get(rank) if rule.enabled else None
            conditions = yield from self._trace_conditions(rule.conditions, predicate)
            segment = (yield from self._trace_segment(rule)) if rule.rule_type is RuleType.SEGMENT else None
            matches = segment.holds if segment else self._matches(rule)
            if not rule.enabled:
                status = RuleStatus.DISABLED
            elif rank == deciding:
                status = RuleStatus.MATCHED
            elif rank > deciding:
                status = RuleStatus.NOT_REACHED
            elif matches and all(each.holds for each in conditions):
                status = RuleStatus.OUTSIDE_PERCENTAGE
            else:
                status = RuleStatus.NOT_MATCHED
            rank += rule.enabled
            own_bucket = bucket if rule.rollout_percentage < BUCKETS else None
            yield RuleTrace(rule, status, matches, conditions, segment, own_bucket)

    def _deciding_rank(self, key: str) -> int:
        """The rank of the rule that decided, or that of the last one that was tried and the next."""
        if key in self._rules:
            return self._rules[key][0]
        is_reached = _STEPS[self._decisions[key].outcome] not in (Step.OFF, Step.PREREQUISITE)
        return len(self._explicable.flags[key][0].rules) if is_reached else -1

    def _matches(self, rule: Rule) -> bool:
        if rule.rule_type is RuleType.ATTRIBUTES:
            return True
        # These types are named after the attributes that they compare.
        return self._user.values[rule.rule_type] == match_key(rule.rule_type, rule.rule_value)

    def _trace_conditions(
        self, conditions: tuple[Condition, ...], predicate: Predicate | None
    ) -> Generator[None, None, tuple[ConditionTrace, ...]]:
        if not conditions:
            return ()
        if predicate is None:  # of a rule that is not live, so it was not compiled
            predicate = compile_predicate(conditions)
            yield
        traced = []
        for condition, holds in zip(conditions, predicate.compiled, strict=True):
            actual = self._user.values.get(condition.attribute)
            traced.append(ConditionTrace(condition, actual, holds(actual)))
            yield
        return tuple(traced)

    def _trace_segment(self, rule: Rule) -> Generator[None, None, SegmentTrace]:
        key = rule.rule_value or ""
        if key not in self._segments:
            segment, predicate = self._explicable.segments[key]
            conditions = yield from self._trace_conditions(segment.conditions, predicate)
            self._segments[key] = SegmentTrace(segment, conditions)
        return self._segments[key]

    def _trace_prerequisites(self, flag: Flag) -> tuple[PrerequisiteTrace, ...]:
        traced = []
        for each in flag.prerequisites:
            actual = self._decisions.get(each.flag_key)
            holds = actual is not None and actual.outcome.enabled is each.enabled
            if each.variants:
                holds = holds and actual is not None and actual.variant in each.variants
            traced.append(PrerequisiteTrace(each, actual, holds))
        return tuple(traced)

    def _hash(self, flag: Flag) -> Hashed:
        identifier = identifier_of(self._user, flag.stickiness).decode()
        return Hashed(identifier, f"{_hashed_key(flag)}:{identifier}") if identifier else Hashed(None, None)


def _hashed_key(flag: Flag) -> str:
    return flag.bucketing_key or flag.key


def _bucket(flag: Flag, hashed: Hashed) -> int | None:
    return bucket(_hashed_key(flag), hashed.identifier) if hashed.identifier else None


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
    position = variant_position(_hashed_key(flag), hashed.identifier, bounds[-1]) if hashed.identifier else None
    by = None
    if decision.variant is not None:
        by = ChosenBy.NO_IDENTIFIER if position is None else ChosenBy.WEIGHT
        if rule is not None and rule.variant == decision.variant:
            by = ChosenBy.RULE
    return VariantsTrace(hashed, position, bounds[-1], ranges, decision.variant, by)
