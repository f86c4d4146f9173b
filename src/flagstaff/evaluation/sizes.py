"""Estimates of the memory of snapshots, by measurements of flags of several kinds. Tests compare them with it."""

from collections.abc import Iterable, Sequence

from flagstaff.conditions.conditions import Condition
from flagstaff.evaluation.loops import Fragment
from flagstaff.flags.flags import Rule

_FLAG, _RULE, _VALUE, _BYTES, _POINTER = 600, 350, 320, 40, 8
ENVIRONMENT = 20_000
"""The bytes of an environment without flags."""
KNOWN_ATTRIBUTES = 600
"""The bytes of the attributes of one request that are remembered, and of the request."""


def flag_size(fragments: Iterable[Fragment], by_bucket: Sequence[Fragment], rules: Sequence[Rule]) -> int:
    """The bytes of a compiled flag with these fragments, those by bucket, and these rules."""
    written = {id(each): each for each in fragments}
    conditions = sum(conditions_size(rule.conditions) for rule in rules)
    table = 2 * _POINTER * len(by_bucket)
    return _FLAG + sum(map(_fragment_size, written.values())) + table + _RULE * len(rules) + conditions


def conditions_size(conditions: Iterable[Condition]) -> int:
    """The bytes of the compiled conditions of a rule or a segment."""
    return sum(_VALUE + sum(_VALUE + len(value) for value in each.values) for each in conditions)


def _fragment_size(fragment: Fragment) -> int:
    return len(fragment) + _BYTES if isinstance(fragment, bytes) else sum(len(each) + _BYTES for each in fragment)
