"""Conditions as the constraints of Unleash's activation strategies. Each is expressed as alternatives."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

from flagstaff.conditions.attributes import READERS, Form
from flagstaff.conditions.compiled_conditions import compile_condition
from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import COMPARES_TEXT, VALUE_TYPES, Operator, ValueType
from flagstaff.evaluation.unleash.constraints import (
    ALWAYS,
    EMAIL,
    NEVER,
    Alternatives,
    Constraint,
    compare,
    constraint,
    context_name,
    equals_email,
    identifies,
    is_present,
    opposite,
    require_sendable,
)
from flagstaff.evaluation.unleash.differences import InexpressibleError

_TEXT_OPERATORS = MappingProxyType(
    {
        Operator.IN: "IN",
        Operator.NOT_IN: "IN",
        Operator.STARTS_WITH: "STR_STARTS_WITH",
        Operator.ENDS_WITH: "STR_ENDS_WITH",
        Operator.CONTAINS: "STR_CONTAINS",
    }
)
_NEGATED = MappingProxyType(
    {
        Operator.EQ: ("LT", "GT"),
        Operator.GT: ("LT", "EQ"),
        Operator.GTE: ("LT",),
        Operator.LT: ("GT", "EQ"),
        Operator.LTE: ("GT",),
    }
)
_PLAIN = MappingProxyType(
    {
        Operator.EQ: ("EQ",),
        Operator.GT: ("GT",),
        Operator.GTE: ("GT", "EQ"),
        Operator.LT: ("LT",),
        Operator.LTE: ("LT", "EQ"),
    }
)
_TIME_OPERATORS = MappingProxyType({Operator.BEFORE: "DATE_BEFORE", Operator.AFTER: "DATE_AFTER"})
_FRACTION = re.compile(r"\.([0-9]+)")
_ADDRESSES = 16
_MANY = 100  # of more values, fewer spellings are listed
_SPELLINGS = 32  # so many ways to write a text in capital and small letters are listed
_SOME_SPELLINGS = "SDKs match only some upper- and lower-case spellings of the values"


@dataclass(frozen=True, slots=True)
class Expression:
    """A condition as alternatives; `narrower` says why fewer users meet them, or is None."""

    alternatives: Alternatives
    narrower: str | None = None


def all_of(expressions: Sequence[Expression], limit: int) -> Expression:
    """All conditions; raises InexpressibleError if that takes more than so many alternatives."""
    size = 1
    for each in expressions:
        size *= len(each.alternatives)
    if size > limit:
        raise InexpressibleError(f"its conditions would take more than {limit} activation strategies")
    alternatives = tuple(
        tuple(each for part in chosen for each in part)
        for chosen in product(*(expression.alternatives for expression in expressions))
    )
    return Expression(alternatives, next((each.narrower for each in expressions if each.narrower), None))


def express(condition: Condition, environment_key: str) -> Expression:
    """A condition; raises InexpressibleError if SDKs cannot decide it."""
    operator, attribute = condition.operator, condition.attribute
    if operator is Operator.MATCHES:
        raise InexpressibleError("SDKs disagree on regular expressions")
    if attribute == "environment":
        return Expression(ALWAYS if compile_condition(condition)(environment_key) else NEVER)
    if attribute == "current_time":
        return _express_time(condition)
    if attribute in ("user_email", "email_domain") and operator not in COMPARES_TEXT:
        raise InexpressibleError("SDKs cannot read an email as a number, a version, a time or an address")
    if attribute == "email_domain":
        return _express_domain(condition)
    match VALUE_TYPES[operator]:
        case ValueType.TEXT:
            return _express_text(condition)
        case ValueType.MOMENT:
            raise InexpressibleError("some SDKs compare the current time instead of the attribute")
        case ValueType.ADDRESS:
            raise InexpressibleError("not all SDKs know networks, and Unleash Edge does not")
        case ValueType.NUMBER | ValueType.VERSION:
            return Expression(_express_order(context_name(attribute), condition))


def _express_time(condition: Condition) -> Expression:
    if VALUE_TYPES[condition.operator] is not ValueType.MOMENT:
        return Expression(ALWAYS if condition.operator is Operator.NOT_IN and not condition.negate else NEVER)
    # Yggdrasil reads no small letters, and of fractions of a second only those of three digits.
    moment = _FRACTION.sub(lambda found: f".{found[1][:3]:0<3}", condition.values[0].upper())
    asked = compare("currentTime", _TIME_OPERATORS[condition.operator], moment)
    return Expression(((opposite(asked) if condition.negate else asked,),))  # there always is a time


def _express_order(name: str, condition: Condition) -> Alternatives:
    """Numbers and versions. The opposite is written with other operators, which an unreadable value does not meet."""
    family, _, compared = condition.operator.rpartition("_")
    orders = (_NEGATED if condition.negate else _PLAIN)[Operator(compared)]
    value = condition.values[0]
    if family:
        release = value.partition("+")[0]
        has_no_build = opposite(constraint(name, "STR_CONTAINS", ["+"]))
        return tuple((has_no_build, compare(name, f"SEMVER_{order}", release)) for order in orders)
    number = repr(READERS[Form.NUMBER](value)).removesuffix(".0")
    is_decimal = (  # Node.js also reads an empty text, numbers among spaces, and those of other bases
        constraint(name, "STR_STARTS_WITH", [*"0123456789+-."]),
        constraint(name, "STR_ENDS_WITH", [*"0123456789."]),
        opposite(constraint(name, "STR_CONTAINS", [*"xob"], ignore_case=True)),
    )
    return tuple((*is_decimal, compare(name, f"NUM_{order}", number)) for order in orders)


def _express_text(condition: Condition) -> Expression:
    """Text operators on the user's id, email and other attributes."""
    name = context_name(condition.attribute)
    is_email = name == EMAIL and condition.attribute == "user_email"
    ignore_case = condition.case_insensitive or is_email
    is_equality = condition.operator in (Operator.IN, Operator.NOT_IN)
    negate = condition.negate != (condition.operator is Operator.NOT_IN)
    values, narrower = _sendable(condition.values, negate=negate)
    if is_email and is_equality and not negate and len(values) <= _ADDRESSES:
        return Expression(tuple(equals_email(value) for value in values), narrower)
    if not values:
        asked = constraint(name, "IN", ())
    elif is_equality and ignore_case:
        asked, spelling = _equals(name, values, negate=negate)
        narrower = narrower or spelling
    else:
        asked = constraint(name, _TEXT_OPERATORS[condition.operator], values, ignore_case=ignore_case)
    if not negate:
        return Expression(((asked,),), narrower)
    if condition.operator is Operator.NOT_IN:
        return Expression(((opposite(asked),),), narrower)
    guard = identifies(name) if condition.attribute in ("user_id", "user_email") else is_present(name)
    return Expression(((*guard, opposite(asked)),), narrower)


