"""What the history says about the rules of a flag: which one decided, as far as a byte can tell them apart."""

from datetime import timedelta
from uuid import UUID

import pytest

from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.history.layout import MAX_DECIDERS
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.flags.flags import Rule, RuleType
from tests.support.builders import AT, make_environment, make_flag, make_rule

ENVIRONMENT = make_environment()
FLAG = make_flag(ENVIRONMENT, key="flag")
HERE = Condition("place", Operator.IN, ("here",))


def compiled(*rules: Rule) -> EnvironmentSnapshot:
    return compile_environment(ENVIRONMENT, [TargetedFlag(FLAG, rules)])


def recorded_rule(snapshot: EnvironmentSnapshot, user_id: str) -> UUID | None:
    (decision,) = snapshot.layout.decisions(evaluate(snapshot, user_id, None, {"place": "here"})[1])
    assert decision.outcome.enabled
    return decision.rule_id


def test_rules_that_are_only_looked_up_are_recorded_by_their_kind() -> None:
    snapshot = compiled(make_rule(FLAG), make_rule(FLAG, rule_type=RuleType.EMAIL_DOMAIN, rule_value="x.org"))
    assert snapshot.layout.version == 1
    assert recorded_rule(snapshot, "ada") is None


@pytest.mark.parametrize("values", [{"conditions": (HERE,)}, {"rollout_percentage": 99}])
def test_if_one_rule_says_more_each_is_recorded_by_its_id(values: dict[str, object]) -> None:
    plain, other = make_rule(FLAG), make_rule(FLAG, rule_value="eve", **values)
    assert recorded_rule(compiled(plain, other), "ada") == plain.id


@pytest.mark.parametrize(("count", "with_ids"), [(MAX_DECIDERS, MAX_DECIDERS), (MAX_DECIDERS + 1, MAX_DECIDERS - 5)])
def test_of_more_rules_than_a_byte_can_tell_apart_the_first_have_their_ids(count: int, with_ids: int) -> None:
    rules = [
        make_rule(FLAG, rule_value=f"user-{place}", created_at=AT + timedelta(place), conditions=(HERE,))
        for place in range(count)
    ]
    snapshot = compiled(*rules)
    found = [recorded_rule(snapshot, f"user-{place}") for place in range(count)]
    assert found == [rule.id for rule in rules[:with_ids]] + [None] * (count - with_ids)
