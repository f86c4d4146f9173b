"""Conditions as the constraints of Unleash's activation strategies.

A strategy demands all of its constraints, and a flag is on if any of its strategies includes the user. A condition is
therefore expressed as alternatives, each of which is a list of constraints.

Only operators are used that all SDKs have had for years, and no operator is inverted without a constraint that demands
a value in the right form: an inverted constraint is met by users without the attribute, and in some SDKs by everyone if
the operator is unknown. Traps of engines that this module avoids:

- Unleash Edge sends an operator that it does not know, such as IN_CIDR, in a form that makes SDKs refuse all flags.
- Yggdrasil cannot read a feature with a value that ends in a backslash, or a name that contains a quotation mark: the
  whole feature is off.
- The SDK for Go reads a missing attribute as an empty text.
- Some engines compare the build metadata of versions.
- The SDK for Node.js trims values, ignores empty ones, reads an empty text as the number 0, and compares every
  constraint on a date with the current time, whatever attribute it names.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any

from flagstaff.evaluation.attributes import READERS, Form
from flagstaff.evaluation.conditions import compile_condition
from flagstaff.evaluation.unleash.differences import InexpressibleError
from flagstaff.flags.targeting.conditions import Condition
from flagstaff.flags.targeting.operators import COMPARES_TEXT, Operator

Constraint = dict[str, Any]
Constraints = tuple[Constraint, ...]
Alternatives = tuple[Constraints, ...]

ALWAYS: Alternatives = ((),)
NEVER: Alternatives = ()
EMAIL = "email"
_NAMES = MappingProxyType({"user_id": "userId", "user_email": EMAIL, "current_time": "currentTime"})
# Not attributes in SDKs, but the context's own parts, or another time than the one that decides here.
_TAKEN = frozenset({"properties", "currentTime"})
# Names that every object has in JavaScript: the SDK for Node.js finds these in a context without attributes.
_INHERITED = frozenset(
    {
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
        "__proto__",
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
    }
)
# The printable characters of ASCII but for the backslash, in which no value may end.
_GRAPHIC = [chr(code) for code in range(ord("!"), ord("~") + 1) if chr(code) != "\\"]
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
_FRACTION = re.compile(r"\.([0-9]+)")
_ADDRESSES = 16
_MANY = 100  # of more values, fewer spellings are listed
_SPELLINGS = 32  # so many ways to write a text in capital and small letters are listed
_SOME_SPELLINGS = "SDKs match only some upper- and lower-case spellings of the values"


@dataclass(frozen=True, slots=True)
class Expression:
    """A condition as alternatives; `narrower` says why fewer users meet them, if that is so."""

    alternatives: Alternatives
    narrower: str | None = None


def constraint(name: str, operator: str, values: Sequence[str], *, ignore_case: bool = False) -> Constraint:
    """A constraint on a field of the context with a list of values."""
    return {
        "contextName": name,
        "operator": operator,
        "values": list(values),
        "inverted": False,
        "caseInsensitive": ignore_case,
    }


# Node.js ignores the first value, and trims the second.
ANY_TEXT = constraint("", "STR_STARTS_WITH", ["", " "])


def opposite(given: Constraint) -> Constraint:
    """The opposite of a constraint, which users without the attribute meet."""
    return {**given, "operator": "NOT_IN"} if given["operator"] == "IN" else {**given, "inverted": True}


def compare(name: str, operator: str, value: str) -> Constraint:
    """A constraint with a single value."""
    return {**constraint(name, operator, ()), "value": value}


def is_present(name: str) -> Constraints:
    """Constraints that any text but an empty one meets, and a missing attribute does not. Node.js takes both."""
    return ANY_TEXT | {"contextName": name}, not_empty(name)


def identifies(name: str) -> Constraints:
    """Constraints that any text but an empty one meets."""
    return constraint(name, "STR_STARTS_WITH", ["", *_GRAPHIC]), not_empty(name)


def not_empty(name: str) -> Constraint:
    """A constraint that an empty text does not meet."""
    return constraint(name, "NOT_IN", [""])


def lacks_user_id() -> Alternatives:
    """Users without a user id, or with an empty one."""
    return (opposite(constraint("userId", "STR_STARTS_WITH", ["", *_GRAPHIC])),), (constraint("userId", "IN", [""]),)


def equals_email(address: str) -> Constraints:
    """An email in any case. A list would mix the beginning of one with the end of another."""
    require_sendable(address)
    return (
        constraint(EMAIL, "STR_STARTS_WITH", [address], ignore_case=True),
        constraint(EMAIL, "STR_ENDS_WITH", [address], ignore_case=True),
    )


def context_name(attribute: str) -> str:
    """The field of the context in SDKs for an attribute; raises InexpressibleError for a name that they cannot read."""
    name = _NAMES.get(attribute, attribute)
    if attribute in _TAKEN | _INHERITED or '"' in name or "\\" in name:
        raise InexpressibleError(f"SDKs cannot read an attribute with the name {attribute}")
    return name


def require_sendable(value: str) -> str:
    """Return a value as it is; raises InexpressibleError for one that some engine would change or cannot read."""
    if value.endswith("\\"):
        raise InexpressibleError("SDKs cannot read a value that ends with a backslash")
    if value != value.strip() or value != value.strip("\ufeff"):
        raise InexpressibleError("SDKs trim values, and this one begins or ends with a space")
    return value


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
    if operator in _TEXT_OPERATORS:
        return _express_text(condition)
    if operator in (Operator.BEFORE, Operator.AFTER):
        raise InexpressibleError("some SDKs compare the current time instead of the attribute")
    if operator is Operator.IN_NETWORK:
        raise InexpressibleError("not all SDKs know networks, and Unleash Edge does not")
    return Expression(_express_order(context_name(attribute), condition))


def _express_time(condition: Condition) -> Expression:
    if condition.operator not in (Operator.BEFORE, Operator.AFTER):
        return Expression(ALWAYS if condition.operator is Operator.NOT_IN and not condition.negate else NEVER)
    # Yggdrasil reads no small letters, and of fractions of a second only those of three digits.
    moment = _FRACTION.sub(lambda found: f".{found[1][:3]:0<3}", condition.values[0].upper())
    asked = compare("currentTime", f"DATE_{condition.operator.upper()}", moment)
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
    if operator in (Operator.STARTS_WITH, Operator.CONTAINS):
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
