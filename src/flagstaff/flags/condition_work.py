"""The cost of conditions for an evaluation at worst, in microseconds of one core, so that an environment stays fast.

`python -m bench.condition_work` measures the figures below, and docs/performance.md has the results. What a context
may carry bounds them: conditions/attributes.py reads texts of at most 1,024 characters, and short lists.
Only few attributes of a context can be lists. So each attribute costs what a single value costs, and the few for which
a list costs most cost what a list does. This module does no I/O and compiles nothing: how large a regular expression
is, its caller says.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from flagstaff.conditions.conditions import LISTS_MAX, Condition
from flagstaff.conditions.operators import VALUE_TYPES, Operator, ValueType
from flagstaff.flags.flags import Rule, RuleType
from flagstaff.flags.targeting.segments import Segment

CountInstructions = Callable[[Condition], int]
"""The size of the program of a condition's regular expression."""

_SINGLE = frozenset({"user_id", "user_email", "email_domain", "environment", "current_time"})
"""The attributes that never are lists."""
_IGNORING_CASE = frozenset({"user_email", "email_domain"})
_LIST, _SHORT_LIST = 100, 16

_CONDITION = 0.2
_RULE_BY_CONDITIONS, _RULE = 0.7, 0.4  # found by what holds, or by the user's id or email
_PREREQUISITE = 0.3
_ATTRIBUTE = 0.5
# To read one value of an attribute, and to read a list.
_READINGS = {
    "text": (2, 40),
    "searched": (1, 5),
    "number": (3, 75),
    "moment": (2, 25),
    "version": (35, 110),
    "address": (8, 90),
}
_FEW, _FEW_CONTAINED = 4, 64
_LONGEST, _LONGEST_LIST = 1, 4
"""The characters of the longest text, and of all of a list, in texts of 1,024."""


