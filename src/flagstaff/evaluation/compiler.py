"""Compiles a flag with its rules, so that evaluations have less to do.

Flags are compiled separately, so that a change to one does not compile the others again. snapshot_assembly.py makes
snapshots of compiled flags.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from flagstaff.conditions.predicates import Predicate, compile_predicate
from flagstaff.evaluation.bucketing import BUCKETS
from flagstaff.evaluation.fragments import EVALUATE, make_fragment
from flagstaff.evaluation.history.layout import MAX_DECIDERS, RULE_BASE, Decider, LayoutFlag
from flagstaff.evaluation.loops import Fragment
from flagstaff.evaluation.outcomes import RULE_OUTCOMES, Outcome
from flagstaff.evaluation.sizes import flag_size
from flagstaff.evaluation.targets import NO_CONTENTS, Contents
from flagstaff.flags.flags import Fallthrough, Flag, Rule, RuleType
from flagstaff.flags.prerequisites import Prerequisite

_LOOKED_UP = (RuleType.USER_ID, RuleType.USER_EMAIL, RuleType.EMAIL_DOMAIN)


@dataclass(frozen=True, slots=True)
class TargetedFlag:
    """A flag and its rules, in any order."""

    flag: Flag
    rules: Sequence[Rule] = ()


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A live rule: its kind, the value by which it is found, its rank, and the byte that records it.

    Besides, `predicate` must hold, unless it is None, and the user's bucket must be below the percentage. `variant` is
    the place of the variant that the rule gives.
    """

    kind: RuleType
    value: str
    rank: int
    byte: int
    predicate: Predicate | None = None
    percentage: int = BUCKETS
    variant: int | None = None


@dataclass(frozen=True, slots=True)
class CompiledFlag:
    """A flag compiled for a snapshot, independent of its position among the others.

    `answers_by_bucket` is empty unless the flag is in a rollout; `prefix` is hashed before the identifier, which is the
    attribute `stickiness`. `weights` and `prerequisites` are empty for a flag that is not enabled. `answers_by_rule`
    also has the fragments for prerequisites that do not hold, whose bytes precede the rules' bytes. `size` is an
    estimate of the flag's bytes in a snapshot.
    """

    layout: LayoutFlag
    default: Fragment
    answers_by_bucket: tuple[Fragment, ...]
    answers_by_rule: Mapping[int, Fragment]
    rules: tuple[CompiledRule, ...]
    prefix: bytes
    stickiness: str
    weights: tuple[int, ...] = ()
    prerequisites: tuple[Prerequisite, ...] = ()
    contents: Contents = NO_CONTENTS
    size: int = 0


def compile_flag(targeted: TargetedFlag) -> CompiledFlag:
    """Compile one flag."""
    flag, live = targeted.flag, _live_rules(targeted)
    prerequisites = flag.prerequisites if flag.enabled else ()
    variants = tuple(variant.key for variant in flag.variants) if flag.enabled else ()
    says_more = bool(prerequisites or variants or any(map(_says_more, live)))
    deciders = _deciders(prerequisites, live) if says_more else ()
    rules = _compile_rules(live, deciders, variants)
    layout = LayoutFlag(
        id=flag.id,
        key=flag.key,
        rollout_percentage=flag.rollout_percentage,
        default=_default(flag),
        deciders=deciders,
        has_bucket=any(rule.percentage < BUCKETS for rule in rules),
        variants=variants,
    )
    contents = _contents(flag)
    fragment = partial(make_fragment, EVALUATE.write, layout, contents)
    answers: tuple[Fragment, ...] = ()
    if layout.default is Outcome.NOT_IN_ROLLOUT:
        inside, outside = fragment(Outcome.IN_ROLLOUT), fragment(Outcome.NOT_IN_ROLLOUT)
        # One more than there are buckets: the entry at NO_BUCKET answers a user without an identifier.
        answers = (inside,) * flag.rollout_percentage + (outside,) * (BUCKETS + 1 - flag.rollout_percentage)
    # Rules of a kind share a fragment, which has the values of all variants.
    by_kind = {kind: fragment(RULE_OUTCOMES[kind]) for kind in {rule.kind for rule in rules}}
    by_rule = {rule.byte: by_kind[rule.kind] for rule in rules}
    for place, each in enumerate(prerequisites):
        by_rule[RULE_BASE + place] = fragment(Outcome.PREREQUISITE, each.flag_key)
    default = fragment(layout.default)
    return CompiledFlag(
        layout=layout,
        default=default,
        answers_by_bucket=answers,
        answers_by_rule=by_rule,
        rules=rules,
        prefix=f"{flag.hashed_key}:".encode(),
        stickiness=flag.stickiness,
        weights=tuple(variant.weight for variant in flag.variants) if flag.enabled else (),
        prerequisites=prerequisites,
        contents=contents,
        size=flag_size((default, *answers[:1], *answers[-1:], *by_rule.values()), answers, live),
    )


