"""The constraints of Unleash's activation strategies, in forms that all SDKs read in the same way.

A strategy demands all of its constraints, and a flag is on if any of its strategies includes the user: alternatives are
lists of constraints.

Only operators are used that all SDKs have had for years, and no operator is inverted without a constraint that demands
a value in the right form: an inverted constraint is met by users without the attribute, and in some SDKs by everyone if
the operator is unknown. Traps of engines that this module and conditions.py avoid:

- Unleash Edge sends an operator that it does not know, such as IN_CIDR, in a form that makes SDKs refuse all flags.
- Yggdrasil cannot read a feature with a value that ends in a backslash, or a name that contains a quotation mark: the
  whole feature is off.
- The SDK for Go reads a missing attribute as an empty text.
- Some engines compare the build metadata of versions.
- The SDK for Node.js trims values, ignores empty ones, reads an empty text as the number 0, and compares every
  constraint on a date with the current time, whatever attribute it names.
"""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from flagstaff.evaluation.unleash.differences import InexpressibleError

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