def _equals(name: str, values: Sequence[str], *, negate: bool) -> tuple[Constraint, str | None]:
    """Equality that ignores case, which SDKs do not have; fewer users meet the constraint, or its opposite."""
    if negate and any(_has_case(value) for value in values):
        return (
            constraint(name, "STR_STARTS_WITH", values, ignore_case=True),
            "SDKs leave out texts that begin with one of the values as well",
        )
    if len(values) > _MANY:
        both = dict.fromkeys([*values, *map(str.lower, values)])
        return constraint(name, "IN", list(both)), _SOME_SPELLINGS
    spellings: dict[str, None] = {}
    narrower = None
    for value in values:
        written, is_complete = _spellings(value)
        spellings |= dict.fromkeys(written)
        if not is_complete:
            narrower = _SOME_SPELLINGS
    return constraint(name, "IN", list(spellings)), narrower


def _spellings(value: str) -> tuple[list[str], bool]:
    """The usual spellings of a text, or all, and whether these are all."""
    letters = [(each.lower(), each.upper()) if _has_case(each) else (each,) for each in value]
    if sum(len(each) > 1 for each in letters) < _SPELLINGS.bit_length():
        return ["".join(each) for each in product(*letters)], value.isascii()
    return [value, value.lower(), value.upper(), value.title(), value.capitalize()], False


def _has_case(text: str) -> bool:
    return text.lower() != text or text.upper() != text


def _sendable(values: Sequence[str], *, negate: bool) -> tuple[list[str], str | None]:
    """The values that can be sent. Without the others, fewer users meet the condition, but more meet its opposite."""
    found, narrower = [], None
    for value in values:
        try:
            found.append(require_sendable(value))
        except InexpressibleError as error:
            if negate:
                raise
            narrower = str(error)
    return found, narrower


def _express_domain(condition: Condition) -> Expression:
    """The domain of the email: what follows its last @."""
    operator = condition.operator
    if operator not in (Operator.IN, Operator.NOT_IN, Operator.ENDS_WITH):
        raise InexpressibleError("SDKs have no attribute for the domain of the email")
    negate = condition.negate != (operator is Operator.NOT_IN)
    values, narrower = _sendable([value for value in condition.values if "@" not in value], negate=negate)
    at = "" if operator is Operator.ENDS_WITH else "@"
    asked = constraint(EMAIL, "STR_ENDS_WITH", [at + value for value in values], ignore_case=True)
    if not values:
        asked = constraint(EMAIL, "IN", ())
    if operator is Operator.NOT_IN and negate:
        return Expression(((opposite(asked),),), narrower)
    has_domain = (constraint(EMAIL, "STR_CONTAINS", ["@"]), opposite(constraint(EMAIL, "STR_ENDS_WITH", ["@"])))
    return Expression(((*has_domain, opposite(asked) if negate else asked),), narrower)
