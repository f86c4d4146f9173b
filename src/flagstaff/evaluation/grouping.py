"""Groups compiled flags by what decides them, in the order of a response."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from flagstaff.evaluation.compiler import CompiledFlag
from flagstaff.evaluation.fragments import without_separator
from flagstaff.flags.flags import DEFAULT_STICKINESS


@dataclass(slots=True)
class Groups:
    """The flags in the order of a response.

    The recorded ones are rollouts by user and by an attribute; flags with more than rules; fixed flags, which are on
    for everyone with a variant; and steady flags, which have only rules that are found.
    """

    rollouts: list[CompiledFlag] = field(default_factory=list)
    sticky: list[CompiledFlag] = field(default_factory=list)
    varying: list[CompiledFlag] = field(default_factory=list)
    fixed: list[CompiledFlag] = field(default_factory=list)
    steady: list[CompiledFlag] = field(default_factory=list)
    constant: list[CompiledFlag] = field(default_factory=list)

    def add(self, flag: CompiledFlag) -> None:
        """Add a flag to its group."""
        self._group_of(flag).append(flag)

    def _group_of(self, flag: CompiledFlag) -> list[CompiledFlag]:
        if flag.answers_by_bucket:
            return self.rollouts if flag.stickiness == DEFAULT_STICKINESS else self.sticky
        if flag.prerequisites or flag.layout.has_bucket or (flag.weights and flag.rules):
            return self.varying
        if flag.weights:
            return self.fixed if flag.layout.default.enabled else self.varying
        return self.steady if flag.rules else self.constant

    @property
    def recorded(self) -> list[CompiledFlag]:
        """The flags whose results depend on the user."""
        return [*self.rollouts, *self.sticky, *self.varying, *self.fixed, *self.steady]

    def in_order(self) -> tuple[list[CompiledFlag], ...]:
        """All groups."""
        return self.rollouts, self.sticky, self.varying, self.fixed, self.steady, self.constant

    def end(self) -> None:
        """Remove the separator from the fragments of the response's last flag."""
        filled = [group for group in self.in_order() if group]
        if filled:
            last = filled[-1][-1]
            filled[-1][-1] = replace(
                last,
                default=without_separator(last.default),
                answers_by_bucket=tuple(map(without_separator, last.answers_by_bucket)),
                answers_by_rule={byte: without_separator(each) for byte, each in last.answers_by_rule.items()},
            )


def _order(flag: CompiledFlag) -> tuple[str, bool, int]:
    """Flags whose users are identified by the same attribute stand together, so that they are decided at once.

    Among these, those with buckets for rules do, and those whose prefixes are hashed at once (loops.py).
    """
    if not (flag.answers_by_bucket or flag.weights or flag.layout.has_bucket):
        return "", False, 0
    stickiness = "" if flag.stickiness == DEFAULT_STICKINESS else flag.stickiness
    return stickiness, not flag.layout.has_bucket, len(flag.prefix) % 4


def group(flags: Iterable[CompiledFlag]) -> Groups:
    """Group flags, in any order."""
    by_key, by_order = {}, defaultdict[tuple[str, bool, int], list[str]](list)
    for each in flags:
        by_key[each.layout.key] = each
        by_order[_order(each)].append(each.layout.key)
    keys: list[str] = []
    for order in sorted(by_order):  # to sort thousands of tuples takes milliseconds
        keys += sorted(by_order[order])
    groups = Groups()
    for is_varied in (False, True):  # one after the other, varied flags are rendered at once
        for key in keys:
            if bool(by_key[key].weights) is is_varied:
                groups.add(by_key[key])
    groups.end()
    return groups
