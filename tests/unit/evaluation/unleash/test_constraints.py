"""The constraints that express conditions, compared with what the engine of the SDKs makes of them."""

from datetime import timedelta
from typing import Any

import pytest

from flagstaff.conditions.compiled_conditions import compile_condition
from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.evaluation.unleash.constraints import identifies
from tests.support.builders import AT, make_rule
from tests.support.local_sdk import Engine, context_of
from tests.unit.evaluation.unleash.test_differences import attributes_rule, translated


def constraint(operator: str, *values: str, **more: Any) -> dict[str, Any]:
    """Return a constraint on the attribute x."""
    plain = {"contextName": "x", "inverted": False, "caseInsensitive": False}
    return {**plain, "operator": operator, "values": list(values), **more}


def alternatives(condition: Condition) -> list[list[dict[str, Any]]]:
    """Return the constraints of each strategy for a condition."""
    return [each["constraints"] for each in translated(attributes_rule(condition)).feature["strategies"]]


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize(
    ("operator", "value"),
    [
        (Operator.BEFORE, (AT + timedelta(1)).isoformat()),
        (Operator.BEFORE, (AT - timedelta(1)).isoformat()),
        (Operator.AFTER, (AT + timedelta(1)).isoformat()),
        (Operator.AFTER, (AT - timedelta(1)).isoformat()),
        (Operator.AFTER, "2026-11-20t09:00:00z"),
        (Operator.AFTER, "2026-11-20T11:00:00.5+01:30"),
        (Operator.BEFORE, "2026-11-20T10:00:00.124Z"),
        (Operator.BEFORE, "2026-11-20T10:00:00.1229999Z"),
        (Operator.IN, "2026"),
        (Operator.NOT_IN, "2026"),
        (Operator.CONTAINS, "2026"),
        (Operator.GT, "2026"),
    ],
)
def test_the_time_meets_the_same_conditions(operator: Operator, value: str, negate: bool) -> None:
    condition = Condition("current_time", operator, (value,), negate=negate)
    translation = translated(attributes_rule(condition))
    assert translation.is_exact
    is_on = Engine([translation.feature]).ask("asked", context_of(None, None, {}, AT)).enabled
    assert is_on is compile_condition(condition)(AT)


def test_a_number_is_compared_if_it_is_written_in_decimals() -> None:
    (strategy,) = translated(attributes_rule(Condition("x", Operator.GT, ("5.0",)))).feature["strategies"]
    assert strategy["constraints"] == [
        constraint("STR_STARTS_WITH", *"0123456789+-."),
        constraint("STR_ENDS_WITH", *"0123456789."),
        constraint("STR_CONTAINS", "x", "o", "b", inverted=True, caseInsensitive=True),
        constraint("NUM_GT", value="5"),
    ]


def test_a_version_is_compared_if_it_has_no_build_metadata() -> None:
    (strategy,) = translated(attributes_rule(Condition("x", Operator.SEMVER_GT, ("1.2.0+5",)))).feature["strategies"]
    assert strategy["constraints"] == [
        constraint("STR_CONTAINS", "+", inverted=True),
        constraint("SEMVER_GT", value="1.2.0"),
    ]


@pytest.mark.parametrize(
    ("values", "count"), [(tuple(f"a{n}@x.org" for n in range(16)), 16), (tuple(f"a{n}@x.org" for n in range(17)), 1)]
)
def test_each_of_some_addresses_has_a_strategy(values: tuple[str, ...], count: int) -> None:
    assert len(alternatives(Condition("user_email", Operator.IN, values))) == count


@pytest.mark.parametrize("attribute", ["user_id", "user_email"])
def test_who_is_not_in_a_list_needs_an_id_or_email_that_begins_with_a_character(attribute: str) -> None:
    (constraints,) = alternatives(Condition(attribute, Operator.IN, ("5",), negate=True))
    assert constraints[:2] == list(identifies({"user_id": "userId", "user_email": "email"}[attribute]))


def test_the_opposite_of_values_without_case_is_exact_although_case_is_ignored() -> None:
    for values, is_exact in ((("1", "2"), True), (("1", "a"), False)):
        translation = translated(attributes_rule(Condition("x", Operator.NOT_IN, values, case_insensitive=True)))
        assert translation.is_exact is is_exact
        engine = Engine([translation.feature])
        assert not engine.ask("asked", {"properties": {"x": "1"}}).enabled
        assert engine.ask("asked", {"properties": {"x": "3"}}).enabled