@dataclass(slots=True)
class Work:
    """The worst cost of an evaluation, in microseconds, as it adds up over rules and segments.

    An attribute is read once in each form, and a segment is decided once, however many rules name it. `singly` is the
    cost for a context without lists. `read` are the attributes that are read, each with its form and whether in lower
    case.
    """

    instructions: CountInstructions
    singly: float = 0.0
    read: set[tuple[str, str, bool]] = field(default_factory=set)
    _attributes: set[str] = field(default_factory=set)
    _segments: set[str] = field(default_factory=set)
    _more_for_lists: dict[str, float] = field(default_factory=dict)
    _dearest_lists: dict[str, float] = field(default_factory=dict)

    @property
    def micros(self) -> float:
        """The cost for a context with as many lists as are compared, where they cost most."""
        return self.singly + sum(self._dearest_lists.values())

    def add_rule(self, rule: Rule) -> None:
        """Add what a rule costs without its conditions and its segment."""
        by_conditions = rule.rule_type in (RuleType.SEGMENT, RuleType.ATTRIBUTES)
        if by_conditions or rule.conditions:
            self.singly += _RULE_BY_CONDITIONS if by_conditions else _RULE

    def add_prerequisites(self, number: int) -> None:
        """Add what a flag's prerequisites cost."""
        self.singly += _PREREQUISITE * number

    def add_conditions(self, conditions: Sequence[Condition], maximum: float = float("inf")) -> int | None:
        """Add conditions that must all hold; returns the place of the first with which the cost exceeds a maximum."""
        asked = [condition.attribute for condition in conditions]
        beyond = None
        for place, condition in enumerate(conditions):
            alone = condition.operator is Operator.IN and not condition.negate and asked.count(condition.attribute) == 1
            self._add_reading(condition)
            self.singly += _CONDITION / 2 if alone else _CONDITION
            if not alone:
                self._add(condition.attribute, *self._comparison(condition))
            if beyond is None and self.micros > maximum:
                beyond = place
        return beyond

    def add_segment(self, segment: Segment, maximum: float = float("inf")) -> int | None:
        """The same for the conditions of a segment that rules name, unless it has been added."""
        if segment.key in self._segments:
            return None
        self._segments.add(segment.key)
        return self.add_conditions(segment.conditions, maximum)

    def reads_no_more_than(self, other: "Work") -> bool:
        """Return whether the other reads every attribute that this one reads, in the same forms."""
        return self.read <= other.read

    def _add(self, attribute: str, single: float, listed: float) -> None:
        """Add the cost of a single value of an attribute, and what it is if it is a list."""
        self.singly += single
        if attribute not in _SINGLE and listed > single:
            more, dearest = self._more_for_lists, self._dearest_lists
            more[attribute] = dearest[attribute] = more.get(attribute, 0.0) + listed - single
            if len(dearest) > LISTS_MAX:  # the others only grow when they are added to
                del dearest[min(dearest, key=dearest.__getitem__)]

    def _add_reading(self, condition: Condition) -> None:
        """Add the cost of reading the attribute in a form in which no other condition has read it."""
        kind, lower = _form(condition)
        wanted = (condition.attribute, kind, lower)
        if wanted in self.read:
            return
        if condition.attribute not in self._attributes:
            self.singly += _ATTRIBUTE
        self.read.add(wanted)
        self._attributes.add(condition.attribute)
        self._add(condition.attribute, *_READINGS[kind])

    def _comparison(self, condition: Condition) -> tuple[float, float]:
        """Return the cost of comparing a single value, and of comparing a list."""
        short = _form(condition)[0] not in (ValueType.TEXT, ValueType.NUMBER)
        single = self._compare(condition, 1, _LONGEST)
        return single, self._compare(condition, _SHORT_LIST if short else _LIST, _LONGEST_LIST)

    def _compare(self, condition: Condition, texts: int, long: int) -> float:
        """Return the cost of comparing so many readings with all values."""
        values = condition.values
        match condition.operator:
            case Operator.IN | Operator.NOT_IN:
                return 0.1 + texts * 0.01
            case Operator.STARTS_WITH | Operator.ENDS_WITH:
                return 0.6 + texts * (0.12 if len(values) <= _FEW else 0.5)
            case Operator.CONTAINS:
                return _search(values, texts, long)
            case Operator.MATCHES:
                return texts * 1.4 + 5.8 * self.instructions(condition)
            case Operator.IN_NETWORK:
                lengths = {value.partition("/")[2] for value in values}
                return texts * (0.3 + 0.07 * len(lengths))
            case Operator.EQ:
                return texts * 0.06
            case Operator.SEMVER_EQ:
                return 4 + texts * 0.06
            case Operator.GT | Operator.GTE | Operator.LT | Operator.LTE | Operator.BEFORE | Operator.AFTER:
                return 0.6
            case Operator.SEMVER_GT | Operator.SEMVER_GTE | Operator.SEMVER_LT | Operator.SEMVER_LTE:
                return 4 if "-" in values[0] else 0.6  # only pre-releases are compared identifier by identifier


def _search(values: Sequence[str], texts: int, long: int) -> float:
    """Return the cost of looking for values inside texts."""
    if len(values) > _FEW_CONTAINED:
        return long * 700
    return texts * 0.25 + sum(texts * 0.05 + long * min(3 + 0.15 * len(value), 45) for value in values)


def _form(condition: Condition) -> tuple[str, bool]:
    """The form in which an attribute is read, and whether it is in lower case."""
    value_type = VALUE_TYPES[condition.operator]
    if condition.operator is Operator.MATCHES:
        return "searched", False
    ignores_case = condition.case_insensitive or condition.attribute in _IGNORING_CASE
    return value_type, value_type is ValueType.TEXT and ignores_case


def compute_work(
    instructions: CountInstructions, rules: Iterable[Rule], segments: Iterable[Segment], prerequisites: int = 0
) -> Work:
    """The worst cost of rules and of the segments that they name."""
    by_key = {segment.key: segment for segment in segments}
    work = Work(instructions)
    work.add_prerequisites(prerequisites)
    for rule in rules:
        work.add_rule(rule)
        work.add_conditions(rule.conditions)
        if rule.rule_type is RuleType.SEGMENT and rule.rule_value in by_key:
            work.add_segment(by_key[rule.rule_value])
    return work
