"""The meaning of conditions: attributes that cannot be compared, each operator, `negate`, case and lists."""

from datetime import UTC, datetime
from typing import Any

import pytest

from flagstaff.conditions.attributes import Form, comparable, read
from flagstaff.conditions.compiled_conditions import compile_condition, lookup_values
from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import VALUE_TYPES, Operator, ValueType
from tests.support.conditions import TEXTS, make_condition, meets
from tests.support.naive_conditions import meets_naively


def nested(levels: int) -> Any:
    value: Any = "pro"
    for _ in range(levels):
        value = [value]
    return value


NEVER = {
    "missing": None,
    "object": {"pro": "5"},
    "list in a list": [["pro"], [5], {"pro": 5}, None],
    "100 levels": nested(100),
    "100 levels of objects": {"a": nested(100)},
    "empty list": [],
    "256 KiB": "pro" * 87_000,
    "1,025 characters": "p" * 1025,
    "lone surrogate": "pro\ud800",
    "infinity": float("inf"),
    "not a number": float("nan"),
    "a million digits": 1 << 3_321_928,
    "a million digits below zero": -(1 << 3_321_928),
    "a million digits as text": "1" * 1_000_000,
    "101 elements": ["pro"] * 101,
    "100,000 elements": ["pro", 5, "1.2.3"] * 33_000,
    "a list of 5,000 characters": ["p" * 1000] * 5,
    "another object": object(),
    "bytes": b"pro",
}


@pytest.mark.parametrize("value", NEVER.values(), ids=list(NEVER))
@pytest.mark.parametrize("operator", Operator)
def test_an_attribute_that_cannot_be_compared_meets_nothing_but_not_in(operator: Operator, value: object) -> None:
    assert meets(value, operator) is (operator is Operator.NOT_IN)
    assert meets(value, operator, negate=True) is False


@pytest.mark.parametrize("value", NEVER.values(), ids=list(NEVER))
@pytest.mark.parametrize("form", Form)
def test_what_cannot_be_compared_has_no_readings(form: Form, value: object) -> None:
    assert read(form, value) == ()
    assert comparable(value) is None


def test_an_integer_is_read_if_a_double_can_hold_its_power_of_two() -> None:
    for form in (Form.TEXT, Form.NUMBER):
        assert len(read(form, 2**1023 - 1)) == len(read(form, 1 - 2**1023)) == 1
        assert read(form, 2**1023) == read(form, -(2**1023)) == ()


@pytest.mark.parametrize(
    ("form", "start", "most"),
    [
        (Form.TEXT, "", 1024),
        (Form.LOWER_TEXT, "", 1024),
        (Form.SEARCHED_TEXT, "", 1024),
        (Form.NUMBER, "0.", 1024),
        (Form.VERSION, "1.0.0-a", 256),
    ],
)
def test_a_text_is_read_up_to_its_bound(form: Form, start: str, most: int) -> None:
    assert len(read(form, start.ljust(most, "0"))) == 1
    assert read(form, start.ljust(most + 1, "0")) == ()


def test_a_moment_is_read_with_many_digits() -> None:
    start, end = "2026-11-20T10:00:00.", "+00:00"
    assert len(read(Form.MOMENT, f"{start}{'0' * 38}{end}")) == 1
    assert read(Form.MOMENT, f"{start}{'0' * 39}{end}") == ()


