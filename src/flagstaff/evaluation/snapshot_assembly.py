"""Assembles snapshots of compiled flags.

An environment may have thousands of flags.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, cast

from flagstaff.conditions.predicates import Predicate, assemble_predicates, compile_predicate
from flagstaff.evaluation import loops
from flagstaff.evaluation.bucketing import BUCKETS, ROLLOUT_SEED
from flagstaff.evaluation.compiler import CompiledFlag, CompiledRule, TargetedFlag, compile_flag
from flagstaff.evaluation.fragments import EVALUATE
from flagstaff.evaluation.grouping import Groups, group
from flagstaff.evaluation.history.layout import NO_BUCKET, RULE_BASE, Layout
from flagstaff.evaluation.loops import Answers
from flagstaff.evaluation.matches import RuleMatch
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.targets import NO_CONTENTS, Need, Targeting, VariedFlag
from flagstaff.flags.flags import RuleType
from flagstaff.flags.prerequisites import Prerequisite, in_order
from flagstaff.flags.targeting.segments import Segment
from flagstaff.projects.projects import Environment

LookUp = dict[str, list[RuleMatch]]
# By an environment: users mostly fall into few groups by the predicates that hold for them.
_KEPT_MATCHES, _KEPT_BYTES = 200, 1_000_000
NO_SEGMENTS: Mapping[str, Predicate] = {}


@dataclass(slots=True)
class _Rules:
    """The rules of all recorded flags, by the way in which they are found."""

    segments: Mapping[str, Predicate]
    look_ups: dict[RuleType, LookUp] = field(default_factory=lambda: {kind: defaultdict(list) for kind in RuleType})
    shares: defaultdict[tuple[RuleType, str], list[RuleMatch]] = field(default_factory=lambda: defaultdict(list))
    predicates: list[Predicate] = field(default_factory=list)
    segment_numbers: dict[str, int] = field(default_factory=dict)
    by_predicate: defaultdict[int, list[RuleMatch]] = field(default_factory=lambda: defaultdict(list))

    def add(self, position: int, slot: int, rule: CompiledRule) -> None:
        """Add a rule of the flag at a position, and at a slot among the varied; `end_flag` follows the last one."""
        number = None if rule.predicate is None else self._number_of(rule.predicate)
        leading = self._number_of_segment(rule.value) if rule.kind is RuleType.SEGMENT else number
        is_led = rule.kind in (RuleType.SEGMENT, RuleType.ATTRIBUTES)
        # The predicate by which a rule is found holds when the rule is looked at.
        needs = 0 if number is None or (is_led and number == leading) else 1 << number
        match = RuleMatch(position, rule.rank, rule.byte, needs, rule.percentage, rule.variant, slot)
        if is_led:
            assert leading is not None
            self.by_predicate[leading].append(match)
        elif needs or rule.percentage == BUCKETS:
            self.look_ups[rule.kind][rule.value].append(match)
        else:
            self.shares[rule.kind, rule.value].append(match)

    def end_flag(self) -> None:
        """Let the rules for shares of the users with the same value be found as one."""
        for (kind, value), matches in self.shares.items():
            self.look_ups[kind][value].append(matches[0] if len(matches) == 1 else _first_by_bucket(matches))
        self.shares.clear()

    def _number_of(self, predicate: Predicate) -> int:
        self.predicates.append(predicate)
        return len(self.predicates) - 1

    def _number_of_segment(self, key: str) -> int:
        """The number of a segment's predicate, which all rules for it share."""
        if key not in self.segment_numbers:
            self.segment_numbers[key] = self._number_of(self.segments[key])
        return self.segment_numbers[key]


def _first_by_bucket(matches: Sequence[RuleMatch]) -> RuleMatch:
    """Rules of a flag for the same value, whose percentages grow, as one. Users without a bucket are in no share."""
    first: list[RuleMatch | None] = []
    for match in matches:
        first += [match] * (match.percentage - len(first))
    first += [None] * (NO_BUCKET + 1 - len(first))
    return matches[-1]._replace(by_bucket=tuple(first))


