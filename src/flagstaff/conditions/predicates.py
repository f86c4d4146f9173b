"""Predicates: conditions that must all hold, decided for all rules of an environment at once.

Each predicate is a bit. For each attribute, a value determines which predicates it does not contradict, as an integer
of their bits; the intersection over all attributes holds. An evaluation takes a look-up and one operation for each
attribute, however many rules there are, once a value has been seen. For a new value, the conditions are checked.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from flagstaff.conditions.attributes import Form, Readings, read
from flagstaff.conditions.compiled_conditions import (
    CompiledCondition,
    compile_condition,
    lookup_values,
)
from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operator_functions import count_instructions
from flagstaff.conditions.operators import COMPARES_TEXT

Decide = Callable[[Readings], bool]

# For each attribute, the answers for so many values are kept, in about so many bytes.
_KEPT_VALUES, _KEPT_BYTES = 1000, 1_000_000
_KEPT_LENGTH = 100
_IGNORING_CASE = frozenset({"user_email", "email_domain"})
# Their values hardly ever repeat.
_NEVER_KEPT = frozenset({"user_id", "user_email", "current_time"})


@dataclass(frozen=True, slots=True)
class Predicate:
    """Conditions that must all hold, and the same compiled. Without conditions, it holds for everyone."""

    conditions: tuple[Condition, ...]
    compiled: tuple[CompiledCondition, ...] = field(compare=False, repr=False)


def compile_predicate(conditions: Iterable[Condition]) -> Predicate:
    """Compile conditions that `check_conditions` returned. Emails and domains are compared ignoring case."""
    compared = tuple(map(_as_compared, conditions))
    return Predicate(compared, tuple(map(compile_condition, compared)))


def instructions_of(condition: Condition) -> int:
    """The size of the program of a condition with `matches`, as it is compared."""
    case_sensitive = not _as_compared(condition).case_insensitive
    return count_instructions(condition.values[0], case_sensitive=case_sensitive)


def _as_compared(condition: Condition) -> Condition:
    ignores_case = condition.attribute in _IGNORING_CASE and condition.operator in COMPARES_TEXT
    return replace(condition, case_insensitive=True) if ignores_case else condition


@dataclass(frozen=True)
class AttributePredicates:
    """The questions that predicates ask about one attribute.

    `unasked` are the bits of the predicates that ask nothing about it. `look_ups` are the texts that predicates wait
    for, with their bits; `checks` are single conditions, and `sets` several conditions of one predicate. Look-ups and
    checks are arranged by the form in which they read the attribute.
    """

    attribute: str
    unasked: int
    look_ups: Mapping[Form, Mapping[str, int]]
    checks: Mapping[Form, Sequence[tuple[Decide, int]]] = field(compare=False, repr=False)
    sets: Sequence[tuple[Sequence[CompiledCondition], int]] = field(compare=False, repr=False)
    kept_values: int = 0
    _kept: dict[object, int] = field(default_factory=dict, compare=False, repr=False)

    def holding(self, value: object) -> int:
        """The bits of the predicates that the value does not contradict."""
        if isinstance(value, str):
            if len(value) > _KEPT_LENGTH:
                return self._check(value)
            key: object = value
        elif value is None or isinstance(value, int | float):
            key = (type(value), value)  # 1, 1.0 and True are equal, but differ as texts
        else:
            return self._check(value)
        found = self._kept.get(key)
        if found is None:
            found = self._check(value)
            if len(self._kept) >= self.kept_values:
                self._kept.clear()
            if self.kept_values:
                self._kept[key] = found
        return found

    def _check(self, value: object) -> int:
        found = self.unasked
        readings = {form: read(form, value) for form in self._forms}
        for form, bits_by_text in self.look_ups.items():
            for text in readings[form]:
                found |= bits_by_text.get(text, 0)
        for form, checks in self.checks.items():
            for decide, bit in checks:
                if decide(readings[form]):
                    found |= bit
        for conditions, bit in self.sets:
            if all(condition.decide(readings[condition.form]) for condition in conditions):
                found |= bit
        return found

    @cached_property
    def _forms(self) -> frozenset[Form]:
        """The forms in which the attribute is read."""
        asked = (condition.form for conditions, _ in self.sets for condition in conditions)
        return frozenset((*self.look_ups, *self.checks, *asked))


@dataclass(frozen=True)
class Predicates:
    """All predicates of an environment, numbered from 0; the bit of a number is `1 << number`."""

    everything: int = 0
    by_attribute: tuple[AttributePredicates, ...] = ()

    def holding(self, values: Mapping[str, object]) -> int:
        """The bits of the predicates that hold for these values of the attributes."""
        found = self.everything
        for each in self.by_attribute:
            found &= each.holding(values.get(each.attribute))
        return found

    def about(self, attributes: Collection[str]) -> "Predicates":
        """Return the questions that these predicates ask about some of the attributes."""
        return replace(self, by_attribute=tuple(each for each in self.by_attribute if each.attribute in attributes))


def assemble_predicates(predicates: Sequence[Predicate]) -> Predicates:
    """Arrange predicates by attribute."""
    everything = (1 << len(predicates)) - 1
    asked: defaultdict[str, list[_Asked]] = defaultdict(list)
    for number, predicate in enumerate(predicates):
        by_attribute: dict[str, _Asked] = {}
        for condition, compiled in zip(predicate.conditions, predicate.compiled, strict=True):
            question = by_attribute.setdefault(condition.attribute, _Asked(1 << number, []))
            question.conditions.append((condition, compiled))
        for attribute, question in by_attribute.items():
            asked[attribute].append(question)
    arranged: list[AttributePredicates] = []
    for attribute in sorted(asked):
        each = _arrange(attribute, asked[attribute], everything)
        arranged.append(each)
    return Predicates(everything, tuple(arranged))


class _Asked(NamedTuple):
    """The question that one predicate asks about an attribute."""

    bit: int
    conditions: list[tuple[Condition, CompiledCondition]]


def _arrange(attribute: str, asked: Sequence[_Asked], everything: int) -> AttributePredicates:
    unasked = everything
    look_ups: defaultdict[Form, dict[str, int]] = defaultdict(dict)
    checks: defaultdict[Form, list[tuple[Decide, int]]] = defaultdict(list)
    sets = []
    for bit, conditions in asked:
        unasked &= ~bit
        if len(conditions) > 1:
            sets.append((tuple(compiled for _, compiled in conditions), bit))
            continue
        condition, compiled = conditions[0]
        texts = lookup_values(condition)
        if texts is None:
            checks[compiled.form].append((compiled.decide, bit))
            continue
        by_text = look_ups[compiled.form]
        for text in texts:
            by_text[text] = by_text.get(text, 0) | bit
    kept = 0 if attribute in _NEVER_KEPT else min(_KEPT_VALUES, _KEPT_BYTES // (everything.bit_length() // 8 + 100))
    return AttributePredicates(attribute, unasked, dict(look_ups), dict(checks), sets, kept)