def test_a_list_is_read_up_to_its_bounds() -> None:
    for form, characters in ((Form.TEXT, 4096), (Form.NUMBER, 1024), (Form.SEARCHED_TEXT, 1024)):
        assert read(form, ["0" * 1024] * (characters // 1024)) != ()
        assert read(form, ["0" * 1024] * (characters // 1024) + ["0"]) == ()
    assert comparable(["x" * 1024] * 4) is not None
    assert comparable(["x" * 1024] * 4 + ["x"]) is None


def test_of_the_integers_in_a_list_only_long_ones_count() -> None:
    assert read(Form.NUMBER, [2**64 - 1] * 100) != ()
    assert read(Form.NUMBER, [2**1000] * 3) != ()
    assert read(Form.NUMBER, [2**1000] * 4) == ()


MATCHES: list[tuple[Operator, tuple[str, ...], list[object], list[object]]] = [
    (Operator.IN, ("pro", "5", "true", "0.1"), ["pro", 5, 5.0, True, 0.1], ["Pro", "pr", "", " pro", 5.5, False]),
    (Operator.IN, (), [], ["pro", "", 0]),
    (Operator.STARTS_WITH, ("pro", "e2"), ["pro", "prose", "e2 "], ["Pro", " pro", "pr", "", "e1"]),
    (Operator.STARTS_WITH, ("1", "tr"), [1, 12, 1.5, True, "1"], [21, -1, False]),
    (Operator.ENDS_WITH, ("pro", "@a.com"), ["pro", "re-pro", "x@a.com"], ["PRO", "pros", "ro", "", "x@b.com"]),
    (Operator.CONTAINS, ("pro", "@a"), ["pro", "approve", "x@a.com"], ["p-ro", "PRO", "", "x@b.com"]),
    (Operator.CONTAINS, ("ü", "日本", "é", "ß", "x"), ["über", "in 日本 ", "xyz"], ["uber", "日 本", "e"]),
    (Operator.MATCHES, ("^pro|am$",), ["pro", "prose", "team", "am"], ["Pro", "a pro", "amp", ""]),
    (Operator.MATCHES, (r"\bcat\b",), ["a cat b", "cat"], ["concatenate"]),
    (Operator.MATCHES, ("^(?i)abc$",), ["ABC", "abc"], ["zabc", "abc\n"]),
    (Operator.MATCHES, ("(?m)^foo$",), ["x\nfoo\ny"], ["x\nfo\ny"]),
    (Operator.MATCHES, ("^(?s)a.b$",), ["a\nb"], ["a\n\nb"]),
    (Operator.MATCHES, ("^[[:alpha:]]+$",), ["Abc"], ["Abc1", "ä"]),
    (Operator.MATCHES, ("^$",), [""], ["a"]),
    (Operator.MATCHES, ("^5$",), [5, 5.0, "5"], [55]),
    (Operator.EQ, ("12",), [12, 12.0, "12", "12.0", "+12", "1.2e1", "012"], [13, "13", -12, 12.000001]),
    (Operator.EQ, ("0.1",), [0.1, "0.1", ".1", "1e-1"], [0, 0.2]),
    (Operator.EQ, ("0",), [0, -0.0, "0", "-0", "0."], [1e-300, "1"]),
    (Operator.GT, ("5",), [6, 5.01, "6", "10", 10**300], [5, "5", 4, -6]),
    (Operator.GTE, ("5",), [5, "5.0", 6], [4.99, "4"]),
    (Operator.LT, ("-5.2",), [-6, "-5.3"], [-5.2, -5, 0]),
    (Operator.LTE, ("5",), [5, "5", 4, "-10"], [5.01, "6"]),
    (Operator.EQ, ("9007199254740993",), [9007199254740993, 9007199254740992, "9007199254740993"], [9007199254740994]),
    (
        Operator.AFTER,
        ("2026-11-20T10:00:00.5+01:00",),
        ["2026-11-20T09:00:00.500001Z", "2026-11-20T09:00:01Z", "2026-11-20t09:00:01z", "9999-12-31T23:59:59-23:59"],
        ["2026-11-20T09:00:00.5Z", "2026-11-20T09:00:00Z", "2026-11-20T10:00:00+01:00", "0001-01-01T00:00:00+23:59"],
    ),
    (
        Operator.BEFORE,
        ("2026-11-20T10:00:00Z",),
        ["2026-11-20T09:59:59.999999Z", "2026-11-20T10:30:00+01:00", datetime(2026, 11, 20, 9, tzinfo=UTC)],
        ["2026-11-20T10:00:00Z", "2026-11-20T10:00:00-00:00", datetime(2026, 11, 20, 10, tzinfo=UTC)],
    ),
    (Operator.SEMVER_EQ, ("1.2.3",), ["1.2.3", "1.2.3+build.5"], ["1.2.4", "1.2.3-rc.1", "1.2.30"]),
    (Operator.SEMVER_EQ, ("1.2.3-a.1+x",), ["1.2.3-a.1", "1.2.3-a.1+y"], ["1.2.3", "1.2.3-a.01", "1.2.3-A.1"]),
    (Operator.SEMVER_GT, ("1.2.3",), ["1.2.4", "1.10.0", "2.0.0-alpha"], ["1.2.3", "1.2.3+b", "1.2.3-z", "1.1.9"]),
    (Operator.SEMVER_GT, ("2.0.0-alpha",), ["2.0.0-alpha.1", "2.0.0-beta", "2.0.0"], ["2.0.0-1", "2.0.0-alph"]),
    (Operator.SEMVER_GT, ("2.0.0-rc.2",), ["2.0.0-rc.10", "2.0.0-rc.a", "2.0.0-rc.2.0"], ["2.0.0-rc.1", "2.0.0-rc"]),
    (Operator.SEMVER_GTE, ("1.2.3",), ["1.2.3", "1.2.3+b", "1.2.4"], ["1.2.3-rc", "1.2.2"]),
    (Operator.SEMVER_LT, ("2.0.0-alpha.3",), ["2.0.0-alpha.1", "1.9.1-beta.1", "2.0.0-2"], ["2.0.0-alpha.4", "2.0.0"]),
    (Operator.SEMVER_LTE, ("1.2.3",), ["1.2.3", "1.2.3-rc", "0.9.9"], ["1.2.4", "1.10.0"]),
    (
        Operator.IN_NETWORK,
        ("10.1.2.3/8", "192.0.2.1", "2001:db8::/32", "::1"),
        ["10.0.0.0", "10.255.255.255", "192.0.2.1", "2001:db8:ffff::1", "2001:DB8::", "::1", "0:0:0:0:0:0:0:1"],
        ["11.0.0.0", "192.0.2.2", "2001:db9::", "::2", "::ffff:10.0.0.1", "10.0.0"],
    ),
    (Operator.IN_NETWORK, ("0.0.0.0/0",), ["0.0.0.0", "255.255.255.255"], ["::1"]),
    (
        Operator.IN_NETWORK,
        ("::/0",),
        ["::1", "::ffff:10.0.0.1", "2001:0db8:0000:0000:0000:ffff:192.168.100.100"],
        ["10.0.0.1"],
    ),
]


@pytest.mark.parametrize(
    ("operator", "values", "value", "expected"),
    [
        (operator, values, value, expected)
        for operator, values, matching, others in MATCHES
        for expected, group in ((True, matching), (False, others))
        for value in group
    ],
)
def test_an_attribute_meets_a_condition(
    operator: Operator, values: tuple[str, ...], value: object, *, expected: bool
) -> None:
    plain = Condition("attribute", operator, values)
    assert compile_condition(plain)(value) is expected
    assert compile_condition(plain)([value]) is expected
    assert compile_condition(plain)(["somewhere else", None, value]) is expected
    if operator is not Operator.MATCHES and not isinstance(value, datetime):
        assert meets_naively(plain, value) is expected


@pytest.mark.parametrize("operator", [each for each in Operator if each is not Operator.NOT_IN])
def test_negate_turns_the_result_around(operator: Operator) -> None:
    values: list[object] = ["pro", "free", 5, 4, 6, "1.2.3", "1.2.2", "1.2.4", "10.0.0.1", "11.0.0.1"]
    values += ["2026-11-20T09:00:00Z", "2026-11-20T11:00:00Z"]
    comparable = [value for value in values if read(compile_condition(make_condition(operator)).form, value)]
    results = {value: meets(value, operator) for value in comparable}
    assert set(results.values()) == {True, False}
    assert {value: not meets(value, operator, negate=True) for value in comparable} == results


def test_not_in_is_met_by_what_is_not_in_the_list() -> None:
    assert meets("free", Operator.NOT_IN)
    assert not meets("pro", Operator.NOT_IN)
    assert not compile_condition(Condition("plan", Operator.IN, ()))("free")
    assert compile_condition(Condition("plan", Operator.NOT_IN, ()))("free")


def test_not_in_with_negate_is_in() -> None:
    assert meets("pro", Operator.NOT_IN, negate=True)
    assert not meets("free", Operator.NOT_IN, negate=True)


@pytest.mark.parametrize("operator", TEXTS)
def test_case_is_ignored_on_request(operator: Operator) -> None:
    expected = operator is not Operator.NOT_IN
    assert meets("PRO", operator) is not expected
    assert meets("PRO", operator, case_insensitive=True) is expected
    values = ("TEAM", "a", "b", "c", "d", "Ü-İ")
    if operator is not Operator.MATCHES:
        assert meets("ü-İ", operator, *values, case_insensitive=True) is expected
        assert meets("z", operator, *values, case_insensitive=True) is not expected


@pytest.mark.parametrize("operator", Operator)
def test_a_list_is_met_if_any_of_its_elements_is(operator: Operator) -> None:
    matching: dict[Operator, object] = {Operator.NOT_IN: "free"}
    values: list[object] = ["pro", 5, 4, 6, "1.2.3", "1.2.2", "1.2.4", "10.0.0.1"]
    values += ["2026-11-20T09:00:00Z", "2026-11-20T11:00:00Z"]
    met = matching.get(operator) or next(value for value in values if meets(value, operator))
    missed = (
        "pro"
        if operator is Operator.NOT_IN
        else next(
            value
            for value in [*values, "192.0.2.1", "free"]
            if read(compile_condition(make_condition(operator)).form, value) and not meets(value, operator)
        )
    )
    any_suffices = operator is not Operator.NOT_IN
    assert meets([met], operator)
    assert meets([missed, met], operator) is any_suffices
    assert meets([met, missed, {}, None, []], operator) is any_suffices
    assert not meets([missed, missed], operator)
    assert meets([missed], operator, negate=True)
    assert meets([missed, met], operator, negate=True) is not any_suffices
    is_text = VALUE_TYPES[operator] in (ValueType.TEXT, ValueType.NUMBER)
    longest = 100 if is_text and operator is not Operator.MATCHES else 16
    assert meets([missed] * (longest - 1) + [met], operator) is any_suffices
    assert meets([met] * (longest + 1), operator) is not any_suffices


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (-0.5, "-0.5"),
        (5.0, "5"),
        (1e20, "100000000000000000000"),
        (1.2345678901234568e20, "123456789012345680000"),
        (1e21, "1e+21"),
        (1.5e-5, "0.000015"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (-1.25e-10, "-1.25e-10"),
        (5e-324, "5e-324"),
        (2**53, "9007199254740992"),
        (2**70, str(2**70)),
        (True, "true"),
        (False, "false"),
    ],
)
def test_numbers_and_booleans_are_compared_as_the_text_that_javascript_writes(number: float, text: str) -> None:
    assert read(Form.TEXT, number) == (text,)


def test_only_an_in_without_negate_is_a_look_up() -> None:
    assert lookup_values(make_condition(Operator.IN, "Pro", "team")) == {"Pro", "team"}
    assert lookup_values(make_condition(Operator.IN, "Pro", "team", case_insensitive=True)) == {"pro", "team"}
    assert lookup_values(Condition("plan", Operator.IN, ())) == frozenset()
    assert lookup_values(make_condition(Operator.IN, negate=True)) is None
    assert lookup_values(make_condition(Operator.NOT_IN, negate=True)) is None
    for operator in Operator:
        assert (lookup_values(make_condition(operator)) is None) is (operator is not Operator.IN)
