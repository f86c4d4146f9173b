"""Comparing the flags of two environments by their keys: what only one of them has, and what differs."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from operator import attrgetter
from typing import Any

from flagstaff.changes.changes import OWN_FIELDS, recorded
from flagstaff.flags.flags import DETAILS, Flag, Rule

_NOT_COMPARED = OWN_FIELDS.union(DETAILS, ("key", "archived_at"))
_FIELDS = (*DETAILS, *(each.name for each in fields(Flag) if each.name not in _NOT_COMPARED))
RULE_CONTENT = tuple(each.name for each in fields(Rule) if each.name not in OWN_FIELDS)

content_of = attrgetter(*RULE_CONTENT)
"""The content of a rule, without its ids and times."""


class Place(StrEnum):
    """The place of a key's flags: only in one of the two environments, or in both, with differences."""

    ONLY_FROM = "only_from"
    ONLY_TO = "only_to"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Side:
    """A flag of one of the two environments, and its rules in the order in which they are tried."""

    flag: Flag
    rules: Sequence[Rule]


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field in which two flags differ, with its values as the audit trail has them."""

    field: str
    origin: Any
    target: Any


@dataclass(frozen=True, slots=True)
class Comparison:
    """The flags with one key in two environments, of which at least one has it. They are not archived.

    With `archived_in_other`, the environment that has none has an archived flag with the key.
    """

    key: str
    origin: Side | None
    target: Side | None
    archived_in_other: bool = False

    @property
    def place(self) -> Place:
        """The place of the key's flags."""
        if self.target is None:
            return Place.ONLY_FROM
        return Place.ONLY_TO if self.origin is None else Place.BOTH

    def differs(self) -> bool:
        """Return whether the two environments differ in the flag."""
        origin, target = self.origin, self.target
        if origin is None or target is None:
            return True
        return bool(_differing(origin.flag, target.flag)) or self.rules_differ

    @property
    def rules_differ(self) -> bool:
        """True if both environments have the flag, and its rules differ."""
        origin, target = self.origin, self.target
        return origin is not None and target is not None and not same_rules(origin.rules, target.rules)

    @property
    def fields(self) -> list[FieldDifference]:
        """The fields in which they differ, if both environments have the flag; rules are not among them."""
        origin, target = self.origin, self.target
        if origin is None or target is None:
            return []
        left, right = recorded(origin.flag), recorded(target.flag)
        return [FieldDifference(name, left[name], right[name]) for name in _differing(origin.flag, target.flag)]


def recorded_content(rule: Rule) -> dict[str, Any]:
    """Return the content of a rule, as the audit trail has it."""
    values = recorded(rule)
    return {name: values[name] for name in RULE_CONTENT}


def same_rules(first: Sequence[Rule], second: Sequence[Rule]) -> bool:
    """Return whether rules, which are in the order in which they are tried, say the same."""
    return len(first) == len(second) and all(map(same_rule, first, second))


def same_rule(first: Rule, second: Rule) -> bool:
    """Return whether two rules say the same."""
    return bool(content_of(first) == content_of(second))


def _differing(first: Flag, second: Flag) -> list[str]:
    return [name for name in _FIELDS if getattr(first, name) != getattr(second, name)]
