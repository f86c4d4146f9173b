"""The pieces of a snapshot, which are freed one by one after another has replaced it."""

from collections.abc import Sized

import pytest

from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, pieces_of
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.flags.flags import RuleType
from flagstaff.flags.prerequisites import Prerequisite
from tests.support.builders import make_environment, make_flag, make_rule

COUNT = 20
LISTED = ((RuleType.USER_ID, "u{}"), (RuleType.USER_EMAIL, "u{}@example.com"), (RuleType.EMAIL_DOMAIN, "d{}.example"))


def compiled(*, has_targeting: bool) -> EnvironmentSnapshot:
    """An environment with flags of each kind."""
    environment = make_environment()
    flags = []
    for number in range(COUNT):
        flags += [
            TargetedFlag(make_flag(environment, key=f"on-{number}")),
            TargetedFlag(make_flag(environment, key=f"half-{number}", rollout_percentage=50)),
        ]
        listed = make_flag(environment, key=f"listed-{number}", rollout_percentage=50)
        flags.append(
            TargetedFlag(
                listed, [make_rule(listed, rule_type=each, rule_value=value.format(number)) for each, value in LISTED]
            )
        )
        if has_targeting:
            needed = (Prerequisite(f"half-{number}"),)
            flag = make_flag(environment, key=f"plan-{number}", rollout_percentage=50, prerequisites=needed)
            condition = Condition("plan", Operator.IN, (str(number),))
            flags.append(
                TargetedFlag(
                    flag, [make_rule(flag, rule_type=RuleType.ATTRIBUTES, rule_value=None, conditions=(condition,))]
                )
            )
    return compile_environment(environment, flags)


def lengths(snapshot: EnvironmentSnapshot) -> dict[str, int]:
    """How many pieces each collection has that grows with the flags."""
    grow: dict[str, Sized] = {
        "recorded": snapshot.layout.recorded,
        "constant": snapshot.layout.constant,
        "answers": snapshot.answers,
        "rollout_answers": snapshot.rollout_answers,
        "by_user_id": snapshot.by_user_id,
        "by_email": snapshot.by_email,
        "by_domain": snapshot.by_domain,
    }
    if (targeting := snapshot.targeting) is not None:
        grow |= {
            "targeting.answers": targeting.answers,
            "needs": targeting.needs,
            "by_predicate": targeting.by_predicate,
        }
    return {name: len(each) for name, each in grow.items()}


@pytest.mark.parametrize(("has_targeting", "empty"), [(False, set()), (True, {"answers", "rollout_answers"})])
def test_the_pieces_are_all_that_grows_with_the_flags(has_targeting: bool, empty: set[str]) -> None:
    snapshot = compiled(has_targeting=has_targeting)
    found = lengths(snapshot)
    assert {name for name, length in found.items() if length < COUNT} == empty
    assert len(list(pieces_of(snapshot))) == sum(found.values())
