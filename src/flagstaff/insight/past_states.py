"""Past states of flags, rebuilt from the audit trail: each of its changes has the resource before and after it."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from flagstaff.audit.recorded_values import read_resource
from flagstaff.changes.changes import OWN_FIELDS, Change, NumberedChange
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.explanations.flag_sets import FlagSet, compile_segments
from flagstaff.flags.flags import DETAILS, Flag, Rule, RuleType
from flagstaff.flags.targeting.segments import Segment
from flagstaff.projects.projects import Environment
from flagstaff.values.lists import empty

T = TypeVar("T", Flag, Segment)

Resource = Flag | Rule | Segment

_UNDECISIVE = OWN_FIELDS.union(DETAILS)
_KINDS: Mapping[str, type[Any]] = {"flag": Flag, "rule": Rule, "segment": Segment}


@dataclass(frozen=True, slots=True)
class Trail:
    """The trail of some flags: the present resources, and all changes to these and to others since a time.

    The changes are oldest first. `last` are the rules that deleted flags had in the end.
    """

    environment: Environment
    present: list[Resource]
    changes: list[NumberedChange]
    last: Sequence[Rule] = ()


class _Versions:
    """The states of one resource: the first, and one after each change; None where it did not exist."""

    __slots__ = ("numbers", "states")

    def __init__(self, first: Resource | None) -> None:
        self.states: list[Resource | None] = [first]
        self.numbers: list[int] = []

    def after(self, number: int) -> Resource | None:
        """The state after the change with a number, or with the last number below it."""
        return self.states[bisect_right(self.numbers, number)]

    def add(self, number: int, state: Resource | None) -> None:
        self.numbers.append(number)
        self.states.append(state)


class PastStates:
    """The states of some flags with all that decides them."""

    def __init__(self, trail: Trail) -> None:
        self._trail = trail
        self._versions: dict[UUID, _Versions] = {}
        self._flags: defaultdict[str, set[UUID]] = defaultdict(set)
        self._rules: defaultdict[UUID, set[UUID]] = defaultdict(set)
        self._segments: defaultdict[str, set[UUID]] = defaultdict(set)

    @classmethod
    def read(cls, trail: Trail) -> "PastStates":
        """Read the states from a trail."""
        states = cls(trail)
        for numbered in trail.changes:
            states._add(numbered)
        for resource in (*trail.last, *trail.present):
            states._versions.setdefault(resource.id, _Versions(resource))
            states._index(resource)
        return states

    def changes_of(self, key: str) -> list[NumberedChange]:
        """The changes to what decides a flag, or has decided it once: flags, rules and segments; oldest first.

        Changes of fields that decide nothing, such as a name, are left out.
        """
        wanted = self._all_of(key)
        return [each for each in self._trail.changes if each.change.resource_id in wanted and _decides(each.change)]

    def rebuild(self, key: str, number: int) -> FlagSet | None:
        """The flag with a key and all that decides it, after the change with a number or the last one below it.

        None if there was no such flag, or if it was archived.
        """
        flags: dict[str, TargetedFlag] = {}
        missing: set[str] = set()
        named: set[str] = set()
        pending = [key]
        while pending:
            wanted = pending.pop()
            if wanted in flags or wanted in missing:
                continue
            flag = self._find(Flag, self._flags[wanted], number)
            if flag is None or flag.archived_at is not None:
                missing.add(wanted)
                continue
            rules = []
            for rule_id in self._rules[flag.id]:
                rule = self._versions[rule_id].after(number)
                if isinstance(rule, Rule):
                    rules.append(rule)
            flags[wanted] = TargetedFlag(flag, rules)
            named |= {each.rule_value or "" for each in rules if each.rule_type is RuleType.SEGMENT}
            pending += [each.flag_key for each in flag.prerequisites]
        if key not in flags:
            return None
        segments = (self._find(Segment, self._segments[each], number) for each in named)
        compiled = compile_segments(each for each in segments if each is not None)
        return FlagSet(self._trail.environment, flags, compiled)

    def free(self) -> None:
        """Free the states and the trail one by one."""
        empty(self._versions, self._trail.present, self._trail.changes)

    def _add(self, numbered: NumberedChange) -> None:
        change = numbered.change
        kind = _KINDS[change.action.partition(".")[0]]
        versions = self._versions.get(change.resource_id)
        if versions is None:
            versions = self._versions[change.resource_id] = _Versions(_read(kind, change.before))
            self._index(versions.states[0])
        state = _read(kind, change.after)
        versions.add(numbered.number, state)
        self._index(state)

    def _index(self, state: Resource | None) -> None:
        match state:
            case Flag():
                self._flags[state.key].add(state.id)
            case Rule():
                self._rules[state.flag_id].add(state.id)
            case Segment():
                self._segments[state.key].add(state.id)

    def _find(self, kind: type[T], among: Iterable[UUID], number: int) -> T | None:
        states = (self._versions[each].after(number) for each in among)
        return next((each for each in states if isinstance(each, kind)), None)

    def _all_of(self, key: str) -> Collection[UUID]:
        """The ids of all flags, rules and segments that have decided a flag in one of the states."""
        wanted: set[UUID] = set()
        done: set[str] = set()
        pending = [key]
        while pending:
            flag_key = pending.pop()
            if flag_key in done:
                continue
            done.add(flag_key)
            for flag_id in self._flags.get(flag_key, ()):
                wanted.add(flag_id)
                for flag in self._versions[flag_id].states:
                    pending += [each.flag_key for each in flag.prerequisites] if isinstance(flag, Flag) else ()
                for rule_id in self._rules.get(flag_id, ()):
                    wanted.add(rule_id)
                    for rule in self._versions[rule_id].states:
                        if isinstance(rule, Rule) and rule.rule_type is RuleType.SEGMENT:
                            wanted |= self._segments.get(rule.rule_value or "", set())
        return wanted


def _read(kind: type[Any], values: Mapping[str, Any] | None) -> Resource | None:
    """A resource of the trail; None also for one of an older release, from which nothing can be rebuilt."""
    if values is None:
        return None
    try:
        found: Resource = read_resource(kind, values)
    except (LookupError, TypeError, ValueError):
        return None
    return found


def _decides(change: Change) -> bool:
    """Return whether a change can alter a result."""
    before, after = change.before, change.after
    if before is None or after is None:
        return True
    return any(before.get(name) != after.get(name) for name in before.keys() | after.keys() if name not in _UNDECISIVE)


def named_in(changes: Iterable[NumberedChange]) -> set[str]:
    """The keys of the flags that the flags in some changes needed before or after them."""
    keys: set[str] = set()
    for numbered in changes:
        for values in (numbered.change.before, numbered.change.after):
            prerequisites = (values or {}).get("prerequisites") or ()
            keys |= {each["flag_key"] for each in prerequisites}
    return keys
