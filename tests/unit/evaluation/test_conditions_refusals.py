"""Values that conditions refuse, and attributes with the same values, which meet no condition."""

from datetime import datetime

import pytest

from flagstaff.conditions.compiled_conditions import check_conditions, compile_condition
from flagstaff.conditions.conditions import Condition, InvalidConditionError
from flagstaff.conditions.operators import Operator
from tests.support.conditions import MOMENTS, NUMBERS, VERSIONS, make_condition, meets

NO_NUMBERS = ["five", "1,5", "0x10", "1_000", "NaN", "Infinity", "-inf", "1e400", "٣", "--1", "1e", ".", "+", "1 2"]
NO_MOMENTS = [
    "2026-11-20",
    "2026-11-20T10:00:00",
    "2026-11-20 10:00:00Z",
    "2026-11-20T10:00Z",
    "2026-02-30T10:00:00Z",
    "2026-13-01T10:00:00Z",
    "2026-11-20T24:00:00Z",
    "2026-11-20T10:00:60Z",
    "2026-11-20T10:00:00.Z",
    "2026-11-20T10:00:00,5Z",
    "2026-11-20T10:00:00+0100",
    "2026-11-20T10:00:00+24:00",
    "2026-11-20T10:00:00+00:60",
    "2026-W47-5T10:00:00Z",
    "20261120T100000Z",
    "0000-01-01T00:00:00Z",
    "٢٠٢٦-11-20T10:00:00Z",
    "1763632800",
    f"2026-11-20T10:00:00.{'1' * 60}Z",
]
NO_VERSIONS = [
    "1",
    "1.2",
    "1.2.3.4",
    "v1.2.3",
    "=1.2.3",
    "01.2.3",
    "1.2.03",
    "1.2.3-",
    "1.2.3-a..b",
    "1.2.3-01",
    "1.2.3+",
    "1.2.3-ä",
    "1.٢.3",
    "1.2.x",
    "latest",
    f"1.2.{'3' * 256}",
]
NO_NETWORKS = [
    "localhost",
    "10.0.0",
    "10.0.0.256",
    "010.0.0.1",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "10.0.0.0/255.0.0.0",
    "10.0.0.0/٨",
    "10.0.0.0 - 10.0.0.9",
    "fe80::1%eth0",
    "fe80::1%eth0/64",
    "2001:db8::/129",
    "[2001:db8::1]",
    "10.0.0.1:80",
    "167772161",
    "/8",
]
NO_EXPRESSIONS = [
    "(",
    "[a",
    "*a",
    "a{2,1}",
    r"\1",
    r"(a)\1",
    "(?=a)b",
    "(?<!a)b",
    r"\pX",
    "a{1001}",
    "((a{100}){100}){100}",
]
TOO_LARGE = [
    r"\pL{200}",
    "(a|b)*a(a|b){500}",
    "(" * 500 + ")" * 500 + "a{999}",
    "a" * 247,
    r"\p{Zl}" * 9,
    r"\P{Zl}" * 9,
]
REFUSED = [
    *((operator, value, "decimal number") for operator in NUMBERS for value in NO_NUMBERS),
    *((operator, value, "RFC 3339") for operator in MOMENTS for value in NO_MOMENTS),
    *((operator, value, "semantic version") for operator in VERSIONS for value in NO_VERSIONS),
    *((Operator.IN_NETWORK, value, "IP address or a range") for value in NO_NETWORKS),
    *((Operator.MATCHES, value, "regular expression in RE2's syntax: ") for value in NO_EXPRESSIONS),
    *((Operator.MATCHES, value, "a smaller regular expression") for value in TOO_LARGE),
]


@pytest.mark.parametrize(("operator", "value", "message"), REFUSED)
def test_a_value_that_the_operator_cannot_compare_is_refused(operator: Operator, value: str, message: str) -> None:
    with pytest.raises(InvalidConditionError, match=message) as caught:
        compile_condition(make_condition(operator, value))
    assert caught.value.path == "values.0"


@pytest.mark.parametrize("value", ["a" * 246, "(a)" * 240, r"\p{Zl}" * 8, r"\.\?\d" * 20])
def test_an_expression_within_the_bounds_is_compiled(value: str) -> None:
    assert not meets("b", Operator.MATCHES, value)


def test_a_wrong_expression_is_not_logged(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidConditionError):
        compile_condition(make_condition(Operator.MATCHES, "("))
    assert capfd.readouterr().err == ""


def test_a_range_is_refused_at_its_index() -> None:
    with pytest.raises(InvalidConditionError, match="IP address or a range") as caught:
        compile_condition(make_condition(Operator.IN_NETWORK, "10.0.0.0/8", "::/0", "10.0.0.1", "10.0.0.0/99"))
    assert caught.value.path == "values.3"


def test_a_list_of_conditions_names_the_condition_and_the_value() -> None:
    good = Condition("plan", Operator.IN, ("pro",))
    for bad, path in [
        (Condition("plan", Operator.IN, ("pro", "")), "1.values.1"),
        (Condition("age", Operator.GT, ("old",)), "1.values.0"),
        (Condition("", Operator.IN, ("pro",)), "1.attribute"),
        (Condition("age", Operator.GT, ()), "1.values"),
    ]:
        with pytest.raises(InvalidConditionError) as caught:
            check_conditions([good, bad, bad])
        assert caught.value.path == path
    with pytest.raises(InvalidConditionError, match="at most 50") as caught:
        check_conditions([good] * 51)
    assert caught.value.path == ""


def test_a_list_of_conditions_is_returned_as_it_is_stored() -> None:
    given_conditions = [Condition(" plan", Operator.IN, (" pro",)), Condition("age", Operator.GT, ("5 ",))]
    stored = (Condition("plan", Operator.IN, ("pro",)), Condition("age", Operator.GT, ("5",)))
    assert check_conditions(given_conditions) == stored
    assert check_conditions([]) == ()


WRONG_FORMS = [
    *((operator, value) for operator in NUMBERS for value in [*NO_NUMBERS, "", " 5", "5 ", True, False]),
    *((operator, value) for operator in MOMENTS for value in [*NO_MOMENTS, "", " ", True, 1763632800, 2026.5]),
    *((operator, value) for operator in VERSIONS for value in [*NO_VERSIONS, "", "1.2.3\n", "1.2.3 ", True, 1, 1.2]),
    *((Operator.IN_NETWORK, value) for value in ["", "10.0.0.0/8", "10.0.0.1 ", "fe80::1%1", True, 167772161, 10.0]),
    *((operator, datetime(2026, 1, 1)) for operator in Operator if operator is not Operator.NOT_IN),  # noqa: DTZ001
]


@pytest.mark.parametrize(("operator", "value"), WRONG_FORMS)
def test_an_attribute_of_another_form_meets_nothing(operator: Operator, value: object) -> None:
    assert meets(value, operator) is False
    assert meets(value, operator, negate=True) is False
    assert meets([value], operator, negate=True) is False
