"""Compiles an environment's flags and rules to a snapshot, so that evaluations have less to do.

Flags are compiled separately, so that a change to one does not compile the others again. A snapshot is assembled from
compiled flags in steps, between which the caller may do other work: an environment may have thousands of flags.
"""

from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from flagstaff.domain.flags import DEFAULT_STICKINESS, Fallthrough, Flag, Rule, RuleType
from flagstaff.domain.projects import Environment
from flagstaff.evaluation.bucketing import BUCKETS
from flagstaff.evaluation.history.layout import NO_BUCKET, RULE_BASE, Layout, LayoutFlag
from flagstaff.evaluation.outcomes import RULE_OUTCOMES, Outcome
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, RuleMatch, Targeting

SEPARATOR = b","  # follows each fragment except those of an answer's last flag
LookUp = dict[str, list[RuleMatch]]


@dataclass(frozen=True, slots=True)
class TargetedFlag:
    """A flag and its rules, in any order."""

    flag: Flag
    rules: Sequence[Rule] = ()


@dataclass(frozen=True, slots=True)
class CompiledFlag:
    """A flag compiled for a snapshot, independent of its position among the others.

    `rules` are the values by which its rules are found, each with the rule's rank and the byte that records it.
    `answers_by_bucket` is empty unless the flag is in a rollout; `prefix` is hashed before the identifier, which is the
    attribute `stickiness`.
    """

    layout: LayoutFlag
    default: bytes
    answers_by_bucket: tuple[bytes, ...]
    answers_by_rule: Mapping[int, bytes]
    rules: tuple[tuple[RuleType, str, int, int], ...]
    prefix: bytes
    stickiness: str


def compile_environment(environment: Environment, flags: Iterable[TargetedFlag]) -> EnvironmentSnapshot:
    """Compile an environment with its flags, in any order, in one step."""
    steps = assemble(environment, [compile_flag(each) for each in flags])
    while True:
        try:
            next(steps)
        except StopIteration as end:
            snapshot: EnvironmentSnapshot = end.value
            return snapshot


def compile_flag(targeted: TargetedFlag) -> CompiledFlag:
    """Compile one flag."""
    flag, rules = targeted.flag, _live_rules(targeted)
    layout = LayoutFlag(id=flag.id, key=flag.key, rollout_percentage=flag.rollout_percentage, default=_default(flag))
    answers: tuple[bytes, ...] = ()
    if layout.default is Outcome.NOT_IN_ROLLOUT:
        inside = _fragment(flag, Outcome.IN_ROLLOUT)
        outside = _fragment(flag, Outcome.NOT_IN_ROLLOUT)
        # One more than there are buckets: the entry at NO_BUCKET answers a user without an identifier.
        answers = (inside,) * flag.rollout_percentage + (outside,) * (BUCKETS + 1 - flag.rollout_percentage)
    by_rule = {RULE_BASE + each: _fragment(flag, each) for each in RULE_OUTCOMES.values()} if rules else {}
    default = _fragment(flag, layout.default)
    prefix = f"{flag.bucketing_key or flag.key}:".encode()
    return CompiledFlag(layout, default, answers, by_rule, _ranked(rules), prefix, flag.stickiness)


