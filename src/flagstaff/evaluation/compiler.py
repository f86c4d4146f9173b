"""From an environment's flags and rules to a snapshot, doing once what an evaluation need not do again."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from flagstaff.domain.flags import Flag, Rule, RuleType
from flagstaff.domain.projects import Environment
from flagstaff.evaluation.bucketing import BUCKETS
from flagstaff.evaluation.history.layout import NO_BUCKET, RULE_BASE, Layout, LayoutFlag
from flagstaff.evaluation.outcomes import RULE_OUTCOMES, Outcome
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, RuleMatch


@dataclass(frozen=True, slots=True)
class TargetedFlag:
    """A flag and its rules, in any order."""

    flag: Flag
    rules: Sequence[Rule] = ()


def compile_environment(environment: Environment, flags: Iterable[TargetedFlag]) -> EnvironmentSnapshot:
    """Compile an environment with its flags, which come in any order."""
    rollouts, ruled, constant = [], [], []
    for targeted in sorted(flags, key=lambda targeted: targeted.flag.key):
        rules = _live_rules(targeted)
        if targeted.flag.enabled and 0 < targeted.flag.rollout_percentage < BUCKETS:
            rollouts.append((targeted.flag, rules))
        elif rules:
            ruled.append((targeted.flag, rules))
        else:
            constant.append(targeted.flag)

    recorded = rollouts + ruled
    last = next(reversed([*(flag for flag, _ in recorded), *constant]), None)

    def fragment(flag: Flag, outcome: Outcome) -> bytes:
        return _fragment(flag, outcome) + (b"" if flag is last else b",")

    ruled_defaults = tuple(fragment(flag, _default(flag)) for flag, _ in ruled)
    constant_tail = b"".join(fragment(flag, _default(flag)) for flag in constant) + b"}}"
    look_ups = _look_ups(recorded)
    return EnvironmentSnapshot(
        project_id=environment.project_id,
        environment_id=environment.id,
        environment_key=environment.key,
        layout=Layout(
            recorded=tuple(_layout_flag(flag) for flag, _ in recorded),
            constant=tuple(_layout_flag(flag) for flag in constant),
        ),
        rollout_prefixes=tuple(f"{flag.key}:".encode() for flag, _ in rollouts),
        rollout_answers=tuple(_answers_by_bucket(flag, fragment) for flag, _ in rollouts),
        without_bucket=bytes((NO_BUCKET,)) * len(rollouts),
        ruled_defaults=ruled_defaults,
        ruled_recorded=bytes((NO_BUCKET,)) * len(ruled),
        rule_answers=tuple(
            {RULE_BASE + outcome: fragment(flag, outcome) for outcome in RULE_OUTCOMES.values()} if rules else {}
            for flag, rules in recorded
        ),
        by_user_id=look_ups[RuleType.USER_ID],
        by_email=look_ups[RuleType.USER_EMAIL],
        by_domain=look_ups[RuleType.EMAIL_DOMAIN],
        constant_tail=constant_tail,
        default_tail=b"".join(ruled_defaults) + constant_tail,
    )


def match_key(rule_type: RuleType, value: str) -> str:
    """The form in which a rule's value and a user's are compared: emails and domains without case, ids exactly."""
    match rule_type:
        case RuleType.USER_ID:
            return value
        case RuleType.USER_EMAIL:
            return value.lower()
        case RuleType.EMAIL_DOMAIN:
            return value.removeprefix("@").lower()


def _live_rules(targeted: TargetedFlag) -> list[Rule]:
    """The rules that can match at all, in the order in which they are tried."""
    if not targeted.flag.enabled:
        return []
    live = (rule for rule in targeted.rules if rule.enabled)
    return sorted(live, key=lambda rule: (-rule.priority, rule.created_at, rule.id))


def _default(flag: Flag) -> Outcome:
    if not flag.enabled:
        return Outcome.OFF
    match flag.rollout_percentage:
        case 0:
            return Outcome.ON
        case 100:
            return Outcome.IN_ROLLOUT
        case _:
            return Outcome.NOT_IN_ROLLOUT


def _layout_flag(flag: Flag) -> LayoutFlag:
    return LayoutFlag(id=flag.id, key=flag.key, rollout_percentage=flag.rollout_percentage, default=_default(flag))


def _fragment(flag: Flag, outcome: Outcome) -> bytes:
    # Neither a flag's key nor a reason holds a character that JSON escapes.
    enabled = "true" if outcome.enabled else "false"
    return f'"{flag.key}":{{"enabled":{enabled},"reason":"{outcome.reason(flag.rollout_percentage)}"}}'.encode()


def _answers_by_bucket(flag: Flag, fragment: Callable[[Flag, Outcome], bytes]) -> tuple[bytes, ...]:
    inside, outside = fragment(flag, Outcome.IN_ROLLOUT), fragment(flag, Outcome.NOT_IN_ROLLOUT)
    # One more than there are buckets: the entry at NO_BUCKET answers a user without an identifier.
    return (inside,) * flag.rollout_percentage + (outside,) * (BUCKETS + 1 - flag.rollout_percentage)


def _look_ups(recorded: Sequence[tuple[Flag, Sequence[Rule]]]) -> dict[RuleType, dict[str, tuple[RuleMatch, ...]]]:
    found: dict[RuleType, defaultdict[str, list[RuleMatch]]] = {kind: defaultdict(list) for kind in RuleType}
    for position, (_, rules) in enumerate(recorded):
        seen = set()
        for rank, rule in enumerate(rules):
            name = (rule.rule_type, match_key(rule.rule_type, rule.rule_value))
            if name not in seen:  # a later rule with the same value is never reached
                seen.add(name)
                match = RuleMatch(position, rank, RULE_BASE + RULE_OUTCOMES[rule.rule_type])
                found[rule.rule_type][name[1]].append(match)
    return {kind: {value: tuple(matches) for value, matches in by_value.items()} for kind, by_value in found.items()}