def test_short_values_have_all_their_spellings() -> None:
    ((spelled,),) = alternatives(Condition("x", Operator.IN, ("a1c",), case_insensitive=True))
    assert spelled == constraint("IN", "a1c", "a1C", "A1c", "A1C")
    for value, is_exact in (("a1b2c3d4e", True), ("abcdef", False)):
        translation = translated(attributes_rule(Condition("x", Operator.IN, (value,), case_insensitive=True)))
        assert translation.is_exact is is_exact


def test_the_reason_that_a_value_cannot_be_sent_is_named_first() -> None:
    (difference,) = translated(
        attributes_rule(Condition("x", Operator.IN, ("abcdefgh", "x\\"), case_insensitive=True))
    ).differences
    assert "backslash" in difference.message


@pytest.mark.parametrize(
    ("condition", "ending"),
    [
        (Condition("email_domain", Operator.IN, ("x.org",)), "@x.org"),
        (Condition("email_domain", Operator.ENDS_WITH, ("x.org",)), "x.org"),
    ],
)
def test_the_domain_is_what_follows_the_last_at(condition: Condition, ending: str) -> None:
    (constraints,) = alternatives(condition)
    assert constraints[-1]["values"] == [ending]
    engine = Engine([translated(attributes_rule(condition)).feature])
    answers = {
        email: engine.ask("asked", {"properties": {"email": email}}).enabled
        for email in ("a@x.org", "A@X.org", "a@b@x.org", "a@ax.org", "a@x.org@y.org", "x.org", "a@")
    }
    ends = condition.operator is Operator.ENDS_WITH
    assert answers == {
        "a@x.org": True,
        "A@X.org": True,
        "a@b@x.org": True,
        "a@ax.org": ends,
        "a@x.org@y.org": False,
        "x.org": False,
        "a@": False,
    }


@pytest.mark.parametrize(("operator", "is_on"), [(Operator.IN, False), (Operator.NOT_IN, True)])
def test_nobody_has_a_domain_with_an_at(operator: Operator, is_on: bool) -> None:
    (constraints,) = alternatives(Condition("email_domain", operator, ("b@x.org",)))
    assert constraints[-1]["operator"] == operator.upper()
    translation = translated(attributes_rule(Condition("email_domain", operator, ("b@x.org",))))
    assert Engine([translation.feature]).ask("asked", {"properties": {"email": "a@b@x.org"}}).enabled is is_on


def test_an_attribute_with_the_name_email_has_a_case() -> None:
    engine = Engine([translated(attributes_rule(Condition("email", Operator.IN, ("Ada",)))).feature])
    assert engine.ask("asked", {"properties": {"email": "Ada"}}).enabled
    assert not engine.ask("asked", {"properties": {"email": "ada"}}).enabled


def test_up_to_a_hundred_values_have_all_their_spellings() -> None:
    for count in (100, 101):
        values = tuple(f"a{number}b" for number in range(count))
        translation = translated(attributes_rule(Condition("x", Operator.IN, values, case_insensitive=True)))
        engine = Engine([translation.feature])
        assert engine.ask("asked", {"properties": {"x": "a7b"}}).enabled
        assert engine.ask("asked", {"properties": {"x": "A7B"}}).enabled is translation.is_exact is (count == 100)


def test_the_opposite_of_a_list_has_an_operator_of_its_own() -> None:
    (strategy,) = translated(attributes_rule(Condition("plan", Operator.NOT_IN, ("free",)))).feature["strategies"]
    (constraint,) = strategy["constraints"]
    assert (constraint["operator"], constraint["values"], constraint["inverted"]) == ("NOT_IN", ["free"], False)


@pytest.mark.parametrize("value", ["ada?", "?", "a da", "a\\b"])
def test_other_values_are_sent_as_they_are(value: str) -> None:
    translation = translated(make_rule(rule_value=value))
    assert translation.differences == ()
    assert translation.feature["strategies"][0]["constraints"][0]["values"] == [value]
