"""`python -m bench.evaluation_bounds`: the cost of one evaluation with the maximum number of flags.

Every flag affects the user. The measured time is the shortest of several evaluations in processor time, so that other
work on the machine does not count.
"""

import time
from collections.abc import Callable
from typing import Any

from bench.report import print_table
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.flags.flags import RuleType
from flagstaff.flags.variants import Variant
from flagstaff.projects.projects import Environment
from tests.support.builders import make_environment, make_flag, make_rule

FLAGS = 5_000
_TIMES = 60
_VARIANTS = (Variant("a", 1, '"a"'), Variant("b", 1, '"b"'))
_EMAIL = "ada@example.com"
_LONG, _LONGEST = "x" * 1024, "\N{GRINNING FACE}" * 1024


def _flags(**values: Any) -> Callable[[Environment, str], TargetedFlag]:
    def make(environment: Environment, key: str) -> TargetedFlag:
        return TargetedFlag(make_flag(environment, key=key, **values), ())

    return make


def _shared(**values: Any) -> Callable[[Environment, str], TargetedFlag]:
    """Return a function that makes a flag with these values and a rule for a share of the users."""

    def make(environment: Environment, key: str) -> TargetedFlag:
        flag = make_flag(environment, key=key, **values)
        return TargetedFlag(flag, (make_rule(flag, rule_value="nobody", rollout_percentage=50),))

    return make


def _ruled(environment: Environment, key: str) -> TargetedFlag:
    flag = make_flag(environment, key=key)
    kinds = ((RuleType.USER_ID, "ada"), (RuleType.USER_EMAIL, _EMAIL), (RuleType.EMAIL_DOMAIN, "example.com"))
    return TargetedFlag(flag, [make_rule(flag, rule_type=kind, rule_value=value) for kind, value in kinds])


def _named(environment: Environment, key: str) -> TargetedFlag:
    """Return a flag whose rules all name one user, with its share of the rules that an environment may have."""
    flag = make_flag(environment, key=key)
    values = {"rule_type": RuleType.USER_ID, "rule_value": "ada"}
    return TargetedFlag(flag, [make_rule(flag, **values, rollout_percentage=percent) for percent in range(1, 5)])


def _by_attribute(environment: Environment, key: str) -> TargetedFlag:
    stickiness = f"a{int(key.removeprefix('flag-')) % 8}"
    return _shared(rollout_percentage=50, variants=_VARIANTS, stickiness=stickiness)(environment, key)


_WORST = _shared(rollout_percentage=50, variants=_VARIANTS)
ROWS: tuple[tuple[str, Callable[[Environment, str], TargetedFlag], str, dict[str, object]], ...] = (
    ("a rollout", _flags(rollout_percentage=50), "ada", {}),
    ("rules by id, email and domain that match", _ruled, "ada", {}),
    ("four rules by one id, for 1 to 4 percent", _named, "ada", {}),
    ("two variants, a share and a rollout", _WORST, "ada", {}),
    ("the same, by attributes of 1,024 bytes", _by_attribute, "ada", {f"a{n}": _LONG for n in range(8)}),
    ("a rollout, an id of 1,024 bytes", _flags(rollout_percentage=50), _LONG, {}),
    ("two variants, a share and a rollout, the same id", _WORST, _LONG, {}),
    ("a rollout, an id of 4,096 bytes", _flags(rollout_percentage=50), _LONGEST, {}),
    ("two variants, a share and a rollout, the same id", _WORST, _LONGEST, {}),
)


def measure(flag: Callable[[Environment, str], TargetedFlag], user_id: str, attributes: dict[str, object]) -> float:
    """Return the time of one evaluation, in milliseconds."""
    environment = make_environment()
    flags = [flag(environment, f"flag-{number:04}") for number in range(FLAGS)]
    snapshot = compile_environment(environment, flags)
    shortest = float("inf")
    for _ in range(_TIMES):
        began = time.process_time()
        evaluate(snapshot, user_id, _EMAIL, attributes)
        shortest = min(shortest, time.process_time() - began)
    return shortest * 1e3


def main() -> None:
    """Measure each kind of flags and print a table."""
    rows = [(name, f"{measure(flag, user_id, given):.2f}") for name, flag, user_id, given in ROWS]
    print_table((f"{FLAGS:,} flags, each with", "ms"), rows)


if __name__ == "__main__":
    main()
