"""`python -m bench.condition_work`: the measured cost of conditions at their budget, beside the computed one.

Each family of conditions is repeated in rules until its computed work reaches the default budget, and a user is
evaluated with the attributes that are the worst case for it. The measured time is the shortest of several evaluations
in processor time, so that other work on the machine does not count.
"""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bench.report import print_table
from flagstaff.conditions.conditions import Condition, check_condition
from flagstaff.conditions.operators import Operator
from flagstaff.conditions.predicates import instructions_of
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.flags.condition_work import compute_work
from flagstaff.flags.flags import Fallthrough, Rule, RuleType
from tests.support.builders import make_environment, make_flag, make_rule

BUDGET = 1000
_TIMES = 15


@dataclass(frozen=True)
class Family:
    """Conditions of one kind, and the worst-case value of the attribute `x` for them."""

    name: str
    operator: Operator
    values: Sequence[str]
    worst: object
    attribute: str = "x"
    negate: bool = True


_TEXTS = ["ab" * 20 for _ in range(100)]
_RANDOM = "random"
"""A placeholder for a new text of a and b each time, whose states an expression has not seen."""
FAMILIES = (
    Family("in", Operator.IN, ("gold",), _TEXTS),
    Family("not_in", Operator.NOT_IN, ("gold",), _TEXTS, negate=False),
    Family("gt", Operator.GT, ("5",), [float(number) for number in range(100)]),
    Family("eq", Operator.EQ, ("-5",), [float(number) for number in range(100)]),
    Family("before", Operator.BEFORE, ("2020-01-01T00:00:00Z",), ["2026-01-01T00:00:00Z"] * 16),
    Family("semver_gt", Operator.SEMVER_GT, ("9.0.0",), ["1.0.0-" + "1." * 124 + "1"] * 4),
    Family(
        "semver_gt, pre-release", Operator.SEMVER_GT, ("1.0.0-" + "1." * 124 + "2",), ["1.0.0-" + "1." * 124 + "1"] * 4
    ),
    Family("semver_eq", Operator.SEMVER_EQ, ("9.0.0",), ["1.0.0-" + "1." * 28 + "1"] * 16),
    Family("starts_with, one value", Operator.STARTS_WITH, ("ab" * 19 + "c",), _TEXTS),
    Family("starts_with, 100 values", Operator.STARTS_WITH, [f"{'ab' * 10}{n}" for n in range(100)], _TEXTS),
    Family("ends_with, 100 values", Operator.ENDS_WITH, [f"{n}-{'ab' * 10}" for n in range(100)], _TEXTS),
    Family("contains, one value", Operator.CONTAINS, ("aaaaabaaaa",), ["a" * 1024] * 4),
    Family("contains, long value", Operator.CONTAINS, ("a" * 250 + "b" + "a" * 249,), ["a" * 1024] * 4),
    Family("contains, 20 values", Operator.CONTAINS, [f"aaaaab{n:04}" for n in range(20)], ["a" * 1024] * 4),
    Family("in_network", Operator.IN_NETWORK, ("10.0.0.0/8",), ["2001:db8:1:2:3:4:5:6"] * 16),
    Family(
        "in_network, 32 prefixes", Operator.IN_NETWORK, [f"10.0.0.0/{n}" for n in range(1, 33)], ["192.168.1.1"] * 16
    ),
    Family("matches, small", Operator.MATCHES, ("@(foo|bar)[.]com$",), ["ab" * 32] * 16),
    Family("matches, few instructions", Operator.MATCHES, ("[ab]*a[ab]{20}c",), _RANDOM),
    Family("matches, many", Operator.MATCHES, ("[ab]*a[ab]{150}c",), _RANDOM),
    Family("matches, optional", Operator.MATCHES, ("(?:[ab]?[ab]?[ab]?){23}c",), _RANDOM),
    Family("matches, email", Operator.MATCHES, ("[ab]*a(a|b|ab|ba){30}c",), _RANDOM, "user_email"),
)


def measure(family: Family) -> tuple[int, float, float]:
    """Return how many conditions the budget allows, their computed work and the measured time in microseconds."""
    flag = make_flag(make_environment(), fallthrough=Fallthrough.OFF)
    condition = check_condition(
        Condition(family.attribute, family.operator, tuple(family.values), negate=family.negate)
    )
    rule = make_rule(flag, rule_type=RuleType.ATTRIBUTES, rule_value=None, conditions=(condition,))
    one, two = (_compute([rule] * count) for count in (1, 2))
    count = max(1, 1 + int((BUDGET - one) / (two - one)))
    rules = [make_rule(flag, rule_type=rule.rule_type, rule_value=None, conditions=(condition,)) for _ in range(count)]
    flags = [make_flag(make_environment(), key=f"flag-{place}", fallthrough=Fallthrough.OFF) for place in range(count)]
    targeted = [TargetedFlag(each, [own]) for each, own in zip(flags, rules, strict=True)]
    snapshot = compile_environment(make_environment(), targeted)
    assert snapshot.targeting is not None
    texts = random.Random(1)
    shortest = float("inf")
    for _ in range(_TIMES):
        value = "".join(texts.choices("ab", k=1024)) if family.worst == _RANDOM else family.worst
        email = str(value) if family.attribute == "user_email" else None
        snapshot.targeting.kept.clear()  # a user about whom nothing is remembered
        began = time.process_time()
        evaluate(snapshot, "ada", email, {family.attribute: value})
        shortest = min(shortest, time.process_time() - began)
    return count, _compute(rules), shortest * 1e6


def _compute(rules: Sequence[Rule]) -> float:
    return compute_work(instructions_of, rules, ()).micros


def main() -> None:
    """Measure each family and print a table."""
    rows = []
    for family in FAMILIES:
        count, computed, measured = measure(family)
        rows.append((family.name, f"{count:,}", f"{computed:,.0f}", f"{measured:,.0f}"))
    print_table(("conditions", "number", "computed µs", "measured µs"), rows)


if __name__ == "__main__":
    main()