def assemble(environment: Environment, flags: Iterable[CompiledFlag]) -> Generator[None, None, EnvironmentSnapshot]:
    """Assemble a snapshot of flags, in any order, in steps of some dozen microseconds."""
    rollouts, sticky, ruled, constant = [], [], [], []
    by_key = {}
    for each in flags:
        by_key[each.layout.key] = each
        yield
    keys = sorted(by_key)
    yield
    for key in keys:
        each = by_key[key]
        if each.answers_by_bucket:
            (rollouts if each.stickiness == DEFAULT_STICKINESS else sticky).append(each)
        elif each.rules:
            ruled.append(each)
        else:
            constant.append(each)
        yield
    _end_with((rollouts, sticky, ruled, constant))
    recorded = rollouts + sticky + ruled
    look_ups: dict[RuleType, LookUp] = {kind: defaultdict(list) for kind in RuleType}
    for position, each in enumerate(recorded):
        for kind, value, rank, byte in each.rules:
            look_ups[kind][value].append(RuleMatch(position, rank, byte))
            yield
    frozen = {}
    for kind, found in look_ups.items():
        frozen[kind] = yield from _freeze(found)
    prefixes = tuple(each.prefix for each in rollouts)
    yield
    ruled_defaults = tuple(each.default for each in ruled)
    yield
    constant_tail = b"".join(each.default for each in constant) + b"}}"
    yield
    recorded_layouts = tuple(each.layout for each in recorded)
    yield
    constant_layouts = tuple(each.layout for each in constant)
    yield
    rollout_answers = tuple(each.answers_by_bucket for each in rollouts + sticky)
    yield
    rule_answers = tuple(each.answers_by_rule for each in recorded)
    yield
    return EnvironmentSnapshot(
        project_id=environment.project_id,
        environment_id=environment.id,
        environment_key=environment.key,
        layout=Layout(recorded=recorded_layouts, constant=constant_layouts),
        targeting=Targeting(tuple((each.stickiness, each.prefix) for each in sticky)) if sticky else None,
        rollout_prefixes=prefixes,
        rollout_answers=rollout_answers,
        without_bucket=bytes((NO_BUCKET,)) * len(rollouts),
        ruled_defaults=ruled_defaults,
        ruled_recorded=bytes((NO_BUCKET,)) * len(ruled),
        rule_answers=rule_answers,
        by_user_id=frozen[RuleType.USER_ID],
        by_email=frozen[RuleType.USER_EMAIL],
        by_domain=frozen[RuleType.EMAIL_DOMAIN],
        constant_tail=constant_tail,
        default_tail=b"".join(ruled_defaults) + constant_tail,
    )


def match_key(rule_type: RuleType, value: str) -> str:
    """The form in which a rule's value and a user's are compared: emails and domains ignoring case, ids exactly."""
    match rule_type:
        case RuleType.USER_ID:
            return value
        case RuleType.USER_EMAIL:
            return value.lower()
        case RuleType.EMAIL_DOMAIN:
            return value.removeprefix("@").lower()


def _end_with(groups: Iterable[list[CompiledFlag]]) -> None:
    """Remove the separator from the fragments of the answer's last flag."""
    filled = [group for group in groups if group]
    if filled:
        last = filled[-1][-1]
        filled[-1][-1] = replace(
            last,
            default=last.default.removesuffix(SEPARATOR),
            answers_by_bucket=tuple(each.removesuffix(SEPARATOR) for each in last.answers_by_bucket),
            answers_by_rule={byte: each.removesuffix(SEPARATOR) for byte, each in last.answers_by_rule.items()},
        )


def _freeze(found: LookUp) -> Generator[None, None, dict[str, tuple[RuleMatch, ...]]]:
    frozen = {}
    while found:  # emptied step by step, because freeing thousands of lists at once takes milliseconds
        value, matches = found.popitem()
        frozen[value] = tuple(matches)
        yield
    return frozen


def _live_rules(targeted: TargetedFlag) -> list[Rule]:
    """The rules that can match at all, in the order in which they are tried."""
    if not targeted.flag.enabled:
        return []
    live = (rule for rule in targeted.rules if rule.enabled)
    return sorted(live, key=lambda rule: (-rule.priority, rule.created_at, rule.id))


def _ranked(rules: Sequence[Rule]) -> tuple[tuple[RuleType, str, int, int], ...]:
    ranked: dict[tuple[RuleType, str], tuple[int, int]] = {}
    for rank, rule in enumerate(rules):
        # A later rule with the same value is never reached.
        name = (rule.rule_type, match_key(rule.rule_type, rule.rule_value))
        ranked.setdefault(name, (rank, RULE_BASE + RULE_OUTCOMES[rule.rule_type]))
    return tuple((*name, *match) for name, match in ranked.items())


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


def _fragment(flag: Flag, outcome: Outcome) -> bytes:
    # Neither a flag's key nor a reason contains a character that JSON escapes.
    enabled = "true" if outcome.enabled else "false"
    reason = outcome.reason(flag.rollout_percentage)
    return f'"{flag.key}":{{"enabled":{enabled},"reason":"{reason}"}}'.encode() + SEPARATOR