def compile_environment(
    environment: Environment, flags: Iterable[TargetedFlag], segments: Iterable[Segment] = ()
) -> EnvironmentSnapshot:
    """Compile an environment with its flags, in any order, and its project's segments."""
    predicates = {each.key: compile_predicate(each.conditions) for each in segments}
    return assemble(environment, [compile_flag(each) for each in flags], predicates)


def assemble(
    environment: Environment, flags: Iterable[CompiledFlag], segments: Mapping[str, Predicate] = NO_SEGMENTS
) -> EnvironmentSnapshot:
    """Assemble a snapshot of flags, in any order; `segments` are given by key."""
    groups = group(flags)
    recorded = groups.recorded
    rules = _Rules(segments)
    slot = hashes = 0
    places: dict[str, int] = {}
    for position, each in enumerate(recorded):
        for rule in each.rules:
            rules.add(position, slot, rule)
        rules.end_flag()
        slot += bool(each.weights)
        hashes += bool(each.answers_by_bucket or each.layout.has_bucket)
        places[each.layout.key] = position
    look_ups = {}
    for kind, found in rules.look_ups.items():
        look_ups[kind] = _freeze(found)
    targeting = _target(groups, rules)
    recorded_layouts = tuple(each.layout for each in recorded)
    constant_layouts = tuple(each.layout for each in groups.constant)
    for each in groups.constant:
        places[each.layout.key] = len(places)
    looked_at = tuple(sorted(targeting.custom)) if targeting else ()
    rollouts = tuple(each.prefix for each in groups.rollouts)
    plain = _plain_answers(groups, is_targeted=targeting is not None)
    return EnvironmentSnapshot(
        project_id=environment.project_id,
        environment_id=environment.id,
        environment_key=environment.key,
        layout=Layout(recorded_layouts, constant_layouts, looked_at),
        targeting=targeting,
        rollouts=rollouts,
        prepared_rollouts=loops.prepare(rollouts, ROLLOUT_SEED),
        hashes=hashes + slot,
        without_bucket=bytes((NO_BUCKET,)) * len(groups.rollouts),
        ruled_recorded=bytes((NO_BUCKET,)) * (len(recorded) - len(groups.rollouts) - len(groups.sticky)),
        by_user_id=look_ups[RuleType.USER_ID],
        by_email=look_ups[RuleType.USER_EMAIL],
        by_domain=look_ups[RuleType.EMAIL_DOMAIN],
        places=places,
        contents={
            each.layout.key: each.contents
            for group in groups.in_order()
            for each in group
            if each.contents is not NO_CONTENTS
        },
        **plain,
    )


def _plain_answers(groups: Groups, *, is_targeted: bool) -> dict[str, Any]:
    """Make the parts of the response; with targeting, only the tail."""
    constant_tail = b"".join(cast("bytes", each.default) for each in groups.constant) + EVALUATE.tail
    rollouts, ruled = ([], []) if is_targeted else (groups.rollouts, groups.steady)
    ruled_defaults = b"".join(cast("bytes", each.default) for each in ruled)
    answers = list(map(_answers, (*rollouts, *ruled)))
    return {
        "head": EVALUATE.head,
        "answers": tuple(answers),
        "rollout_answers": tuple(answers[: len(rollouts)]),
        "constant_tail": constant_tail,
        "default_tail": ruled_defaults + constant_tail,
    }


