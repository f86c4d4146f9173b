"""Takes people out of recorded states: what an account's address, or a value of targeting, becomes in the trail."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from flagstaff.changes.changes import DELETED_ACCOUNT

Redact = Callable[[str | None, str], str]
"""A text of a state, which stands in a field with a name or in a list, without what must go."""
NamesUser = Callable[[str, str], bool]
"""Whether a value that is compared with an attribute is the id or the address of a user."""

ERASED = "[erased]"
"""Stands for a value of a rule or a segment that was the id or the address of a user who was erased."""
TARGETING_KINDS = ("flag", "rule", "segment")
"""The kinds whose states have users of applications, and not accounts."""
_USER_TYPES = ("user_id", "user_email")  # the types of rules that are named like the attributes
_TEXT_OPERATORS = ("in", "not_in", "starts_with", "ends_with", "contains")
_OWN_FIELDS = frozenset({"email", "address", "device", "name"})


def redacted_state(state: Any, redact: Redact, name: str | None = None) -> Any:
    """A state in which each text is replaced by what `redact` returns for it."""
    if isinstance(state, str):
        return redact(name, state)
    if isinstance(state, Mapping):
        return {key: redacted_state(each, redact, key) for key, each in state.items()}
    if isinstance(state, list):
        return [redacted_state(each, redact, name) for each in state]
    return state


def without_address(email: str | None) -> Redact:
    """Replace an address wherever it stands, ignoring case."""
    if email is None:
        return lambda _, text: text
    pattern = re.compile(rf"(?<![\w.+-]){re.escape(email)}(?![\w-]|\.\w)", re.IGNORECASE)
    return lambda _, text: pattern.sub(DELETED_ACCOUNT, text)


def without_person(name: str | None, text: str) -> str:
    """Replace what an account's own trail says of its owner: addresses, devices and names that the owner has chosen."""
    return DELETED_ACCOUNT if name in _OWN_FIELDS else text


def without_user(state: Mapping[str, Any] | None, names_user: NamesUser) -> Mapping[str, Any] | None:
    """A rule or a segment in which `ERASED` stands for the values that are a user's id or address."""
    if state is None:
        return None
    kind, value = state.get("rule_type"), state.get("rule_value")
    changed = dict(state)
    if kind in _USER_TYPES and isinstance(value, str) and names_user(kind, value):
        changed["rule_value"] = ERASED
    if state.get("conditions"):
        changed["conditions"] = [_condition_without(each, names_user) for each in state["conditions"]]
    return changed


def has_erased(values: Mapping[str, Any]) -> bool:
    """Return whether a value of a recorded rule or segment, or of some of their fields, was erased."""
    listed = (value for each in values.get("conditions") or () for value in each["values"])
    return values.get("rule_value") == ERASED or ERASED in listed


def _condition_without(condition: Mapping[str, Any], names_user: NamesUser) -> dict[str, Any]:
    if condition["operator"] not in _TEXT_OPERATORS:
        return dict(condition)
    attribute = condition["attribute"]
    return {**condition, "values": [ERASED if names_user(attribute, each) else each for each in condition["values"]]}
