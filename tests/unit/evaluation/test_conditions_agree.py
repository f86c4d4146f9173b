"""The compiled conditions compared with the naive ones, on inputs that hypothesis generates."""

from hypothesis import given
from hypothesis import strategies as st

from flagstaff.conditions.attributes import Form, comparable, read
from flagstaff.conditions.compiled_conditions import check_conditions, compile_condition
from flagstaff.conditions.conditions import Condition, InvalidConditionError
from flagstaff.conditions.operator_functions import FEW_CONTAINED
from flagstaff.conditions.operators import Operator
from tests.support.conditions import MOMENTS, NUMBERS, TEXTS, VERSIONS
from tests.support.examples import times_the_examples
from tests.support.naive_conditions import meets_naively

letters = st.text("abAB.", max_size=5) | st.text("aüİßΣ😀", max_size=4)
digits = st.sampled_from(["0", "1", "5", "5.0", "-5", "1e1", "10", "05", ".5", "5."]) | st.floats().map(repr)
versions = st.sampled_from(
    ["1.2.3", "1.2.3-1", "1.2.3-a", "1.2.3-a.1", "1.2.3-a.b", "1.2.3-2", "1.2.3-10", "1.2.10", "1.10.0", "1.2.3+b"]
) | st.from_regex(r"\A[0-2]\.[0-2]\.[0-2](-[0-2ab-]{1,2}(\.[0-2ab-]{1,2})?)?(\+[a0]{1,2})?\Z")
moments = st.sampled_from(
    ["2026-11-20T10:00:00Z", "2026-11-20T10:00:00.5Z", "2026-11-20t11:00:00+01:00", "2024-02-29T00:00:00.1234567Z"]
) | st.from_regex(r"\A20[0-2][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:00:00(\.[0-9]{1,8})?(Z|[+-][0-2][0-9]:[0-6]0)\Z")
addresses = st.ip_addresses().map(str) | st.sampled_from(
    ["10.0.0.1", "10.1.0.1", "2001:db8::1", "::1", "::ffff:10.0.0.1"]
)
ranges = st.builds("{}/{}".format, st.ip_addresses(v=4) | st.just("10.0.0.1"), st.integers(0, 32)) | st.builds(
    "{}/{}".format, st.ip_addresses(v=6) | st.just("2001:db8::1"), st.integers(0, 128)
)
expressions = st.sampled_from(["^a+b", "b|A", "[0-9]{2,3}", "b(a|B)*a", "^[ab.]*z", "(?i)ab", "", r"a\.b"])
operands = {
    **dict.fromkeys(TEXTS, letters),
    **dict.fromkeys(NUMBERS, digits),
    **dict.fromkeys(MOMENTS, moments),
    **dict.fromkeys(VERSIONS, versions),
    Operator.IN_NETWORK: ranges | addresses,
    Operator.MATCHES: expressions,
}
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-20, 20)
    | st.integers()
    | st.floats()
    | letters
    | digits
    | versions
    | moments
    | addresses
    | st.text(max_size=8)
    | st.text(st.characters(categories=["Cs", "Lu"]), max_size=3)
)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
)


@st.composite
def conditions(draw: st.DrawFn) -> Condition:
    operator = draw(st.sampled_from(Operator))
    several = operator in {*TEXTS, Operator.IN_NETWORK} and operator is not Operator.MATCHES
    values = draw(st.lists(operands[operator], min_size=1, max_size=8 if several else 1))
    case_insensitive = operator in TEXTS and draw(st.booleans())
    return Condition("attribute", operator, tuple(values), case_insensitive, negate=draw(st.booleans()))


@st.composite
def attributes(draw: st.DrawFn, operator: Operator) -> object:
    """Generate mostly values that the operator compares, alone and in lists."""
    ascii_only = st.text("abAB.019", max_size=6)
    likely = ascii_only if operator is Operator.MATCHES else scalars if operator in TEXTS else operands[operator]
    if operator is Operator.MATCHES:
        return draw(likely | st.lists(likely, max_size=3) | st.integers(0, 2000) | st.booleans())
    return draw(likely | st.lists(likely | scalars, max_size=4) | anything)


@times_the_examples(5)
@given(st.data())
def test_a_compiled_condition_agrees_with_the_naive_one(data: st.DataObject) -> None:
    drawn = data.draw(conditions())
    try:
        checked = check_conditions([drawn])[0]
    except InvalidConditionError:
        return
    value = data.draw(attributes(checked.operator))
    compiled = compile_condition(checked)
    assert compiled(value) is meets_naively(checked, value)
    assert compiled.decide(read(compiled.form, value)) is compiled(value)


# So many values, none of which contains another one, that they are not compared one by one.
_OTHERS = tuple(f"{number:02}" for number in range(FEW_CONTAINED + 1))


@given(
    st.lists(st.text("ab", min_size=1, max_size=7), min_size=1, max_size=40),
    st.sampled_from([(), _OTHERS]),
    st.text("abc", max_size=12),
)
def test_many_overlapping_values_agree_with_the_naive_implementation(
    values: list[str], others: tuple[str, ...], text: str
) -> None:
    for operator in (Operator.STARTS_WITH, Operator.ENDS_WITH, Operator.CONTAINS):
        many = Condition("attribute", operator, (*values, *others))
        assert compile_condition(many)(text) is meets_naively(many, text)


@times_the_examples(5)
@given(anything)
def test_the_comparable_part_of_an_attribute_reads_like_the_attribute(value: object) -> None:
    part = comparable(value)
    for form in Form:
        assert read(form, part) == read(form, value)
    assert part is not None or not any(read(form, value) for form in Form)


def test_a_list_that_is_too_long_has_no_comparable_part_however_little_of_it_is_text() -> None:
    assert comparable(["a", *([[]] * 100)]) is None
    assert comparable(["a", *([[]] * 99)]) == ["a"]
    assert comparable(["x" * 1024] * 5) is None