def _target(groups: Groups, rules: _Rules) -> Targeting | None:
    """Compile the flags that need more than look-ups by user and email; None if none does."""
    recorded = groups.recorded
    if not groups.sticky and not any(each.layout.says_more for each in recorded):
        return None
    predicates = assemble_predicates(rules.predicates)
    with_buckets, answers = [], []
    varied: list[VariedFlag] = []
    for position, each in enumerate(recorded):
        if each.layout.has_bucket:
            with_buckets.append((position, each.stickiness, each.prefix))
        if each.weights:
            varied.append(_varied(position, len(varied), each))
        answers.append(_answers(each))
    needs = _needs(recorded, groups.constant)
    by_predicate = {number: tuple(matches) for number, matches in rules.by_predicate.items()}
    targeting = Targeting(
        sticky=tuple((each.stickiness, each.prefix) for each in groups.sticky),
        predicates=predicates,
        by_predicate=by_predicate,
        leading=sum(1 << number for number in by_predicate),
        with_buckets=tuple(with_buckets),
        varied=tuple(varied),
        needs=needs,
        answers=tuple(answers),
        fixed=len(recorded) - len(groups.fixed) - len(groups.steady),
        steady=len(recorded) - len(groups.steady),
        recorded=len(recorded),
        slots_in_all=len(varied),
        kept_matches=_how_many_to_keep(groups.steady),
    )
    targeting.prepare()
    return targeting


def _how_many_to_keep(steady: Iterable[CompiledFlag]) -> int:
    """For how many groups of users the answers of the steady flags are kept."""
    size = sum(len(each.default) for each in steady)
    return min(_KEPT_MATCHES, _KEPT_BYTES // (size + 1) + 1)


def _varied(position: int, slot: int, flag: CompiledFlag) -> VariedFlag:
    first = next(place for place, weight in enumerate(flag.weights) if weight)
    return VariedFlag(position, slot, flag.prefix, flag.stickiness, loops.pack(accumulate(flag.weights)), first)


def _answers(flag: CompiledFlag) -> Answers:
    """A recorded flag's fragments by recorded byte."""
    if not flag.answers_by_bucket:
        return {NO_BUCKET: flag.default, **flag.answers_by_rule}
    highest = max(flag.answers_by_rule, default=NO_BUCKET)
    return (
        *flag.answers_by_bucket,
        *(flag.answers_by_rule.get(byte, flag.default) for byte in range(NO_BUCKET + 1, highest + 1)),
    )


def _needs(
    recorded: Sequence[CompiledFlag], constant: Sequence[CompiledFlag]
) -> tuple[tuple[int, tuple[Need, ...]], ...]:
    """The prerequisites by the flag's position, each flag after those that it needs."""
    positions = {each.layout.key: position for position, each in enumerate(recorded) if each.prerequisites}
    if not positions:
        return ()
    by_key = {each.layout.key: (position, each) for position, each in enumerate(recorded)}
    fixed = {each.layout.key: each.layout.default.enabled for each in constant}
    others = {}
    for key, at in positions.items():
        others[key] = [need.flag_key for need in recorded[at].prerequisites]
    found = []
    for key in in_order(others):
        needs = []
        for place, each in enumerate(recorded[positions[key]].prerequisites):
            position, other = by_key.get(each.flag_key, (None, None))
            if other is None and fixed.get(each.flag_key) is each.enabled and not each.variants:
                continue  # it always holds
            needs.append(_need(position, other, each, RULE_BASE + place))
        found.append((positions[key], tuple(needs)))
    return tuple(found)


def _need(position: int | None, other: CompiledFlag | None, prerequisite: Prerequisite, byte: int) -> Need:
    never = Need(None, b"", prerequisite.enabled, None, byte)
    if other is None:
        return never
    variants = [place for place, key in enumerate(other.layout.variants) if key in prerequisite.variants]
    if prerequisite.variants and not variants:
        return never
    return Need(
        position,
        other.layout.on_by_byte,
        prerequisite.enabled,
        frozenset(variants) if prerequisite.variants else None,
        byte,
    )


def _freeze(found: LookUp) -> dict[str, tuple[RuleMatch, ...]]:
    frozen = {}
    while found:  # emptied one by one, because freeing thousands of lists at once takes milliseconds
        value, matches = found.popitem()
        frozen[value] = tuple(matches)
    return frozen
