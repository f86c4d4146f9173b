"""Flags that are compiled apart from the served snapshots are decided together in portions of a bounded size."""

from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.explanations.deciding import portions
from flagstaff.evaluation.explanations.flag_sets import FlagSet
from tests.support.builders import make_environment, make_flag, make_rule

ENVIRONMENT = make_environment()


def sizes(*rules: int) -> list[list[int]]:
    """Return the portions of flags with so many rules, each flag as the number of its rules."""
    flags = {}
    for place, count in enumerate(rules):
        flag = make_flag(ENVIRONMENT, key=f"flag-{place}")
        flags[flag.key] = TargetedFlag(flag, [make_rule(flag)] * count)
    found = portions(FlagSet(ENVIRONMENT, flags, {}), list(flags))
    return [[len(flags[key].rules) for key in portion] for portion in found]


def test_no_flags_make_no_portion() -> None:
    assert sizes() == []


def test_a_portion_has_at_most_a_hundred_flags() -> None:
    assert [len(portion) for portion in sizes(*[0] * 250)] == [100, 100, 50]


def test_a_portion_has_at_most_five_hundred_rules() -> None:
    assert sizes(300, 200, 1, 499, 1) == [[300, 200], [1, 499], [1]]


def test_a_flag_with_more_rules_is_a_portion_by_itself() -> None:
    assert sizes(501, 1000, 1) == [[501], [1000], [1]]