def tried_in_order(rules: Iterable[Rule]) -> list[Rule]:
    """A flag's rules in the order in which they are tried."""
    return sorted(rules, key=lambda rule: (-rule.priority, rule.created_at, rule.id))


def match_key(rule_type: RuleType, value: str | None) -> str:
    """The form in which a rule's value and a user's are compared: emails and domains ignoring case, ids exactly."""
    text = value or ""  # rules that have only conditions have none
    match rule_type:
        case RuleType.USER_EMAIL:
            return text.lower()
        case RuleType.EMAIL_DOMAIN:
            return text.removeprefix("@").lower()
        case _:
            return text


def _says_more(rule: Rule) -> bool:
    """Return whether the rule needs more than a look-up, so that the history must say which rule decided."""
    return bool(rule.conditions) or rule.rollout_percentage < BUCKETS or rule.rule_type not in _LOOKED_UP


def _live_rules(targeted: TargetedFlag) -> list[Rule]:
    """The rules that can match at all, in the order in which they are tried."""
    if not targeted.flag.enabled:
        return []
    return [rule for rule in tried_in_order(targeted.rules) if rule.enabled]


def _deciders(prerequisites: Sequence[Prerequisite], live: Sequence[Rule]) -> tuple[Decider, ...]:
    """The prerequisites, the rules by their ids, as many as a byte can tell apart, and each kind of rule beyond."""
    first = [Decider(Outcome.PREREQUISITE, prerequisite=each.flag_key) for each in prerequisites]
    first += [Decider(RULE_OUTCOMES[rule.rule_type], rule.id) for rule in live]
    if len(first) <= MAX_DECIDERS:
        return tuple(first)
    by_kind = [Decider(outcome) for outcome in RULE_OUTCOMES.values()]
    return (*first[: MAX_DECIDERS - len(by_kind)], *by_kind)


def _compile_rules(
    live: Sequence[Rule], deciders: Sequence[Decider], variants: Sequence[str]
) -> tuple[CompiledRule, ...]:
    places = {(decider.outcome, decider.rule_id): RULE_BASE + place for place, decider in enumerate(deciders)}
    compiled = []
    decided: dict[tuple[RuleType, str], int] = {}  # the share of users for whom an earlier rule has decided
    for rank, rule in enumerate(live):
        outcome, value = RULE_OUTCOMES[rule.rule_type], match_key(rule.rule_type, rule.rule_value)
        if rule.rollout_percentage <= decided.get((rule.rule_type, value), 0):
            continue  # it is never reached: a user is in the same bucket for all rules of a flag
        byte = places.get((outcome, rule.id)) or places.get((outcome, None)) or RULE_BASE + outcome
        predicate = None
        if rule.conditions or rule.rule_type is RuleType.ATTRIBUTES:
            predicate = compile_predicate(rule.conditions)
        variant = variants.index(rule.variant) if rule.variant in variants else None
        compiled.append(CompiledRule(rule.rule_type, value, rank, byte, predicate, rule.rollout_percentage, variant))
        if not rule.conditions:
            decided[rule.rule_type, value] = rule.rollout_percentage
    return tuple(compiled)


def _contents(flag: Flag) -> Contents:
    details = (f',"owner":{json.dumps(flag.owner)}' if flag.owner else "") + (',"keep":true' if flag.keep else "")
    if not flag.variants and not details:
        return NO_CONTENTS
    values = {variant.key: variant.value for variant in flag.variants}
    return Contents(values, sum(variant.weight > 0 for variant in flag.variants) > 1, details)


def _default(flag: Flag) -> Outcome:
    if not flag.enabled:
        return Outcome.OFF
    if flag.fallthrough is Fallthrough.OFF:
        return Outcome.NO_RULE
    match flag.rollout_percentage:
        case 0:
            return Outcome.ON
        case 100:
            return Outcome.IN_ROLLOUT
        case _:
            return Outcome.NOT_IN_ROLLOUT
